package profiling

import (
	"context"
	"slices"
	"sync"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A happening is a kind of profiles that is made of events.
type happening struct {
	kind  string
	event []etw.Key // of the events that samples are of
	needs func(version int) []need.Need
	// start returns the source of the samples, and how many of them are of things that go on.
	start func(*etw.Mux) (samples func() []*stacks.Samples, open func() int)
}

func none() int { return 0 }

var happenings = []happening{
	{
		kind:  Allocs,
		event: []etw.Key{keyOf(&clr.GCAllocationTick{}), keyOf(&clr.AllocationSampled{})},
		needs: func(version int) []need.Need {
			if version >= 10 { // which are without bias, and cheaper
				return alloc.NeedsSampled
			}
			return alloc.Needs
		},
		start: func(m *etw.Mux) (func() []*stacks.Samples, func() int) { return alloc.New(m).Samples, none },
	},
	{
		kind:  Exceptions,
		event: []etw.Key{keyOf(&clr.ExceptionThrown{})},
		needs: func(int) []need.Need { return exceptions.Needs },
		start: func(m *etw.Mux) (func() []*stacks.Samples, func() int) { return exceptions.New(m).Samples, none },
	},
	{
		kind:  Contention,
		event: []etw.Key{keyOf(&clr.ContentionStart{})},
		needs: func(int) []need.Need { return contention.Needs },
		start: func(m *etw.Mux) (func() []*stacks.Samples, func() int) {
			a := contention.New(m)
			return a.Samples, func() (n int) {
				for _, rt := range a.Result().Runtimes {
					n += rt.Open
				}
				return n
			}
		},
	},
}

type described interface{ EventDesc() *etw.EventDesc }

func keyOf(e described) etw.Key {
	d := e.EventDesc()
	return etw.Key{Provider: d.Provider.GUID, ID: d.ID}
}

// A counted is the count of a happening in an interval.
type counted struct {
	*happening
	samples func() []*stacks.Samples
	open    func() int
	events  int
	dropped int64 // beyond the limit
	off     bool  // for the rest of the process's life, since there are too many
}

// events follow the happenings in a process.
type events struct {
	flow *flow
	o    *Options

	mu    sync.Mutex
	mux   *etw.Mux
	kinds []counted
}

func newEvents(o *Options) *events {
	e := &events{o: o}
	for i := range happenings {
		if slices.Contains(o.Kinds, happenings[i].kind) {
			e.kinds = append(e.kinds, counted{happening: &happenings[i]})
		}
	}
	e.begin()
	return e
}

// begin begins an interval.
func (e *events) begin() {
	e.mux = new(etw.Mux)
	for i := range e.kinds {
		k := &e.kinds[i]
		k.samples, k.open = k.start(e.mux)
		k.events, k.dropped = 0, 0
	}
}

// follow starts the session, unless there is nothing to follow.
func (e *events) follow(ctx context.Context, p *Process) (err error) {
	var list []eventpipe.Provider
	for i := range e.kinds {
		if !e.kinds[i].off {
			list = append(list, providers(e.kinds[i].needs(p.Version))...)
		}
	}
	e.flow = nil
	if len(list) > 0 {
		e.flow, err = follow(ctx, p.Client, eventpipe.Config{BufferMB: e.o.BufferMB, Providers: eventpipe.Merge(list)}, e.take)
	}
	return err
}

// take takes an event, unless there were too many of its kind.
func (e *events) take(r *etw.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := etw.Key{Provider: r.Provider, ID: r.ID}
	for i := range e.kinds {
		k := &e.kinds[i]
		if !slices.Contains(k.event, key) {
			continue
		}
		if k.events++; k.events > e.o.limit() {
			k.dropped++
			return nil
		}
	}
	return e.mux.Dispatch(r)
}

// limit returns how many events of a kind an interval may have.
func (o *Options) limit() int {
	if o.MaxEvents <= 0 {
		return maxSamples
	}
	return min(max(int(float64(o.MaxEvents)*o.Interval.Seconds()), 1), maxSamples)
}

// swap ends an interval and begins the next one. It returns the samples, and the kinds that
// are too frequent to be followed any longer.
func (e *events) swap(x *Interval) (list []taken, tooMany []string) {
	e.mu.Lock()
	of := slices.Clone(e.kinds)
	for i := range e.kinds {
		if k := &e.kinds[i]; k.dropped > 0 && !k.off {
			k.off = true
			tooMany = append(tooMany, k.kind)
		}
	}
	e.begin()
	e.mu.Unlock()
	for i := range of {
		k := &of[i]
		x.Dropped += k.dropped
		x.Open += int64(k.open())
		if samples := k.samples(); len(samples) > 0 {
			list = append(list, taken{k.kind, samples, 0})
		}
	}
	return list, tooMany
}
