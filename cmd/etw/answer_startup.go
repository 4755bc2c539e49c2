package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newStartup returns the command that shows how programs start.
func newStartup() *cobra.Command {
	return (&question{
		name:  "startup",
		short: "Show how .NET programs start: what is loaded and compiled, and when",
		long: `Startup shows what a .NET program does until it is up: the runtime begins, assemblies
are looked for and loaded, methods and types are. --to ends where the program is up,
which no event tells.

The rows are steps in the order of time, or what --by says: assemblies, the compilations
or the loads of types that took longest, or look-ups of assemblies.`,
		example: `  etw startup --top 4 jit.nettrace
  etw startup --to 500ms --by method --top 5 jit.nettrace
  etw startup --by assembly --format csv rundown.nettrace
  etw startup --format json jit.nettrace | jq '.jit.count'`,
		views: []string{"step", "assembly", "method", "type", "bind"},
		needs: slices.Concat(loader.Needs, jit.Needs),
		ask: func(mux *etw.Mux) answer {
			return &startupAnswer{runtimes: runtimes.New(mux), loader: loader.New(mux), jit: jit.New(mux)}
		},
	}).command()
}

type startupAnswer struct {
	runtimes *runtimes.Analysis
	loader   *loader.Analysis
	jit      *jit.Analysis
	res      startupResult
}

// A startupResult is what JSON has of starts.
type startupResult struct {
	Schema   int              `json:"schema"`
	Runtimes *runtimes.Result `json:"runtimes"`
	Loader   *loader.Result   `json:"loader"`
	JIT      *jit.Result      `json:"jit"`
}

func (a *startupAnswer) take() bool {
	a.res = startupResult{1, a.runtimes.Result(), a.loader.Result(), a.jit.Result()}
	return len(a.res.Loader.Runtimes)+len(a.res.JIT.Runtimes) > 0 ||
		slices.ContainsFunc(a.res.Runtimes.Runtimes, func(rt *runtimes.Runtime) bool { return len(rt.Checkpoints) > 0 })
}

func (a *startupAnswer) result() any        { return a.res }
func (a *startupAnswer) warnings() []string { return a.res.JIT.Warnings() }

func (a *startupAnswer) several() bool {
	return max(len(a.res.Runtimes.Runtimes), len(a.res.Loader.Runtimes), len(a.res.JIT.Runtimes)) > 1
}

func (a *startupAnswer) totals(p *page) {
	if len(a.res.Runtimes.Runtimes) <= fewRuntimes {
		for _, rt := range a.res.Runtimes.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			p.line("runtime", "%s", strings.TrimSpace(rt.Sku+" "+rt.Version))
			p.line("command line", "%s", rt.CommandLine)
			p.line("began", "%s", msOf(rt.StartMS))
			p.line("first compiled", "%s", msOf(rt.FirstCompilationMS))
		}
	}
	if len(a.res.Loader.Runtimes) <= fewRuntimes {
		for _, rt := range a.res.Loader.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			p.line("loaded", "%s, %s", count(len(rt.Assemblies), "assembly", "assemblies"), count(rt.Methods, "method with code", "methods with code"))
			if len(rt.Binds) > 0 {
				p.line("look-ups", "%d of assemblies, %d without success: %s", len(rt.Binds), rt.Failed, spread(&rt.BindMS))
			}
			if rt.Types != nil {
				p.line("types", "%d loads, %s", rt.Types.Count, ms(rt.Types.ExclusiveMS))
			}
		}
	}
	if len(a.res.JIT.Runtimes) <= fewRuntimes {
		for _, rt := range a.res.JIT.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			jitFacts(p, rt)
		}
	}
}

func (a *startupAnswer) table(view string, who *names) *table {
	switch view {
	case "assembly":
		return a.assemblies(who)
	case "method":
		return (&jitAnswer{res: a.res.JIT}).methods(who)
	case "type":
		return a.types(who)
	case "bind":
		return a.binds(who)
	}
	return a.steps(who)
}

// A step is something that happened at a time.
type step struct {
	pid        int64
	atMS       float64
	what, name string
}

// steps lists what happened, in order of time.
func (a *startupAnswer) steps(who *names) *table {
	var list []step
	add := func(pid int64, at quantity.Float, what, name string) {
		if v, ok := at.Get(); ok {
			list = append(list, step{pid, v, what, name})
		}
	}
	for _, rt := range a.res.Runtimes.Runtimes {
		add(rt.PID, rt.StartMS, "runtime begins", rt.Version)
		for _, c := range rt.Checkpoints {
			add(rt.PID, quantity.Known(c.AtMS), "checkpoint", c.Name)
		}
		add(rt.PID, rt.FirstCompilationMS, "first method compiled", "")
	}
	for _, rt := range a.res.Loader.Runtimes {
		for _, x := range rt.Assemblies {
			add(rt.PID, x.LoadedMS, "assembly loaded", x.Name)
		}
	}
	slices.SortStableFunc(list, func(a, b step) int { return cmp.Compare(a.atMS, b.atMS) })
	t := newTable(append(processColumns(a.several()), moment("atMs"), label("what"), label("name"))...)
	for _, s := range list {
		t.add(append(who.processCells(s.pid), exact(s.atMS), s.what, s.name)...)
	}
	return t
}

func (a *startupAnswer) assemblies(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("loadedMs"), moment("unloadedMs"), label("assembly"))...)
	for _, rt := range a.res.Loader.Runtimes {
		for _, x := range rt.Assemblies {
			t.add(append(who.processCells(rt.PID), maybe(x.LoadedMS), maybe(x.UnloadedMS), x.Name)...)
		}
	}
	return t
}

func (a *startupAnswer) types(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("inclusiveMs"), msColumn("exclusiveMs"), counted("level"), label("type"))...)
	for _, rt := range a.res.Loader.Runtimes {
		if rt.Types == nil {
			continue
		}
		for _, x := range rt.Types.Longest {
			t.add(append(who.processCells(rt.PID), exact(x.StartMS), exact(x.InclusiveMS), exact(x.ExclusiveMS), whole(x.Level), x.Type)...)
		}
	}
	return t
}

func (a *startupAnswer) binds(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("durationMs"), label("success"), label("requested"), label("resultPath"))...)
	for _, rt := range a.res.Loader.Runtimes {
		for _, x := range rt.Binds {
			t.add(append(who.processCells(rt.PID), exact(x.StartMS), exact(x.DurationMS), map[bool]string{true: "yes", false: "no"}[x.Success], x.Requested, x.ResultPath)...)
		}
	}
	return t
}
