package findings

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
)

// Exceptions says how many exceptions a runtime threw, and which most often.
func Exceptions(r *exceptions.Runtime) []Finding {
	f := &finder{part: "exceptions"}
	if len(r.Types) == 0 {
		return nil
	}
	var peak float64
	for _, n := range r.Series.Counts {
		peak = max(peak, 1000*float64(n)/max(r.Series.WidthMS, leastRateMS))
	}
	top := r.Types[0]
	f.add("exceptions.thrown", atLeast(peak, manyExceptions, Look, Note), "%s thrown; most often %s, %s.",
		things("count", r.New, "exception was", "exceptions were"), top.Type, times("topCount", top.New))
	return f.list
}

// JIT says how long a runtime compiled.
func JIT(r *jit.Runtime) []Finding {
	f := &finder{part: "jit"}
	if r.Count > 0 {
		f.add("jit.compiled", atLeast(r.ExclusiveMS, longCompiling, Look, Note), "Compiling %s took %s of threads' wall-clock time.",
			things("count", r.Count, "method", "methods"), span("exclusiveMs", r.ExclusiveMS))
	}
	return f.list
}

// Requests says which activities of a process failed.
func Requests(p *requests.Process) []Finding {
	f := &finder{part: "requests"}
	failed, which := 0, []string{}
	for _, x := range p.Tasks {
		n := int(x.Errors.Or(0)) - x.ErrorsWithin // the parts of what failed fail with it
		if failed += n; n > 0 {
			which = append(which, fmt.Sprintf("%d of %s/%s", n, x.Provider, x.Task))
		}
	}
	if len(which) > failuresNamed {
		which = append(which[:failuresNamed], "and others")
	}
	if failed > 0 {
		f.add("requests.failed", Look, "%s failed: %s.", things("errors", failed, "activity", "activities"), strings.Join(which, ", "))
	}
	return f.list
}

// Code names the method in which most was spent by itself: so many percent of the measure of
// the samples, such as Thread time.
func Code(samples, method string, selfPercent float64) Finding {
	f := &finder{part: "cpu"}
	f.add("cpu.topMethod", Note, "%s: %s was spent in %s itself.", samples, share("selfPercent", selfPercent), method)
	return f.list[0]
}
