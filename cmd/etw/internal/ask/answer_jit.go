package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewJIT returns the command that shows compiled methods.
func NewJIT() *Question {
	return &Question{
		name:  "jit",
		short: "Show which methods were compiled, and how long it took",
		Long: `Jit shows which methods a .NET program compiled while it ran. INCLUSIVE MS is the
time from begin to end; compiling one method can need another one, so that sums of it
count some time twice. EXCLUSIVE MS does not.

The rows are compilations, the longest first, or by --by: modules, tiers,
triggers (in the foreground, by tiering, ahead of need), processes, intervals of time,
reasons why calls were not inlined, or methods that precompiled code was missing of.`,
		example: `  etw jit jit.nettrace
  etw jit --by tier jit.nettrace
  etw jit --by module --top 3 --format md jit.nettrace
  etw jit --sort nativeBytes --format csv jit.nettrace
  etw jit --format json jit.nettrace | jq '.count, .exclusiveMs'`,
		next: []show.Suggestion{
			show.Next("etw startup", "where the compilations stand in the start"),
			show.Next("etw top --of jit", "which code makes methods be compiled"),
		},
		views:    viewsOf(new(jit.Result)),
		threaded: "only events",
		Needs:    jit.Needs,
		ask: func(mux *etw.Mux) answer {
			return &viewed[*jit.Result]{find: jit.New(mux).Result, facts: jitTotals}
		},
	}
}

func jitTotals(p *page, res *jit.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", show.Count(res.Count, "compilation", "compilations"), len(res.Runtimes), show.MS(res.ExclusiveMS)))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		jitFacts(p, rt)
	}
}

// unknownTier is the tier of code whose events tell of none.
const unknownTier = "Unknown"

// jitFacts prints the facts about the compilations of a runtime.
func jitFacts(p *page, rt *jit.Runtime) {
	if rt.Count == 0 && len(rt.Methods) > 0 { // the begins of all are missing
		loadedFacts(p, rt.Methods)
	} else if rt.Count == 0 {
		p.line("compiled", "none that was recorded; without the keyword Jit (0x10) at level 5 none is")
	} else {
		p.line("compiled", "%s, %s; %s with those within others", show.Count(rt.Count, "method", "methods"), show.MS(rt.ExclusiveMS), show.MS(rt.InclusiveMS))
		p.line("code", "%d bytes, from %d bytes of IL", rt.NativeBytes, rt.ILBytes)
	}
	for _, g := range rt.Tiers {
		if len(rt.Tiers) == 1 && g.Name == unknownTier {
			break // .NET Framework has no tiers
		}
		p.line("  tier", "%s: %s, %s", g.Name, show.Count(g.Count, "method", "methods"), show.MS(g.ExclusiveMS))
	}
	if rt.SuspendedMS > 0 {
		p.line("stopped", "%s of that time, by collections or a profiler", show.MS(rt.SuspendedMS))
	}
	if x := rt.Precompiled; x != nil && x.Lookups == nil {
		p.line("precompiled", "%s rejected; the keyword CompilationDiagnostic (0x2000000000) tells which is found", x.Rejected)
	} else if x != nil {
		p.line("precompiled", "%d found, %d not, %s rejected", x.Found, x.Missing, x.Rejected)
	}
	if x := rt.Inlining; x != nil {
		p.line("inlining", "%d calls were inlined, %d not", x.Succeeded, x.Failed)
	}
	if x := rt.Tiering; x != nil {
		p.line("tiering", "%s in %s, %s; %d pending at the end", show.Count(x.Methods, "method", "methods"), show.Count(x.Batches, "batch", "batches"), show.MS(x.BusyMS), x.PendingAtEnd)
	}
}

// loadedFacts prints the facts about code whose compiling was not seen.
func loadedFacts(p *page, list []jit.Method) {
	var code, il uint64
	for i := range list {
		code, il = code+uint64(list[i].NativeBytes), il+uint64(list[i].ILBytes)
	}
	p.line("compiled", "%s, times unknown", show.Count(len(list), "method", "methods"))
	if il > 0 {
		p.line("code", "%d bytes, from %d bytes of IL", code, il)
	} else {
		p.line("code", "%d bytes", code)
	}
}
