// Package asyncs answers which async methods of a .NET program ran, how long, and how long they
// awaited, by the events that the runtime itself writes of them from .NET 11 on. There the runtime can make
// async methods without state machines, which write no events of tasks, and threads have only
// the innermost method on their stacks; the others, which await it, are told here, too. Use it to
// ask which methods await, and to give call stacks their callers; package requests has names for
// the methods.
//
// The source of these events, [Provider], writes them in buffers of threads, up to seconds after
// they happened. All times here are those of the events themselves.
package asyncs

import (
	"errors"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Provider is the source of the events.
const Provider = "System.Runtime.CompilerServices.AsyncProfilerEventSource"

// Needs are the events to record. Runtimes before .NET 11 do not have them.
var Needs = []need.Need{{What: "async methods", Provider: Provider, Keywords: 0x2fe5f, Names: "contexts, callstacks at resume, methods that complete", Level: etw.LevelInformational}}

// An Analysis follows async methods in the records that a [etw.Mux] dispatches.
type Analysis struct {
	processes lives.Table[process]
	ran       func(pid int64, r Run)
}

type runtime = lives.Runtime[process]

// A process is the state of one.
type process struct {
	decoder
	Runtime // as far as it is counted on the way
	threads map[uint64]*thread
	traces  map[[16]byte]struct{}
	tasks   map[uint64]*task
	over    []uint64 // tasks, the one that was over first first
	methods map[uint64]*method
	ran     int64     // ticks, of threads
	clock   etw.Clock // of the events in buffers, if the runtime has told of it
}

// Of returns the analysis that all users of a mux share.
func Of(mux *etw.Mux) *Analysis { return etw.Shared(mux, New) }

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a, w := &Analysis{}, window.Of(mux)
	a.processes.Watch(mux)
	mux.HandleRest(func(r *etw.Record) error {
		if r.ProviderName == Provider && r.ID == 1 && w.HasRecord(r) {
			a.take(a.processes.At(r, 0), r, r.Payload)
		}
		return nil
	})
	return a
}

// OnRun has do called for each time in which a thread went on with a task, when its end is
// read. Those of a thread come in the order of their ends.
func (a *Analysis) OnRun(do func(pid int64, r Run)) { a.ran = do }

// A Run is a time in which a thread went on with a task. Times are since the session began.
type Run struct {
	Thread   int64
	From, To time.Duration
	Task     uint64
	Depth    int // how many runs it is in, on the thread
	// Frames are places in methods that await each other, as return addresses are, the innermost
	// first. The first len(Over) of them were over at the times of Over.
	Frames []uint64
	Over   []time.Duration
	Trace  [16]byte // that the thread worked for at its end, where the trace tells; else zeros
}

// take takes a buffer.
func (a *Analysis) take(rt *runtime, r *etw.Record, payload []byte) {
	p := &rt.State
	if p.threads == nil {
		p.widths, p.threads = newWidths(), make(map[uint64]*thread)
		p.traces, p.tasks, p.methods = make(map[[16]byte]struct{}), make(map[uint64]*task), make(map[uint64]*method)
	}
	list, h, err := p.read(payload)
	var newer unknownError
	switch {
	case errors.As(err, &newer):
		p.Unknown++
		p.Version, p.Event = newer.version, newer.event
		return
	case err != nil:
		p.Damaged++
		return
	}
	p.Buffers++
	p.Events += int(h.count)
	t := p.threads[h.thread]
	if t == nil {
		if len(p.threads) >= maxThreads {
			return
		}
		t = &thread{id: int64(h.thread)}
		p.threads[h.thread] = t
	}
	for i := range list {
		a.follow(rt, r, t, &list[i])
	}
}

// elapsed returns how long after the begin of the session a time in a buffer was. It is of the
// clock of the trace, unless that record cannot have been written then.
func (p *process) elapsed(r *etw.Record, ticks int64) time.Duration {
	if r.Clock == nil {
		return 0
	}
	if p.clock.Frequency > 0 && (p.clock.Frequency != r.Clock.Frequency || ticks > r.Timestamp || r.Timestamp-ticks > p.clock.Frequency*longest) {
		ticks = r.Clock.Convert(ticks, &p.clock)
	}
	return r.Clock.Elapsed(ticks)
}

// longest is for how many seconds a buffer is kept back at most.
const longest = 3600
