package provider

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Sink takes records, such as a writer of files. A record, with the memory that it
// points to, is valid until Write returns. A [Local] calls it for one record at a time.
type Sink interface {
	Write(r *etw.Record) error
}

// A Local is a session in this process: it stands in for ETW where there is none, and in
// tests. Providers that are made with [To] register with it. It enables them, and hands
// their events to its sink, with the time, in their order.
//
// Records say which process they are of, but neither thread nor processor: a goroutine
// has none that would mean anything.
type Local struct {
	sink  Sink
	start time.Time
	clock etw.Clock

	changes sync.Mutex // held while providers are told of a change
	all     bool       // everything is enabled
	wants   map[etw.GUID]Control
	members []*Provider

	mu      sync.Mutex // held while a record is written
	record  etw.Record
	items   [2]etw.ExtendedItem
	payload []byte
}

// NewLocal returns a session that hands records to sink. It enables the events that
// enablements list, such as those of [etw.Mux.Enablement]; without any it enables
// everything.
func NewLocal(sink Sink, enablements ...etw.Enable) *Local {
	now := time.Now()
	l := &Local{
		sink: sink, start: now, clock: etw.Clock{Start: etw.FileTimeOf(now), Frequency: 1e9},
		all: len(enablements) == 0, wants: make(map[etw.GUID]Control),
	}
	for _, e := range enablements {
		l.wants[e.Provider.GUID] = Control{Code: Enable, Level: e.Level, Any: e.Keywords}
	}
	return l
}

// Clock returns the clock of the session's records, which a writer of files may want to
// know before it has any.
func (l *Local) Clock() *etw.Clock { return &l.clock }

// Control enables or disables a provider, or has it capture its state, as a session of
// ETW does. It may come before the provider registers, which then gets the last
// enablement. An OnControl function must not call it.
func (l *Local) Control(id etw.GUID, c Control) {
	l.changes.Lock()
	defer l.changes.Unlock()
	if c.Code != CaptureState {
		l.wants[id] = c
	}
	for _, p := range l.members {
		if p.desc.GUID == id {
			p.changed(c)
		}
	}
}

// register is the work of [Provider.Register].
func (l *Local) register(p *Provider) error {
	l.changes.Lock()
	defer l.changes.Unlock()
	l.members = append(l.members, p)
	c, ok := l.wants[p.desc.GUID]
	if !ok && l.all {
		c = Control{Code: Enable, Level: 255, Any: ^uint64(0)}
	}
	if c.Code == Enable {
		p.changed(c)
	}
	return nil
}

func (l *Local) unregister(p *Provider) error {
	l.changes.Lock()
	defer l.changes.Unlock()
	l.members = slices.DeleteFunc(l.members, func(q *Provider) bool { return q == p })
	return nil
}

// maxPayload is the largest payload that fits the header's number for it, with the
// header itself.
const maxPayload = 0xffff - 80

func (l *Local) write(p *Provider, f *frame) error {
	if f.size() > maxPayload {
		return p.large(f)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.record
	d := f.event
	k := d.Key()
	*r = etw.Record{
		Provider: p.desc.GUID, Kind: d.Kind, ID: d.ID, Version: d.Version, Channel: d.Channel, Level: d.Level,
		Opcode: d.Opcode, Task: d.Task, Keywords: f.descriptor.keywords,
		PointerSize: native, Processor: -1, ProcessID: int64(processID), ThreadID: -1,
		Timestamp: int64(time.Since(l.start)), Clock: &l.clock,
		ActivityID: f.activity.ID, RelatedActivityID: f.activity.Related,
		ProviderName: p.desc.Name, Schema: d,
	}
	if d.Kind == etw.KindClassic {
		r.Provider, r.ID, r.Keywords = k.Provider, 0, 0
		r.ActivityID, r.RelatedActivityID = etw.GUID{}, etw.GUID{}
	}
	if f.metadata != nil {
		l.items = [2]etw.ExtendedItem{{Type: etw.ExtSchema, Data: f.metadata}, {Type: etw.ExtProviderTraits, Data: p.traits}}
		r.Extended = l.items[:]
	}
	parts := f.payload()
	if len(parts) == 1 {
		r.Payload = parts[0].bytes()
	} else {
		l.payload = l.payload[:0]
		for i := range parts {
			l.payload = append(l.payload, parts[i].bytes()...)
		}
		r.Payload = l.payload
	}
	return l.sink.Write(r)
}

// processID is that of this program.
var processID = os.Getpid()
