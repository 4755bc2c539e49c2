// Package lives tells the runtimes in a trace apart. A runtime is identified by its process
// and by the number that it has in there, but the ids of processes are used again: the owner
// of an id before a process ends is another than its later owner.
package lives

import (
	"cmp"
	"iter"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Key identifies a runtime in a trace.
type Key struct {
	PID  int64  // -1 is all for which there is no room: see maxRuntimes
	CLR  uint16 // the ClrInstanceID, 0 where events carry none
	Life int    // 0 for the first process with this PID, 1 for the second, ...
}

// Compare orders keys by process, life and number of the runtime.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.PID, l.PID), cmp.Compare(k.Life, l.Life), cmp.Compare(k.CLR, l.CLR))
}

// A trace may claim any number of processes and runtimes, and each takes memory in each
// analysis. A process has at most maxSiblings at once; events that claim to be of others are
// of one with the number restCLR. All in all there are at most maxRuntimes, and one more for
// every recordsEach records; events of others are of one of the process -1.
const (
	maxSiblings = 16
	restCLR     = 1<<16 - 1
	maxRuntimes = 4096
	recordsEach = 16
)

// A Table holds the state of each runtime in an analysis. The zero Table is ready for use.
type Table[T any] struct {
	processes map[int64]*process[T]
	last      *Runtime[T]
	all       []*Runtime[T]
	records   int
	rest      *Runtime[T] // of the process -1
}

// A process has the runtimes of its current life.
type process[T any] struct {
	runtimes map[uint16]*Runtime[T]
	last     *Runtime[T] // that was asked for
	life     int
}

// A Runtime is the state of one runtime.
type Runtime[T any] struct {
	Key
	Time
	State   T
	started bool // its start was in the trace
}

// Watch registers handlers that notice when a process ends or begins. They must
// be registered before those that use the table.
func (t *Table[T]) Watch(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, _ *ProcessEvent) error {
		if IsCut(r) {
			t.cut(r.ProcessID)
		}
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *clr.RuntimeInformationStart) error {
		rt := t.At(r, e.ClrInstanceID)
		if rt.started {
			t.cut(r.ProcessID)
			rt = t.At(r, e.ClrInstanceID)
		}
		rt.started = true
		return nil
	})
}

// cut ends the life of all runtimes of a process.
func (t *Table[T]) cut(pid int64) {
	p := t.processes[pid]
	if p == nil || p.last == nil {
		return
	}
	t.last = nil
	p.runtimes, p.last = nil, nil
	p.life++
}

// At returns the runtime with the number clr that the record is of, and notes its
// time.
func (t *Table[T]) At(r *etw.Record, clr uint16) *Runtime[T] {
	t.records++
	rt := t.last
	if rt == nil || rt.PID != r.ProcessID || rt.CLR != clr {
		rt = t.find(r, clr)
		t.last = rt
	}
	rt.observe(r)
	return rt
}

// Of returns the runtime that a record without a number is of: the one that the
// last record of the process was of, or else number 0.
func (t *Table[T]) Of(r *etw.Record) *Runtime[T] {
	if p := t.processes[r.ProcessID]; p != nil && p.last != nil {
		return t.At(r, p.last.CLR)
	}
	return t.At(r, 0)
}

func (t *Table[T]) find(r *etw.Record, clr uint16) *Runtime[T] {
	p := t.processes[r.ProcessID]
	if p != nil {
		if len(p.runtimes) >= maxSiblings && p.runtimes[clr] == nil {
			clr = restCLR
		}
		if rt := p.runtimes[clr]; rt != nil {
			p.last = rt
			return rt
		}
	}
	if len(t.all) >= maxRuntimes+t.records/recordsEach {
		return t.others(r)
	}
	if p == nil {
		p = &process[T]{}
		if t.processes == nil {
			t.processes = make(map[int64]*process[T])
		}
		t.processes[r.ProcessID] = p
	}
	if p.runtimes == nil {
		p.runtimes = make(map[uint16]*Runtime[T])
	}
	p.last = t.add(r, Key{r.ProcessID, clr, p.life})
	p.runtimes[clr] = p.last
	return p.last
}

// add adds a runtime that begins with the record.
func (t *Table[T]) add(r *etw.Record, k Key) *Runtime[T] {
	rt := &Runtime[T]{Key: k}
	rt.begin(r)
	t.all = append(t.all, rt)
	return rt
}

// others returns the runtime of all for which there is no room.
func (t *Table[T]) others(r *etw.Record) *Runtime[T] {
	if t.rest == nil {
		t.rest = t.add(r, Key{PID: -1, CLR: restCLR})
	}
	return t.rest
}

// OfProcess iterates over the runtimes that a process has now.
func (t *Table[T]) OfProcess(pid int64) iter.Seq[*Runtime[T]] {
	return func(yield func(*Runtime[T]) bool) {
		p := t.processes[pid]
		if p == nil || p.last == nil {
			return
		}
		last := p.last
		if !yield(last) || len(p.runtimes) == 1 {
			return
		}
		for _, rt := range p.runtimes {
			if rt != last && !yield(rt) {
				return
			}
		}
	}
}

// All returns all runtimes, by process, life and number.
func (t *Table[T]) All() []*Runtime[T] {
	order.Stable(t.all, func(a, b *Runtime[T]) int { return a.Key.Compare(b.Key) })
	return t.all
}

// An event is a generated one that says which runtime of its process it is of.
type event interface {
	etw.Described
	GetClrInstanceID() uint16
}

// On registers a handler of an event that gets the runtime that the event is of.
func On[T any, P event](t *Table[T], mux *etw.Mux, fn func(*Runtime[T], *etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		fn(t.At(r, e.GetClrInstanceID()), r, e)
		return nil
	})
}

// OnBare is On for an event without a payload, which does not say which runtime of
// its process it is of.
func OnBare[T any, P etw.Described](t *Table[T], mux *etw.Mux, fn func(*Runtime[T], *etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		fn(t.Of(r), r, e)
		return nil
	})
}
