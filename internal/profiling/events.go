package profiling

import (
	"context"
	"slices"
	"sync"
	"time"

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

// A follower follows one kind of happening in a process. Each has a session of its own, so
// that one can pause without a gap in the others.
type follower struct {
	*happening
	o    *Options
	full chan<- struct{} // told when an interval has had as many events as it may

	flow        *flow // nil while it pauses
	lost, bytes int64 // of sessions that have ended
	begun       time.Time
	paused      time.Time // zero while it does not pause

	mu      sync.Mutex
	mux     *etw.Mux
	samples func() []*stacks.Samples
	open    func() int
	left    int   // of the events that the interval may have; below 1 it is to pause
	dropped int64 // for which there was no memory
}

// newFollowers returns a follower for each kind that is wanted.
func newFollowers(o *Options) (list []*follower, full <-chan struct{}) {
	c := make(chan struct{}, 1)
	for i := range happenings {
		if slices.Contains(o.Kinds, happenings[i].kind) {
			list = append(list, &follower{happening: &happenings[i], o: o, full: c})
		}
	}
	for _, f := range list {
		f.begin(o.limit(assumedBusy))
	}
	return list, c
}

// begin begins an interval that may have so many events.
func (f *follower) begin(limit int) {
	f.mux, f.left, f.dropped, f.begun = new(etw.Mux), limit, 0, time.Now()
	f.samples, f.open = f.start(f.mux)
}

// follow starts the session, unless there is one.
func (f *follower) follow(ctx context.Context, p *Process) (err error) {
	if f.flow == nil {
		f.flow, err = follow(ctx, p.Client, eventpipe.Config{BufferMB: f.o.BufferMB, Providers: eventpipe.Merge(Providers(f.needs(p.Version)))}, f.take)
		f.paused = time.Time{}
	}
	return err
}

// isOver reports whether the interval has had as many events as it may.
func (f *follower) isOver() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left <= 0 && f.flow != nil
}

// end ends the session, until the next interval. Events that had happened by then still count.
func (f *follower) end(ctx context.Context) error {
	f.paused = time.Now()
	err := f.flow.end(ctx)
	lost, bytes := f.flow.news()
	f.lost, f.bytes, f.flow = f.lost+lost, f.bytes+bytes, nil
	return err
}

// take takes an event.
func (f *follower) take(r *etw.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.event, etw.Key{Provider: r.Provider, ID: r.ID}) {
		switch f.left--; {
		case f.left == 0:
			select {
			case f.full <- struct{}{}:
			default: // it is told already
			}
		case f.left < -f.o.maxSamples():
			f.dropped++
			return nil
		}
	}
	return f.mux.Dispatch(r)
}

// swap ends an interval and begins the next one, with so many events. It returns the samples.
func (f *follower) swap(x *Interval, limit int) []*stacks.Samples {
	if !f.paused.IsZero() {
		x.Partly = append(x.Partly, Part{f.kind, max(f.paused.Sub(f.begun), 0)}) // it may pause since before
	}
	lost, bytes := f.flow.news()
	x.Lost, x.Bytes = x.Lost+lost+f.lost, x.Bytes+bytes+f.bytes
	f.lost, f.bytes = 0, 0
	f.mu.Lock()
	samples, open := f.samples, f.open
	x.Dropped += f.dropped
	f.begin(limit)
	f.mu.Unlock()
	x.Open += int64(open())
	return samples()
}
