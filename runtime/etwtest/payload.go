package etwtest

import (
	"github.com/etwgen/etwgen/internal/payload"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Payload returns a payload of the event that d describes, with pointers of size
// ptr. The same seed gives the same payload. Values are arbitrary, but for
// counts and lengths, which are small and right; seed 0 has all of them 0. The
// description is one that a manifest can have.
func Payload(d *etw.EventDesc, ptr etw.PtrSize, seed uint64) []byte {
	return payload.Random(d, ptr, seed)
}

// takesRest reports whether a field takes the rest of the payload or depends on
// it, so that less of a payload may be a payload, too.
func takesRest(fields []etw.FieldDesc) bool {
	for i := range fields {
		d := &fields[i]
		if d.Count.Kind == etw.SizeRest || d.Length.Kind == etw.SizeRest || d.When.Left > 0 || takesRest(d.Fields) {
			return true
		}
	}
	return false
}
