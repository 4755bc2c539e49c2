package activities

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// isRest reports whether a record is of a recorder of Linux that tells of a rest of a thread.
func isRest(r *etw.Record) bool {
	return r.Schema != nil && r.Schema.Name == "cswitch" && r.ProviderName == "Universal.Events"
}

// followRest takes that a thread goes off its processor, and for how long. That is
// told when it begins. Whether the thread waits, or another one has the processor, its call
// stack tells, which is where it stopped; without one it waits.
func (a *Analysis) followRest(r *etw.Record) {
	rt := a.processes.At(r, 0)
	t := rt.State.threads[r.ThreadID]
	ns, n := binary.Uvarint(r.Payload)
	if t == nil || t.cur == nil || n <= 0 || ns > uint64(maxRest) {
		return
	}
	s := state{from: rt.Now, to: rt.Now + rt.Ticks(time.Duration(ns)), kind: Blocked}
	if s.code = a.code(r, true); s.code != 0 {
		s.kind = Ready
	}
	t.spent(s)
}

// maxRest bounds how long a thread rests.
const maxRest = 24 * time.Hour
