// Package interrupts answers which drivers keep processors from all threads: by their
// interrupt service routines, and by the deferred procedure calls (DPC) that these leave for
// later. Use it where sound stutters, input lags, or no thread explains the load. Of a
// [window.Window] a routine counts with its part within.
//
// The kernel of Windows logs a routine when it is over, with the time at which it began (flags
// INTERRUPT and DPC). Routines that interrupted it meanwhile on the same processor are no time of its own.
package interrupts

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Needs are the routines, and the images that they are in.
var Needs = []need.Need{{What: "interrupts", Recorder: "wpr -start GeneralProfile, or xperf -on PROC_THREAD+LOADER+INTERRUPT+DPC", Kernel: [3]need.Events{
	{Provider: perfInfo, First: 66, Last: 69}, {Provider: perfInfo, First: 50, Last: 50},
}}}

// The kinds of routines.
const (
	ISR         = "ISR"
	DPC         = "DPC"
	TimerDPC    = "timer DPC"
	ThreadedDPC = "threaded DPC"
)

// An Analysis adds up routines in the records that a [etw.Mux] dispatches.
type Analysis struct {
	machine    *system.Machine
	window     *window.Window
	routines   map[key]*sums
	order      []*sums
	processors map[int32][]interval
	unfit      int
}

type key struct {
	kind    string
	routine uint64
}

// An interval is a routine that is over, in ticks of the trace.
type interval struct{ from, till int64 }

type sums struct {
	key
	last int64
	Times
}

// maxOver bounds how many routines may be within another one.
const maxOver = 1 << 12

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{machine: system.Of(mux), window: window.Of(mux), routines: make(map[key]*sums), processors: make(map[int32][]interval)}
	mux.HandleRest(a.record)
	return a
}

// class is that of the events, and kinds are those of their opcodes.
var (
	class = etw.MustParseGUID(perfInfo)
	kinds = [...]string{50: ISR, 66: ThreadedDPC, 67: ISR, 68: DPC, 69: TimerDPC}
)

const perfInfo = "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"

// record takes a record. All of these events begin alike, with the time and the routine; their
// generated types would be 40 kB of a program.
func (a *Analysis) record(r *etw.Record) error {
	if r.Kind != etw.KindClassic || r.Provider != class || int(r.Opcode) >= len(kinds) || kinds[r.Opcode] == "" {
		return nil
	}
	c := etw.NewCursor(r.Payload, 0, r.PointerSize)
	begun, routine := c.Uint64(), c.Pointer()
	if c.Failed() {
		a.unfit++
		return nil
	}
	return a.add(r, kinds[r.Opcode], begun, routine)
}

// add takes a routine that is over.
func (a *Analysis) add(r *etw.Record, kind string, begun uint64, routine etw.Pointer) error {
	from, till := int64(begun), r.Timestamp
	if from < 0 || from > till || r.Clock.Elapsed(from) < 0 && r.Clock.Elapsed(till)-r.Clock.Elapsed(from) > time.Minute {
		a.unfit++
		return nil
	}
	k := key{kind, uint64(routine)}
	w := a.window.Ticks(r.Clock)
	if !w.Meets(from, till) {
		return nil
	}
	from, till = w.Clip(from, till)
	s := a.routines[k]
	if s == nil {
		s = &sums{key: k}
		a.routines[k] = s
		a.order = append(a.order, s)
	}
	s.last = till
	span := func(i interval) time.Duration { return r.Clock.Elapsed(i.till) - r.Clock.Elapsed(i.from) }
	whole := interval{from, till}
	own := span(whole)
	over := a.processors[r.Processor]
	for len(over) > 0 && over[len(over)-1].from >= from { // they interrupted this one
		own -= span(over[len(over)-1])
		over = over[:len(over)-1]
	}
	if len(over) == maxOver {
		over = append(over[:0], over[maxOver/2:]...)
	}
	a.processors[r.Processor] = append(over, whole)
	s.Times.add(span(whole), max(own, 0))
	return nil
}

// Buckets is the number of those of a histogram: of less than 1 µs, 2, 4, … and of 16 ms or more.
const Buckets = 16

// Times add up routines.
type Times struct {
	Count int `json:"count"`
	// OwnMS is the time without that of routines that interrupted these; TotalMS has it.
	OwnMS     float64 `json:"ownMs"`
	TotalMS   float64 `json:"totalMs"`
	LongestUS float64 `json:"longestUs"`
	// Over128US and Over512US are how many took longer than so many microseconds: sound
	// stutters from half a millisecond on.
	Over128US int `json:"over128Us"`
	Over512US int `json:"over512Us"`
	// Histogram counts the routines by their whole time, in steps of powers of two from
	// 1 µs on.
	Histogram [Buckets]int `json:"histogram"`
}

func (t *Times) add(total, own time.Duration) {
	t.Count++
	t.OwnMS += own.Seconds() * 1e3
	t.TotalMS += total.Seconds() * 1e3
	t.LongestUS = max(t.LongestUS, total.Seconds()*1e6)
	if total > 128*time.Microsecond {
		t.Over128US++
	}
	if total > 512*time.Microsecond {
		t.Over512US++
	}
	t.Histogram[min(bits.Len64(uint64(total/time.Microsecond)), Buckets-1)]++
}

func (t *Times) sum(x *Times) {
	t.Count += x.Count
	t.OwnMS += x.OwnMS
	t.TotalMS += x.TotalMS
	t.LongestUS = max(t.LongestUS, x.LongestUS)
	t.Over128US += x.Over128US
	t.Over512US += x.Over512US
	for i, n := range x.Histogram {
		t.Histogram[i] += n
	}
}

// A Result holds the routines in a trace, those with most time first.
type Result struct {
	Schema int `json:"schema"`
	Times
	Routines []Routine `json:"routines"`
	// Unfit are events whose routine began after it ended, or long before the trace.
	Unfit int `json:"unfit,omitempty"`
}

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Routine is one routine, or all of a module.
type Routine struct {
	Kind string `json:"kind"`
	// Module is the path of the driver, "" where the trace does not tell.
	Module  string      `json:"module,omitempty"`
	Routine etw.Pointer `json:"routine"` // the address
	Times
}

// Result returns the findings so far.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Routines: []Routine{}, Unfit: a.unfit}
	for _, s := range a.order {
		x := Routine{Kind: s.kind, Routine: etw.Pointer(s.routine), Times: s.Times}
		if i := a.machine.Image(nil, s.routine, s.last); i != nil {
			x.Module = a.machine.Path(i.Path)
		}
		res.Routines = append(res.Routines, x)
		res.Times.sum(&s.Times)
	}
	sortRoutines(res.Routines)
	return res
}

func sortRoutines(list []Routine) {
	order.Stable(list, func(a, b Routine) int {
		return cmp.Or(cmp.Compare(b.OwnMS, a.OwnMS), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Routine, b.Routine))
	})
}

// modules adds up the routines of each kind of a module.
func (r *Result) modules() []Routine {
	var list []Routine
	at := make(map[[2]string]int)
	for i := range r.Routines {
		x := &r.Routines[i]
		k := [2]string{x.Kind, x.Module}
		n, ok := at[k]
		if !ok {
			n = len(list)
			at[k] = n
			list = append(list, Routine{Kind: x.Kind, Module: x.Module})
		}
		list[n].Times.sum(&x.Times)
	}
	sortRoutines(list)
	return list
}

// Tables returns the tables of a result: by module, and by routine.
func (r *Result) Tables() []table.View {
	columns := func(more ...table.Column[*Routine]) []table.Column[*Routine] {
		return append(append([]table.Column[*Routine]{
			table.Text("kind", func(x *Routine) string { return x.Kind }),
			table.Text("module", func(x *Routine) string { return x.Module }).About(),
		}, more...),
			table.Count("count", func(x *Routine) int { return x.Count }),
			table.Amount("ownMs", func(x *Routine) float64 { return x.OwnMS }),
			table.Amount("totalMs", func(x *Routine) float64 { return x.TotalMS }),
			table.Amount("longestUs", func(x *Routine) float64 { return x.LongestUS }),
			table.Count("over128Us", func(x *Routine) int { return x.Over128US }),
			table.Count("over512Us", func(x *Routine) int { return x.Over512US }))
	}
	return []table.View{
		table.Of("interrupt", "Interrupts by module", table.Refs(r.modules()), columns()...),
		table.Of("routine", "Interrupts by routine", table.Refs(r.Routines), columns(
			table.Text("routine", func(x *Routine) string { return x.Routine.String() }))...),
	}
}
