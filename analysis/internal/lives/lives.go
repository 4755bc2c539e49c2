// Package lives tells the runtimes in a trace apart. A runtime is identified by its process
// and by the number that it has in there, but the ids of processes are used again: the owner
// of an id before a process ends is another than its later owner.
package lives

import (
	"cmp"
	"iter"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
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
type Table[T any] struct{ table }

// A Runtime is the state of one runtime.
type Runtime[T any] struct {
	life
	State T
}

// A table is the part of a [Table] that is the same for all states: code that depends on the
// type of the state is compiled for each of them.
type table struct {
	processes map[int64]*process
	last      *life
	all       []*life
	records   int
	mux       *etw.Mux
	rest      *life // of the process -1
}

// A process has the runtimes of its current life.
type process struct {
	runtimes map[uint16]*life
	last     *life // that was asked for
	life     int
}

// A life is the part of a [Runtime] that is the same for all states.
type life struct {
	Key
	Time
	started bool // its start was in the trace
	whole   any  // the Runtime that it is of
}

// newLife returns that of a new [Runtime].
func newLife[T any]() *life {
	rt := new(Runtime[T])
	rt.whole = rt
	return &rt.life
}

// runtime returns the [Runtime] of a life.
func runtime[T any](l *life) *Runtime[T] { return l.whole.(*Runtime[T]) }

// Watch registers handlers that notice when a process ends or begins. They must
// be registered before those that use the table.
func (t *Table[T]) Watch(mux *etw.Mux) {
	t.follow(mux)
	t.watch(mux, newLife[T])
}

// Follow is Watch for a table of processes, whose runtimes nobody tells apart.
func (t *Table[T]) Follow(mux *etw.Mux) { t.follow(mux) }

func (t *table) follow(mux *etw.Mux) {
	t.mux = mux
	mux.Aside(rundown.Provider.Desc.GUID)
	etw.Handle(mux, func(r *etw.Record, _ *ProcessEvent) error {
		if r.Opcode == processStop {
			t.ofProcess(r.ProcessID, func(l *life) bool { l.observe(r); return true })
		}
		if IsCut(r) {
			t.cut(r.ProcessID)
		}
		return nil
	})
}

func (t *table) watch(mux *etw.Mux, fresh func() *life) {
	etw.Handle(mux, func(r *etw.Record, e *clr.RuntimeInformationStart) error {
		l := t.at(r, e.ClrInstanceID, fresh)
		if l.started {
			t.cut(r.ProcessID)
			l = t.at(r, e.ClrInstanceID, fresh)
		}
		l.started = true
		return nil
	})
}

// cut ends the life of all runtimes of a process.
func (t *table) cut(pid int64) {
	p := t.processes[pid]
	if p == nil || p.last == nil {
		return
	}
	for _, l := range p.runtimes {
		l.over = true
	}
	t.last = nil
	p.runtimes, p.last = nil, nil
	p.life++
}

// At returns the runtime with the number clr that the record is of, and notes its
// time.
func (t *Table[T]) At(r *etw.Record, clr uint16) *Runtime[T] {
	return runtime[T](t.at(r, clr, newLife[T]))
}

func (t *table) at(r *etw.Record, clr uint16, fresh func() *life) *life {
	t.records++
	l := t.last
	if l == nil || l.PID != r.ProcessID || l.CLR != clr {
		l = t.find(r, clr, fresh)
		t.last = l
	}
	l.observe(r)
	return l
}

// Of returns the runtime that a record without a number is of: the one that the
// last record of the process was of, or else number 0.
func (t *Table[T]) Of(r *etw.Record) *Runtime[T] {
	if p := t.processes[r.ProcessID]; p != nil && p.last != nil {
		return t.At(r, p.last.CLR)
	}
	return t.At(r, 0)
}

func (t *table) find(r *etw.Record, clr uint16, fresh func() *life) *life {
	p := t.processes[r.ProcessID]
	if p != nil {
		if len(p.runtimes) >= maxSiblings && p.runtimes[clr] == nil {
			clr = restCLR
		}
		if l := p.runtimes[clr]; l != nil {
			p.last = l
			return l
		}
	}
	if len(t.all) >= maxRuntimes+t.records/recordsEach {
		return t.others(r, fresh)
	}
	if p == nil {
		p = &process{}
		if t.processes == nil {
			t.processes = map[int64]*process{}
		}
		t.processes[r.ProcessID] = p
	}
	if p.runtimes == nil {
		p.runtimes = map[uint16]*life{}
	}
	p.last = t.add(r, Key{r.ProcessID, clr, p.life}, fresh)
	p.runtimes[clr] = p.last
	return p.last
}

// add adds a runtime that begins with the record.
func (t *table) add(r *etw.Record, k Key, fresh func() *life) *life {
	l := fresh()
	l.Key = k
	l.begin(r)
	l.mux = t.mux
	t.all = append(t.all, l)
	return l
}

// others returns the runtime of all for which there is no room.
func (t *table) others(r *etw.Record, fresh func() *life) *life {
	if t.rest == nil {
		t.rest = t.add(r, Key{PID: -1, CLR: restCLR}, fresh)
	}
	return t.rest
}

// OfProcess iterates over the runtimes that a process has now.
func (t *Table[T]) OfProcess(pid int64) iter.Seq[*Runtime[T]] {
	return func(yield func(*Runtime[T]) bool) {
		t.ofProcess(pid, func(l *life) bool { return yield(runtime[T](l)) })
	}
}

func (t *table) ofProcess(pid int64, yield func(*life) bool) {
	p := t.processes[pid]
	if p == nil || p.last == nil {
		return
	}
	last := p.last
	if !yield(last) || len(p.runtimes) == 1 {
		return
	}
	for _, l := range p.runtimes {
		if l != last && !yield(l) {
			return
		}
	}
}

// All returns all runtimes, by process, life and number.
func (t *Table[T]) All() []*Runtime[T] {
	order.Stable(t.all, func(a, b *life) int { return a.Key.Compare(b.Key) })
	list := make([]*Runtime[T], len(t.all))
	for i, l := range t.all {
		list[i] = runtime[T](l)
	}
	return list
}

// An event is a generated one that says which runtime of its process it is of.
type event interface {
	etw.Described
	GetClrInstanceID() uint16
}

// On registers a handler of an event that gets the runtime that the event is of. Inlined, it
// would be compiled at each of its 120 calls.
//
//go:noinline
func On[T any, P event](t *Table[T], mux *etw.Mux, fn func(*Runtime[T], *etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		fn(t.At(r, e.GetClrInstanceID()), r, e)
		return nil
	})
}

// OnBare is On for an event without a payload, which does not say which runtime of
// its process it is of.
//
//go:noinline
func OnBare[T any, P etw.Described](t *Table[T], mux *etw.Mux, fn func(*Runtime[T], *etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		fn(t.Of(r), r, e)
		return nil
	})
}
