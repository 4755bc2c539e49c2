package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/lifecycle"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newLifecycle returns the command that shows how far processes came.
func newLifecycle() *cobra.Command {
	return (&question{
		name:  "lifecycle",
		short: "Show how far processes came, and when: start, runtime, main, first request, exit",
		long: `Lifecycle shows the phases of the processes in a trace, each process below the one that
started it: when it started, when a runtime of .NET was loaded and began, when the first
managed code was compiled or looked up, when the entry point of the program was, when the
first request that it serves began, and when it ended. A phase that nothing in the trace
tells of is left out, and so are processes without any that started none with some: the kernel tells of processes and images, the runtime of its start,
with the keyword Jit (0x10) of methods, and with CompilationDiagnostic (0x2000000000) of
those that were compiled ahead of time, EventSources of requests.

The rows are processes, or by --by phase the phases with what told of them.`,
		example: `  etw lifecycle jit.nettrace
  etw lifecycle --by phase machine.etl
  etw lifecycle --process app.exe --format csv machine.etl
  etw lifecycle --format json jit.nettrace | jq '.processes[] | {pid, phases}'`,
		views:   []string{"process", "phase"},
		missing: "the trace tells of no process; how to record one that does, etw record-help wpr says",
		whole:   true,
		ask: func(mux *etw.Mux) answer {
			return &lifecycleAnswer{machine: newMachine(mux), analysis: lifecycle.New(mux)}
		},
	}).command()
}

type lifecycleAnswer struct {
	machine
	analysis *lifecycle.Analysis
	res      *lifecycle.Result
}

func (a *lifecycleAnswer) take() bool {
	a.res = a.analysis.Result()
	a.res.Processes = slices.DeleteFunc(a.res.Processes, func(p lifecycle.Process) bool { return !a.chosen.Has(p.PID) })
	return len(a.res.Processes) > 0
}

func (a *lifecycleAnswer) result() any        { return a.res }
func (a *lifecycleAnswer) warnings() []string { return a.doubts() }

func (a *lifecycleAnswer) totals(p *page) {
	all := 0
	for i := range a.res.Processes {
		all += min(len(a.res.Processes[i].Phases), 1)
	}
	p.title(count(len(a.res.Processes), "process", "processes") + ", phases are known of " + whole(all))
}

// tree returns the processes with those below them that they started, as they are called in
// the tree. Where phases are known of any, it is of those and of who started them.
func (a *lifecycleAnswer) tree() (list []*lifecycle.Process, names []string) {
	facts := make([]system.ProcessFacts, len(a.res.Processes))
	byFacts := make(map[*system.ProcessFacts]*lifecycle.Process, len(facts))
	any := false
	for i := range facts {
		p := &a.res.Processes[i]
		facts[i] = p.ProcessFacts
		byFacts[&facts[i]] = p
		any = any || len(p.Phases) > 0
	}
	deeper := -1 // of a process that is shown, whose parents come before it
	for _, n := range slices.Backward(treeOf(facts)) {
		p := byFacts[n.process]
		if any && len(p.Phases) == 0 && n.depth >= deeper {
			continue
		}
		deeper = n.depth
		list = append(list, p)
		names = append(names, strings.Repeat("  ", n.depth)+treeLabel(n.process))
	}
	slices.Reverse(list)
	slices.Reverse(names)
	return list, names
}

func (a *lifecycleAnswer) table(view string, _ *names) *table {
	list, names := a.tree()
	who := []column{idColumn("pid"), column{name: "parentPid", head: "PARENT", number: true, rising: true}, label("process").forPrograms(), label("process").forPeople()}
	if view == "phase" {
		t := newTable(append(who, label("phase"), moment("atMs"), msColumn("sinceMs"), label("from"))...)
		for i, p := range list {
			for _, x := range p.Phases {
				t.add(whole(p.PID), unlessNegative(p.ParentPID), p.Name, names[i], string(x.Phase), exact(x.AtMS), exact(x.SinceMS), x.From)
			}
		}
		return t.unlessEmpty("parentPid")
	}
	columns := []string{"startMs", "loadMs", "runtimeMs", "managedMs", "mainMs", "requestMs", "exitMs"}
	for _, name := range columns {
		who = append(who, moment(name))
	}
	t := newTable(append(who, idColumn("exitCode"))...)
	for i, p := range list {
		row := []string{whole(p.PID), unlessNegative(p.ParentPID), p.Name, names[i]}
		for _, name := range lifecycle.Names {
			cell := ""
			for _, x := range p.Phases {
				if x.Phase == name {
					cell = exact(x.AtMS)
				}
			}
			row = append(row, cell)
		}
		t.add(append(row, maybe(p.ExitCode))...)
	}
	return t.unlessEmpty(append([]string{"parentPid", "exitCode"}, columns...)...)
}
