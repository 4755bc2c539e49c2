package cpu

import (
	"math"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The shares of methods of the processor are those that programs measured of themselves,
// to 3 points.
func TestUniversalShares(t *testing.T) {
	names := map[string][]string{ // how those of the truth begin in the trace
		"shop::Basket<std::string>::fill":  {"shop::Basket<std::__cxx11"},
		"shop::Basket<int>::weigh<double>": {"double shop::Basket<int>::weigh"},
		"Work.Generic<int>.Thirty":         {"Work+Generic`1[System.Int32].Thirty"},
		"Work.Generic<string>.Ten":         {"Work+Generic`1[System.__Canon].Ten"},
	}
	for _, trace := range []string{"universal-native", "universal-dotnet"} {
		var truth struct{ CPUMs map[string]float64 }
		if !testtrace.JSON(t, corpus.File(t, "universal", trace+".truth.json"), &truth) {
			continue
		}
		var mux etw.Mux
		code, l := symbols.New(&mux), NewLinux(&mux)
		l.SetInterval(1e6)
		testtrace.Run(t, &mux, corpus.File(t, "universal", trace+".nettrace"))
		p := stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames, Native: code.Native}, l.Samples()...)
		got, sum, all := map[string]float64{}, 0.0, 0.0
		for _, ms := range truth.CPUMs {
			all += ms
		}
		for s := range p.Samples() {
			// The innermost one counts: programs measure the work of each of them itself.
			found := ""
			for f := range p.Stack(s.Stack) {
				name := p.Frames[f].Name
				name = name[strings.LastIndexByte(name[:max(0, strings.IndexByte(name+"(", '('))], '!')+1:]
				for method := range truth.CPUMs {
					for _, begin := range append([]string{method}, names[method]...) {
						if found == "" && strings.HasPrefix(name, begin) {
							found = method
						}
					}
				}
			}
			if found != "" {
				got[found] += float64(s.Values[1])
				sum += float64(s.Values[1])
			}
		}
		for method, ms := range truth.CPUMs {
			share, want := 100*got[method]/sum, 100*ms/all
			t.Logf("%s: %s %.1f %%, by its own clock %.1f %%", trace, method, share, want)
			if math.Abs(share-want) > 3 {
				t.Errorf("%s: %s has %.1f %%, want %.1f %%", trace, method, share, want)
			}
		}
	}
}
