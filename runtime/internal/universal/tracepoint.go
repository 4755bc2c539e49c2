package universal

import (
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// A Tracepoint is an event of the kernel, or of programs that write through it.
type Tracepoint struct {
	Desc *etw.EventDesc // as the kernel has it

	header bool // programs write EventHeader
	of     eventheader.Tracepoint
}

// NewTracepoint returns the tracepoint of a description.
func NewTracepoint(d *etw.EventDesc) *Tracepoint {
	p := &Tracepoint{Desc: d}
	if eventheader.Is(d.Fields) {
		p.of, p.header = eventheader.ParseName(d.Name)
	}
	return p
}

// Traced takes a sample of a tracepoint. An error is of one that a program wrote, which makes no
// sense and is delivered as the kernel has it. Turn, unless it is nil, makes the bytes of the
// kernel little-endian.
func (t *Translator) Traced(p *Tracepoint, r *perfevent.Record, turn func([]byte)) (err error) {
	t.Stats.Traced++
	if p.header && len(r.Raw) >= eventheader.CommonSize {
		var e eventheader.Event
		if e, err = t.headers.Decode(p.of, r.Raw[eventheader.CommonSize:]); err == nil {
			t.Event(e.Desc, r, &Activities{ID: e.ActivityID, Related: e.RelatedActivityID}, func(b []byte) []byte { return append(b, e.Payload...) })
			return nil
		}
		t.Stats.Garbled++
	}
	t.Event(p.Desc, r, nil, func(b []byte) []byte {
		at := len(b)
		if b = append(b, r.Raw...); turn != nil {
			turn(b[at:])
		}
		return b
	})
	return err
}
