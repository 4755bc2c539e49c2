package testtrace

import (
	"io"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// At is a made-up event of a thread, at a time since the session began.
type At struct {
	Time            time.Duration
	Process, Thread int64
	Stack           etw.Stack
	Event           etw.Event
}

// Source returns a source of made-up events, for examples: tests have a Script.
func Source(events ...At) etw.Source {
	return &play{events, &etw.Clock{Frequency: 1e9}}
}

type play struct {
	rest  []At
	clock *etw.Clock
}

// Next returns the next event.
func (p *play) Next(r *etw.Record) error {
	if len(p.rest) == 0 {
		return io.EOF
	}
	at := p.rest[0]
	p.rest = p.rest[1:]
	next, err := record(at.Event)
	if err != nil {
		return err
	}
	*r = *next
	r.ProcessID, r.ThreadID, r.Timestamp, r.Clock, r.Stack = at.Process, at.Thread, int64(at.Time), p.clock, at.Stack
	return nil
}

// record returns the record of an event, which nobody has logged yet.
func record(e etw.Event) (*etw.Record, error) {
	p, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		return nil, err
	}
	d := e.EventDesc()
	r := &etw.Record{Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Opcode: d.Opcode, Keywords: d.Keywords,
		Kind: d.Kind, PointerSize: etw.Ptr64, Payload: p}
	if d.Kind == etw.KindClassic {
		r.Provider = d.Class
	}
	return r, nil
}
