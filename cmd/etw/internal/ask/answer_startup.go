package ask

import (
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/runtimes"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewStartup returns the command that shows how programs start.
func NewStartup() *Question {
	return &Question{
		name:  "startup",
		short: "Show how .NET programs start: loading and compiling over time",
		Long: `Startup shows the steps of a .NET program until it is up: the runtime begins, assemblies
are looked for and loaded, methods and types are. --to ends where the program is up,
which no event tells; --from is of those that began later, of whose first methods it tells.

The rows are steps in the order of time, or by --by: assemblies, the compilations
or the loads of types that took longest, or look-ups of assemblies. The keywords
Loader, Jit and NGen (0x38) at level 5 tell these, CompilationDiagnostic (0x2000000000)
which methods have precompiled code, TypeDiagnostic (0x8000000000) the loads of types.

--phases shows how far processes came, each below the one that started it: when it
started, when a runtime of .NET was loaded and began, when the first managed code was
compiled or looked up, when the entry point of the program was, when the first request
that it serves began, and when it ended. A phase that nothing in the trace tells of is
left out, and so are processes without any that started none with some. The rows are
then processes, or by --by phase the phases with their sources.`,
		example: `  etw startup --top 4 jit.nettrace
  etw startup --to 500ms --by method --top 5 jit.nettrace
  etw startup --by assembly --format csv rundown.nettrace
  etw startup --phases machine.etl
  etw startup --phases --by phase --process app.exe machine.etl
  etw startup --format json jit.nettrace | jq '.jit.count'`,
		next:  []show.Suggestion{show.Next("etw jit", "which methods take long to compile"), show.Next("etw startup --phases", "how far processes came")},
		views: viewsOf(&startupResult{Runtimes: new(runtimes.Result), Loader: new(loader.Result), JIT: new(jit.Result)}),
		Needs: slices.Concat(loader.Needs, jit.Needs),
		ask: func(mux *etw.Mux) answer {
			ran, loaded, compiled := runtimes.New(mux), loader.New(mux), jit.New(mux)
			return &viewed[*startupResult]{any: anyStartup, facts: startupTotals, find: func() *startupResult {
				return &startupResult{1, ran.Result(), loaded.Result(), compiled.Result()}
			}}
		},
		others: []*Question{phases()},
	}
}

// A startupResult is the JSON of starts.
type startupResult struct {
	Schema   int              `json:"schema"`
	Runtimes *runtimes.Result `json:"runtimes"`
	Loader   *loader.Result   `json:"loader"`
	JIT      *jit.Result      `json:"jit"`
}

// Part says that the records are of a part of the session: of a program that began before it,
// the first method that was compiled is not known.
func (r *startupResult) Part(from, _ time.Duration) {
	for _, rt := range r.Runtimes.Runtimes {
		if from > 0 && rt.StartMS.Or(0) < float64(from)/1e6 {
			rt.FirstCompilationMS = quantity.Float{}
		}
	}
}

// Warnings says which numbers mislead, and why.
func (r *startupResult) Warnings() []string { return r.JIT.Warnings() }

func anyStartup(r *startupResult) bool {
	return len(r.Loader.Runtimes)+len(r.JIT.Runtimes) > 0 ||
		slices.ContainsFunc(r.Runtimes.Runtimes, func(rt *runtimes.Runtime) bool { return len(rt.Checkpoints) > 0 })
}

func startupTotals(p *page, res *startupResult) {
	if len(res.Runtimes.Runtimes) <= fewRuntimes {
		for _, rt := range res.Runtimes.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			p.line("runtime", "%s", rt.Name())
			p.line("command line", "%s", rt.CommandLine)
			p.line("began", "%s", show.MSOf(rt.StartMS))
			p.line("first compiled", "%s", show.MSOf(rt.FirstCompilationMS))
		}
	}
	if len(res.Loader.Runtimes) <= fewRuntimes {
		for _, rt := range res.Loader.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			p.line("loaded", "%s, %s", recordedCount(len(rt.Assemblies), "assembly", "assemblies"), recordedCount(rt.Methods, "method with code", "methods with code"))
			if len(rt.Binds) > 0 {
				p.line("look-ups", "%d of assemblies, %d without success: %s", len(rt.Binds), rt.Failed, show.Spread(&rt.BindMS))
			}
			if rt.Types != nil {
				p.line("types", "%d loads, %s", rt.Types.Count, show.MS(rt.Types.ExclusiveMS))
			}
		}
	}
	if len(res.JIT.Runtimes) <= fewRuntimes {
		for _, rt := range res.JIT.Runtimes {
			p.runtime(rt.PID, rt.CLRInstance)
			jitFacts(p, rt)
		}
		startupCauses(p, res)
	}
}

// startupCauses sums up how long threads were busy with each cause of a slow start.
func startupCauses(p *page, res *startupResult) {
	for _, rt := range res.JIT.Runtimes {
		var parts []string
		add := func(what string, ms float64) {
			if ms > 0 {
				parts = append(parts, what+" "+show.MS(ms))
			}
		}
		add("compiling", rt.ExclusiveMS)
		if x := rt.Precompiled; x != nil && x.Lookups != nil {
			add("looking for precompiled code", x.MS)
		}
		for _, l := range res.Loader.Runtimes {
			if l.PID != rt.PID || l.CLRInstance != rt.CLRInstance {
				continue
			}
			add("looking for assemblies", l.BindMS.Total)
			if l.Types != nil {
				add("loading types", l.Types.ExclusiveMS)
			}
		}
		if len(parts) > 0 {
			p.runtime(rt.PID, rt.CLRInstance)
			p.line("time of threads", "%s; one can be within another", strings.Join(parts, ", "))
		}
	}
}

// recordedCount is a number of things of which each runtime loads some: none is not recorded.
func recordedCount(n int, one, many string) string {
	if n == 0 {
		return "an unknown number of " + many
	}
	return show.Count(n, one, many)
}

// A step is something that happened at a time.
type step struct {
	pid        int64
	atMS       float64
	what, name string
}

// Tables returns the tables: the steps, and those of the analyses.
func (r *startupResult) Tables() []views.View {
	several := max(len(r.Runtimes.Runtimes), len(r.Loader.Runtimes), len(r.JIT.Runtimes)) > 1
	find := func(list []views.View, name string) views.View {
		v, _ := views.Find(list, name)
		return v
	}
	loads := r.Loader.Tables()
	return []views.View{
		r.steps().Several(several), find(loads, "assembly").Several(several), find(r.JIT.Tables(), "method"),
		find(loads, "type").Several(several), find(loads, "bind").Several(several),
	}
}

// steps lists events in order of time.
func (r *startupResult) steps() views.View {
	var list []step
	add := func(pid int64, at quantity.Float, what, name string) {
		if v, ok := at.Get(); ok {
			list = append(list, step{pid, v, what, name})
		}
	}
	for _, rt := range r.Runtimes.Runtimes {
		add(rt.PID, rt.StartMS, "runtime begins", rt.Version)
		for _, c := range rt.Checkpoints {
			add(rt.PID, quantity.Known(c.AtMS), "checkpoint", c.Name)
		}
		add(rt.PID, rt.FirstCompilationMS, "first method compiled", "")
	}
	for _, rt := range r.Loader.Runtimes {
		for _, x := range rt.Assemblies {
			add(rt.PID, x.LoadedMS, "assembly loaded", x.Name)
		}
	}
	return views.Parts("step", "Steps", list, func(s step) int64 { return s.pid },
		views.Moment("atMs", func(s step) float64 { return s.atMS }),
		views.Text("what", func(s step) string { return s.what }),
		views.Text("name", func(s step) string { return s.name })).Rising("atMs")
}
