package ask

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewThreads returns the command that shows the time of threads.
func NewThreads() *Question {
	return &Question{
		name:  "threads",
		short: "Show how long threads ran, were ready to run, and waited",
		Long: `Threads shows the time of the threads of a machine, by the context switches that the
kernel of Windows or a recorder of Linux logged: running, ready to run while nobody
ran them, and waiting, which add up to the life of the thread from the first event
about it. Where events are missing, some of it is unknown. With --from and --to the
parts within count. A wait that is not over at the end, such as that of a program that
hangs, is a wait as others, and OPEN MS has it. Where the call stacks of waits are,
etw top --of blocked shows.

EventPipe has no context switches, but samples of threads. Of these the table has
how long threads were in managed code, and in code below it, running or waiting.
Pauses for collections are apart, and so are times in which nobody looked.

The rows are threads, or processors by --by processor. By --by switch they are the times
at which threads came to a processor: how long each had waited, for what, who ended that,
how long it was ready, and how long it ran then. Those that never came are last. By --by interrupt they are the drivers
whose interrupts and DPCs kept processors from threads, by --by routine their routines,
with the time that is their own; these two are not yet seen on a real recording.`,
		example: `  etw threads machine.etl
  etw threads --sort waitingMs --top 10 machine.etl
  etw threads --by processor machine.etl
  etw threads --by switch --sort readyMs --top 10 machine.etl
  etw threads --by interrupt machine.etl
  etw threads cpu.nettrace
  etw threads --format json machine.etl | jq '.switched.runningMs'`,
		next:      []show.Suggestion{show.Next("etw top", "on which code the time went"), show.Next("etw top --of blocked", "where threads wait")},
		views:     viewsOf(new(threadsResult)),
		Needs:     slices.Concat(threads.Needs, cpu.Needs, interrupts.Needs),
		missing:   "the trace has neither context switches nor samples of threads by EventPipe; context switches are recorded by " + need.Switches.Recorder,
		sampled:   "the trace has no context switches, but samples of processors, by which etw top --by thread has how long threads ran; context switches are recorded by " + need.Switches.Recorder,
		threaded:  "only",
		clips:     true,
		everyones: []string{"processor", "interrupt", "routine"},
		viewNeeds: map[string][]need.Need{"interrupt": interrupts.Needs, "routine": interrupts.Needs},
		ask:       func(mux *etw.Mux) answer { return newThreadsAnswer(mux) },
	}
}

// A threadsResult is the JSON: those of the two that the trace has.
type threadsResult struct {
	Schema   int             `json:"schema"`
	Switched *threads.Result `json:"switched,omitempty"`
	Sampled  *cpu.Result     `json:"sampled,omitempty"`
	// Interrupts are of all processes.
	Interrupts *interrupts.Result `json:"interrupts,omitempty"`

	switches []threads.Switch
	partial  bool  // others have few switches
	readies  bool  // events tell who ended waits
	interval int64 // between samples, in nanoseconds, 0 if that is not known
}

// Tables returns the tables: those that the trace has, and those of processors.
func (r *threadsResult) Tables() []views.View {
	list := cmp.Or(r.Switched, new(threads.Result)).Tables()
	if r.Switched == nil {
		list = append(cmp.Or(r.Sampled, new(cpu.Result)).Tables(), list[1:]...)
	}
	list = append(list, threads.SwitchView(r.switches))
	return append(list, cmp.Or(r.Interrupts, new(interrupts.Result)).Tables()...)
}

// Warnings says which numbers mislead, and why.
func (r *threadsResult) Warnings() []string {
	list := missingSwitches(r.Switched, r.partial)
	if s := r.Sampled; s != nil && s.Samples >= enoughSamples && s.Managed*fewManaged < s.Samples {
		list = append(list, fmt.Sprintf("the runtime calls %d of %d samples managed: some, that of .NET 9 among them, hardly call any so, whatever threads do, and then managedMs says nothing; etw top and etw timeline know by the stacks of threads that do not wait", s.Managed, s.Samples))
	}
	if s := r.Switched; s != nil && s.Samples > 0 && r.interval > 0 {
		sampled := float64(s.Samples*r.interval) / 1e6
		by := slack * float64(len(s.Threads))
		switch {
		case s.RunningMS > sampled*(1+chance)+by:
			list = append(list, fmt.Sprintf("by samples threads ran for %s, not %s: the recorder does not tell all times off processors, so that running is at most as long as shown here, and waiting at least", show.MS(sampled), show.MS(s.RunningMS)))
		case sampled > s.RunningMS*(1+chance)+by:
			list = append(list, fmt.Sprintf("by samples threads ran for %s, not %s: the recorder times no thread while the kernel switches, some 10 us each time, and of %s that adds up: samples have it", show.MS(sampled), show.MS(s.RunningMS), show.Count(int64(s.Switches), "switch", "switches")))
		}
	}
	return list
}

// The tolerance between samples and context switches: a share of the time, and milliseconds
// of each thread.
const (
	chance = 0.1
	slack  = 2
)

// So many samples of which less than one of so many is managed may be of a runtime that does not
// tell.
const (
	enoughSamples = 500
	fewManaged    = 200
)

// missingSwitches says that context switches are missing, if some are.
func missingSwitches(s *threads.Result, partial bool) []string {
	if s == nil {
		return nil
	}
	var list []string
	if s.DarkMS > 0 {
		list = append(list, s.Dark())
	}
	switch {
	case s.Gaps > 0 && partial:
		list = append(list, "the trace has the context switches of one part of the processes or threads: whether some are missing is not known")
	case s.Gaps > 0:
		list = append(list, fmt.Sprintf("context switches are missing in %s: the state of threads there is unknown, and waits may be several", show.Count(s.Gaps, "place", "places")))
	}
	if s.Folded > 0 {
		list = append(list, fmt.Sprintf("the trace has more context switches than there is room for: %s off processors, none longer than %s, are summed up by thread, without stacks and as no switches of their own", show.Count(int64(s.Folded), "time", "times"), show.MS(s.FoldedMS)))
	}
	if s.Strays > 0 {
		list = append(list, fmt.Sprintf("the thread of %s is not known: they are in no figure", show.Count(s.Strays, "context switch", "context switches")))
	}
	return list
}

type threadsAnswer struct {
	machine
	viewed[*threadsResult]
	switched *threads.Analysis
	sampled  *cpu.Analysis
	breaks   *interrupts.Analysis
	interval int64
}

func newThreadsAnswer(mux *etw.Mux) *threadsAnswer {
	a := &threadsAnswer{machine: newMachine(mux), switched: threads.New(mux), sampled: cpu.New(mux), breaks: interrupts.New(mux)}
	a.facts, a.find = threadTotals, a.threads
	a.any = func(res *threadsResult) bool {
		return res.Interrupts != nil || res.Switched != nil && len(res.Switched.Threads) > 0 || res.Sampled != nil && len(res.Sampled.Threads) > 0
	}
	return a
}

func (a *threadsAnswer) samplesEach(ns int64) { a.interval = ns }

func (a *threadsAnswer) skip(r *etw.Record) { a.sampled.Skip(r) }

func (a *threadsAnswer) threads() *threadsResult {
	res := &threadsResult{Schema: 1, interval: a.interval, partial: a.asked.Partial}
	any, readies := a.switched.Any()
	if s := a.switched.Result(); any {
		if a.parted() {
			s.Keep(func(t *threads.Thread) bool { return a.has(t.PID, t.Process, t.TID) })
		}
		res.Switched, res.readies = s, readies
		res.switches = a.switched.Switches(func(t *system.Thread) bool {
			pid, tid := t.IDs()
			return a.has(pid, t.Program(), tid)
		})
	}
	if s := a.sampled.Result(); s.Samples > 0 {
		if a.parted() {
			s.Keep(a.hasNumbers)
		}
		res.Sampled = s
	}
	if s := a.breaks.Result(); s.Count > 0 && !a.parted() { // which are of no thread
		res.Interrupts = s
	}
	return res
}

func threadTotals(p *page, res *threadsResult) {
	if s := res.Interrupts; s != nil {
		p.title(show.Count(s.Count, "interrupt routine or DPC", "interrupt routines and DPCs"))
		p.line("took", "%s of processors, the longest %.1f µs; %d took more than 512 µs", show.MS(s.OwnMS), s.LongestUS, s.Over512US)
		if res.Switched == nil && res.Sampled == nil {
			return
		}
	}
	if s := res.Switched; s != nil {
		p.title(show.Count(int64(s.Switches), "context switch", "context switches"))
		p.line("running", "%s", show.MS(s.RunningMS))
		if res.readies {
			p.line("ready", "%s", show.MS(s.ReadyMS))
			p.line("waiting", "%s", show.MS(s.WaitingMS))
		} else {
			p.line("waiting", "%s, or ready to run: no event tells when a wait ended", show.MS(s.WaitingMS))
		}
		return
	}
	s := res.Sampled
	p.title(show.Count(s.Samples, "sample", "samples") + " of threads")
	p.line("thread time", "%s, running or waiting, by samples %s apart", show.MS(s.TimeMS), show.MS(s.IntervalMS))
}
