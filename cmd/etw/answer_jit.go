package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/jit"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newJIT returns the command that shows what was compiled.
func newJIT() *cobra.Command {
	return (&question{
		name:  "jit",
		short: "Show which methods were compiled, and how long it took",
		long: `Jit shows which methods a .NET program compiled while it ran. INCLUSIVE MS is the
time from begin to end; compiling one method can need another one, so that sums of it
count some time twice. EXCLUSIVE MS does not.

The rows are compilations, the longest first, or what --by says: modules, tiers,
triggers (in the foreground, by tiering, ahead of need), processes, intervals of time,
reasons why calls were not inlined, or methods that precompiled code was missing of.`,
		example: `  etw jit jit.nettrace
  etw jit --by tier jit.nettrace
  etw jit --by module --top 3 --format md jit.nettrace
  etw jit --sort nativeBytes --format csv jit.nettrace
  etw jit --format json jit.nettrace | jq '.count, .exclusiveMs'`,
		views: []string{"method", "module", "tier", "trigger", "process", "time", "inlining", "missing"},
		needs: jit.Needs,
		ask:   func(mux *etw.Mux) answer { return &jitAnswer{analysis: jit.New(mux)} },
	}).recorded(recordedFor, nil)
}

type jitAnswer struct {
	analysis *jit.Analysis
	res      *jit.Result
}

func (a *jitAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *jitAnswer) result() any        { return a.res }
func (a *jitAnswer) warnings() []string { return a.res.Warnings() }
func (a *jitAnswer) several() bool      { return len(a.res.Runtimes) > 1 }

func (a *jitAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", count(a.res.Count, "compilation", "compilations"), len(a.res.Runtimes), ms(a.res.ExclusiveMS)))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		jitFacts(p, rt)
	}
}

// jitFacts prints what is known of the compilations of a runtime.
func jitFacts(p *page, rt *jit.Runtime) {
	if rt.Count == 0 && len(rt.Methods) > 0 { // the begins of all are missing
		loadedFacts(p, rt.Methods)
	} else {
		p.line("compiled", "%s, %s; %s with those within others", count(rt.Count, "method", "methods"), ms(rt.ExclusiveMS), ms(rt.InclusiveMS))
		p.line("code", "%d bytes, from %d bytes of IL", rt.NativeBytes, rt.ILBytes)
	}
	for _, g := range rt.Tiers {
		p.line("  tier", "%s: %s, %s", g.Name, count(g.Count, "method", "methods"), ms(g.ExclusiveMS))
	}
	if rt.SuspendedMS > 0 {
		p.line("stopped", "%s of that time, by collections or a profiler", ms(rt.SuspendedMS))
	}
	if x := rt.Precompiled; x != nil {
		p.line("precompiled", "%d found, %d not, %d rejected", x.Found, x.Missing, x.Rejected)
	}
	if x := rt.Inlining; x != nil {
		p.line("inlining", "%d calls were inlined, %d not", x.Succeeded, x.Failed)
	}
	if x := rt.Tiering; x != nil {
		p.line("tiering", "%s in %s, %s; %d pending at the end", count(x.Methods, "method", "methods"), count(x.Batches, "batch", "batches"), ms(x.BusyMS), x.PendingAtEnd)
	}
}

// loadedFacts prints what is known of code whose compiling was not seen.
func loadedFacts(p *page, list []jit.Method) {
	var code, il uint64
	for i := range list {
		code, il = code+uint64(list[i].NativeBytes), il+uint64(list[i].ILBytes)
	}
	p.line("compiled", "%s, times unknown", count(len(list), "method", "methods"))
	if il > 0 {
		p.line("code", "%d bytes, from %d bytes of IL", code, il)
	} else {
		p.line("code", "%d bytes", code)
	}
}

func (a *jitAnswer) table(view string, who *names) *table {
	switch view {
	case "module":
		return a.groups(who, "module", func(rt *jit.Runtime) []jit.Group { return rt.Modules })
	case "tier":
		return a.groups(who, "tier", func(rt *jit.Runtime) []jit.Group { return rt.Tiers })
	case "trigger":
		return a.groups(who, "trigger", func(rt *jit.Runtime) []jit.Group { return rt.Triggers })
	case "process":
		return a.processes(who)
	case "inlining":
		return a.inlining(who)
	case "missing":
		return a.missing(who)
	case "time":
		var list []owned[*quantity.Series]
		for _, rt := range a.res.Runtimes {
			list = append(list, owned[*quantity.Series]{rt.PID, &rt.Series})
		}
		return seriesTable(list, who, "exclusiveMs")
	}
	return a.methods(who)
}

func (a *jitAnswer) methods(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("inclusiveMs"), msColumn("exclusiveMs").spared(1), counted("ilBytes").spared(3), counted("nativeBytes").spared(2),
		label("tier"), label("trigger").forPrograms(), idColumn("thread").forPrograms(), label("module").forPrograms(), label("method"))...)
	for _, m := range a.res.Methods {
		t.add(append(who.processCells(m.PID), exact(m.StartMS), maybe(m.InclusiveMS), maybe(m.ExclusiveMS), whole(m.ILBytes), whole(m.NativeBytes),
			m.Tier, m.Trigger, whole(m.Thread), m.Module, m.Method)...)
	}
	return t
}

func (a *jitAnswer) groups(who *names, name string, of func(*jit.Runtime) []jit.Group) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), msColumn("inclusiveMs"), msColumn("exclusiveMs"), counted("ilBytes"), counted("nativeBytes"), label(name))...)
	for _, rt := range a.res.Runtimes {
		for _, g := range of(rt) {
			t.add(append(who.processCells(rt.PID), whole(g.Count), exact(g.InclusiveMS), exact(g.ExclusiveMS), whole(g.ILBytes), whole(g.NativeBytes), g.Name)...)
		}
	}
	return t
}

func (a *jitAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("count"), msColumn("inclusiveMs"), msColumn("exclusiveMs"), counted("ilBytes"), counted("nativeBytes"))...)
	for _, rt := range a.res.Runtimes {
		t.add(append(who.processCells(rt.PID), whole(rt.Count), exact(rt.InclusiveMS), exact(rt.ExclusiveMS), whole(rt.ILBytes), whole(rt.NativeBytes))...)
	}
	return t
}

// inlining lists why calls stayed calls.
func (a *jitAnswer) inlining(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), label("what"), label("reason"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range []struct {
			what string
			*jit.Inlining
		}{{"inlining", rt.Inlining}, {"tail call", rt.TailCalls}} {
			if x.Inlining == nil {
				continue
			}
			t.add(append(who.processCells(rt.PID), whole(x.Succeeded), x.what, "(succeeded)")...)
			for _, r := range x.Reasons {
				t.add(append(who.processCells(rt.PID), whole(r.Count), x.what, r.Reason)...)
			}
		}
	}
	return t
}

// missing lists the methods that were looked for in precompiled code, and compiled
// since they were not there.
func (a *jitAnswer) missing(who *names) *table {
	t := newTable(append(processColumns(a.several()), label("method"))...)
	for _, rt := range a.res.Runtimes {
		if rt.Precompiled == nil {
			continue
		}
		for _, m := range rt.Precompiled.MissingMethods {
			t.add(append(who.processCells(rt.PID), m)...)
		}
	}
	return t
}
