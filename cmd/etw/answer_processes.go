package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newProcesses returns the command that shows processes and threads.
func newProcesses() *cobra.Command {
	return (&question{
		name:  "processes",
		short: "Show processes as a tree, with the processor time that they used",
		long: `Processes shows the processes in a trace, each below the one that started it: name,
command line, start, end, exit code, processor time, threads and images. A process
whose number was used again is another one. Start and end are those that the trace
has seen; a process without was there before the recording, or outlived it.

Processor time is told in two ways, where the trace has these events: sampledMs are
the samples that hit the process, times the interval between two; ranMs is the time
between context switches, which is exact. A recorder of Linux tells of switches to
threads, and only the scheduler's own sched_switch how long they ran.

Traces of .NET programs tell of their one process. The rows are processes, or
threads by --by thread.`,
		example: `  etw processes machine.etl
  etw processes gc.nettrace
  etw processes --by thread --sort ranMs --top 10 machine.etl
  etw processes --process app.exe --format csv machine.etl
  etw processes --format json machine.etl | jq '.threads[].ranMs'`,
		views:   []string{"process", "thread"},
		missing: "the trace tells of no process; how to record one that does, etw record-help wpr says",
		whole:   true,
		ask: func(mux *etw.Mux) answer {
			return &processesAnswer{machine: newMachine(mux), usage: system.NewUsage(mux)}
		},
	}).command()
}

type processesAnswer struct {
	machine
	usage *system.Usage
	res   *system.Result
}

func (a *processesAnswer) samplesEach(ns int64) { a.usage.SetInterval(ns) }

func (a *processesAnswer) take() bool {
	a.usage.Settle()
	a.res = a.usage.Result()
	a.res.Processes = slices.DeleteFunc(a.res.Processes, func(p system.ProcessFacts) bool { return !a.chosen.Has(p.PID) })
	a.res.Threads = slices.DeleteFunc(a.res.Threads, func(t system.ThreadFacts) bool { return !a.chosen.Has(int64(t.PID)) })
	return len(a.res.Processes) > 0
}

func (a *processesAnswer) result() any { return a.res }

func (a *processesAnswer) warnings() []string {
	list := append(a.doubts(), unresolved(a.res.Unresolved)...)
	if a.res.Gaps > 0 {
		list = append(list, fmt.Sprintf("context switches are missing in %s: ranMs is a lower bound", count(a.res.Gaps, "place", "places")))
	}
	return list
}

func (a *processesAnswer) totals(p *page) {
	machineFacts(p, &a.res.Machine)
	if a.res.Samples > 0 {
		p.line("samples", "%d, one each %s", a.res.Samples, msOf(a.res.SampleMS))
	}
	if a.res.Switches > 0 {
		p.line("switches", "%d", a.res.Switches)
	}
	if a.res.KernelImages > 0 && len(a.chosen) == 0 {
		p.line("kernel images", "%d, which are of no process", a.res.KernelImages)
	}
}

func (a *processesAnswer) table(view string, _ *names) *table {
	if view == "thread" {
		return a.threads()
	}
	t := newTable(idColumn("pid"), column{name: "parentPid", head: "PARENT", number: true, rising: true}, label("process").forPrograms(), label("process").forPeople(),
		moment("startMs"), moment("endMs"), idColumn("exitCode"), msColumn("sampledMs"), msColumn("ranMs"), counted("threads"), counted("images"), label("user").forPrograms(), idColumn("session").forPrograms(),
		label("runtime"), label("os").forPrograms(), label("architecture").forPrograms(), label("commandLine"))
	for _, n := range treeOf(a.res.Processes) {
		p := n.process
		t.add(whole(p.PID), unlessNegative(p.ParentPID), p.Name, strings.Repeat("  ", n.depth)+treeLabel(p), maybe(p.StartMS), maybe(p.EndMS), maybe(p.ExitCode),
			maybe(p.SampledMS), maybe(p.RanMS), whole(p.Threads), whole(p.Images), p.User, unlessNegative(p.Session),
			p.Runtime, p.OS, p.Architecture, p.CommandLine)
	}
	return t.unlessEmpty("parentPid", "startMs", "endMs", "exitCode", "sampledMs", "ranMs", "threads", "images", "runtime")
}

// treeLabel returns what a process is called in the tree.
func treeLabel(p *system.ProcessFacts) string {
	switch {
	case p.Zombie:
		return p.Name + " (ended before)"
	case p.Name == "" && p.PID == 0:
		return "(idle)"
	}
	return cmp.Or(p.Name, unknown)
}

// unknown is what is called what the trace does not tell.
const unknown = "(unknown)"

func unlessNegative[N ~int64](n N) string {
	if n < 0 {
		return ""
	}
	return whole(int64(n))
}

func (a *processesAnswer) threads() *table {
	t := newTable(idColumn("pid"), label("process"), idColumn("tid"), label("name"), label("service"), moment("startMs"), moment("endMs"),
		counted("samples"), msColumn("sampledMs"), counted("switches"), msColumn("ranMs"))
	list := slices.Clone(a.res.Threads)
	slices.SortStableFunc(list, func(a, b system.ThreadFacts) int {
		return cmp.Or(cmp.Compare(b.RanMS.Or(0), a.RanMS.Or(0)), cmp.Compare(b.SampledMS.Or(0), a.SampledMS.Or(0)))
	})
	for _, x := range list {
		t.add(unlessNegative(x.PID), x.Process, whole(x.TID), x.Name, x.Service, maybe(x.StartMS), maybe(x.EndMS),
			maybe(x.Samples), maybe(x.SampledMS), maybe(x.Switches), maybe(x.RanMS))
	}
	return t.unlessEmpty("name", "service", "startMs", "endMs", "samples", "sampledMs", "switches", "ranMs")
}

// A node is a process in the tree, and how deep in there.
type node struct {
	process *system.ProcessFacts
	depth   int
}

// treeOf returns processes such that each comes after its parent. The parent has
// the id that the process says, and was there when it started.
func treeOf(list []system.ProcessFacts) []node {
	byPID := make(map[int64][]int)
	for i := range list {
		byPID[list[i].PID] = append(byPID[list[i].PID], i)
	}
	children := make(map[int][]int) // -1 are the roots
	for i := range list {
		parent := parentOf(list, byPID, i)
		children[parent] = append(children[parent], i)
	}
	nodes := make([]node, 0, len(list))
	seen := make([]bool, len(list))
	var walk func(i, depth int)
	walk = func(i, depth int) {
		if seen[i] {
			return
		}
		seen[i] = true
		nodes = append(nodes, node{&list[i], depth})
		for _, child := range children[i] {
			walk(child, min(depth+1, maxDepth))
		}
	}
	for _, i := range children[-1] {
		walk(i, 0)
	}
	for i := range list { // those that a damaged trace says started each other
		walk(i, 0)
	}
	return nodes
}

// maxDepth is how deep the tree is shown.
const maxDepth = 20

// parentOf returns the parent of a process, or -1.
func parentOf(list []system.ProcessFacts, byPID map[int64][]int, i int) int {
	p := &list[i]
	if p.ParentPID < 0 || int64(p.ParentPID) == p.PID {
		return -1
	}
	start := p.StartMS.Or(0)
	for _, k := range slices.Backward(byPID[int64(p.ParentPID)]) {
		parent := &list[k]
		if parent.StartMS.Or(start) <= start && (parent.EndMS.IsZero() || parent.EndMS.Or(0) >= start) {
			return k
		}
	}
	return -1
}
