package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newThreads returns the command that shows what threads do.
func newThreads() *cobra.Command {
	return (&question{
		name:  "threads",
		short: "Show how long threads ran, were ready to run, and waited",
		long: `Threads shows what the threads of a machine did, by the context switches that the
kernel of Windows or a recorder of Linux logged: running, ready to run while nobody
ran them, and waiting, which add up to the life of the thread from the first event
about it. Where events are missing, some of it is unknown. Where the call stacks of
waits are, etw top --of blocked shows.

EventPipe has no context switches, but samples of threads. Of these the table has
how long threads were in managed code, and in what that called, running or waiting.
Pauses for collections are apart, and so are times in which nobody looked.

The rows are threads, or processors by --by processor.`,
		example: `  etw threads machine.etl
  etw threads --sort waitingMs --top 10 machine.etl
  etw threads --by processor machine.etl
  etw threads cpu.nettrace
  etw threads --format json machine.etl | jq '.switched.runningMs'`,
		views:   []string{"thread", "processor"},
		missing: "the trace has neither context switches nor samples of threads; how to record them, etw record-help says",
		ask: func(mux *etw.Mux) answer {
			return &threadsAnswer{machine: newMachine(mux), switched: threads.New(mux), sampled: cpu.New(mux)}
		},
	}).command()
}

// A threadsResult is what JSON has: what the trace has of the two.
type threadsResult struct {
	Schema   int             `json:"schema"`
	Switched *threads.Result `json:"switched,omitempty"`
	Sampled  *cpu.Result     `json:"sampled,omitempty"`
}

type threadsAnswer struct {
	machine
	switched *threads.Analysis
	sampled  *cpu.Analysis
	res      threadsResult
}

func (a *threadsAnswer) skip(r *etw.Record) { a.sampled.Skip(r) }

func (a *threadsAnswer) take() bool {
	a.res.Schema = 1
	if s := a.switched.Result(); s.Switches > 0 {
		s.Threads = slices.DeleteFunc(s.Threads, func(t threads.Thread) bool { return !a.chosen.Has(t.PID) })
		a.res.Switched = s
	}
	if s := a.sampled.Result(); s.Samples > 0 {
		s.Threads = slices.DeleteFunc(s.Threads, func(t cpu.Thread) bool { return !a.chosen.Has(t.Process) })
		a.res.Sampled = s
	}
	return a.res.Switched != nil || a.res.Sampled != nil
}

func (a *threadsAnswer) result() any { return a.res }

func (a *threadsAnswer) warnings() []string {
	s := a.res.Switched
	if s == nil || s.Gaps == 0 {
		return nil
	}
	return []string{fmt.Sprintf("context switches are missing in %s: what threads did there is unknown, and waits may be several", count(s.Gaps, "place", "places"))}
}

func (a *threadsAnswer) totals(p *page) {
	if s := a.res.Switched; s != nil {
		p.title(count(s.Switches, "context switch", "context switches"))
		p.line("running", "%s", ms(s.RunningMS))
		if s.Readies > 0 {
			p.line("ready", "%s", ms(s.ReadyMS))
			p.line("waiting", "%s", ms(s.WaitingMS))
		} else {
			p.line("waiting", "%s, or ready to run: no event tells when a wait ended", ms(s.WaitingMS))
		}
		return
	}
	s := a.res.Sampled
	p.title(count(s.Samples, "sample", "samples") + " of threads")
	p.line("thread time", "%s, running or waiting, by samples %s apart", ms(s.TimeMS), ms(s.IntervalMS))
}

func (a *threadsAnswer) table(view string, who *names) *table {
	s := a.res.Switched
	switch {
	case view == "processor":
		return a.processors()
	case s == nil:
		return a.samples(who)
	}
	t := newTable(idColumn("pid"), label("process"), idColumn("tid"), label("name"), msColumn("lifeMs"), msColumn("runningMs"), msColumn("readyMs"), msColumn("waitingMs"),
		msColumn("openMs").forPrograms(), msColumn("unknownMs"), counted("switches"), counted("waits"), counted("preempted"), msColumn("longestMs"))
	for _, x := range s.Threads {
		t.add(unlessNegative(x.PID), who.processes[x.PID], whole(x.TID), cmp.Or(x.Name, who.threads[x.TID]), exact(x.LifeMS), exact(x.RunningMS), exact(x.ReadyMS), exact(x.WaitingMS),
			exact(x.OpenMS), exact(x.UnknownMS), whole(x.Switches), whole(x.Waits), whole(x.Preempted), exact(x.LongestMS))
	}
	return t.unlessEmpty("name", "readyMs", "unknownMs", "preempted")
}

// samples lists threads by their samples.
func (a *threadsAnswer) samples(who *names) *table {
	t := newTable(idColumn("pid"), label("process"), idColumn("tid"), label("name"), counted("samples"), msColumn("managedMs"), msColumn("externalMs"), msColumn("pauseMs"), msColumn("unsampledMs"))
	if a.res.Sampled == nil {
		return t
	}
	for _, x := range a.res.Sampled.Threads {
		t.add(unlessNegative(x.Process), who.processes[x.Process], whole(x.Thread), who.threads[x.Thread], whole(x.Samples), exact(x.ManagedMS), exact(x.TimeMS-x.ManagedMS),
			exact(x.PauseMS), exact(x.UnsampledMS))
	}
	return t.unlessEmpty("name")
}

// processors lists what processors did.
func (a *threadsAnswer) processors() *table {
	t := newTable(idColumn("processor"), msColumn("spanMs"), msColumn("busyMs"), msColumn("idleMs"), msColumn("unknownMs"), measured("busyPercent", 1))
	if a.res.Switched == nil {
		return t
	}
	for _, x := range a.res.Switched.Processors {
		busy := ""
		if x.SpanMS > 0 {
			busy = exact(100 * x.BusyMS / x.SpanMS)
		}
		t.add(whole(x.Number), exact(x.SpanMS), exact(x.BusyMS), exact(x.IdleMS), exact(x.UnknownMS), busy)
	}
	return t
}
