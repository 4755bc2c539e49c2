package jit

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A compilation has the stack of who needed the method, and weighs its own time.
func TestSamples(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	begin := func(ms int, method uint64, name string, frames ...byte) {
		s.Stack = testtrace.AStack(frames...)
		s.Event(time.Duration(ms)*time.Millisecond, 7, &clr.MethodJittingStartedV1{MethodID: method, ModuleID: 9, MethodNamespace: etw.MakeUTF16("Oven"),
			MethodName: etw.MakeUTF16(name), MethodSignature: etw.MakeUTF16("void  (int32)")})
	}
	end := func(ms int, method uint64, flags clr.MethodFlags) {
		s.Stack = etw.Stack{}
		s.Event(time.Duration(ms)*time.Millisecond, 7, &clr.MethodLoadVerboseV2{MethodID: method, ModuleID: 9, MethodStartAddress: 1, MethodSize: 8, MethodFlags: flags | clr.MethodFlagsJitted})
	}
	begin(1, 1, "Bake", 5, 6)
	begin(2, 2, ".cctor", 4, 5, 6)
	end(4, 2, 0)
	end(8, 1, 0)
	end(9, 3, 0) // of which there was no begin
	begin(10, 4, "Sell", 6)
	s.Event(20*time.Millisecond, 7, &clr.ModuleLoadV2{ModuleID: 9, ModuleILPath: etw.MakeUTF16("Shop.dll")})
	list := a.Samples()
	if len(list) != 1 {
		t.Fatalf("%d lists", len(list))
	}
	var got []string
	for x := range list[0].All() {
		got = append(got, fmt.Sprint(x.Process, x.Thread, list[0].Stack(x.Stack), x.Labels, x.Values))
	}
	want := []string{
		"1 7 [4 5 6] [{compiled Oven..cctor(int32)} {module Shop.dll} {tier Unknown} {trigger foreground}] [1 2000000]",
		"1 7 [5 6] [{compiled Oven.Bake(int32)} {module Shop.dll} {tier Unknown} {trigger foreground}] [1 5000000]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The sums are those of the result, on every trace.
func TestSamplesOfCorpus(t *testing.T) {
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		a := New(&mux)
		testtrace.Run(t, &mux, path)
		var count, ns int64
		for _, s := range a.Samples() {
			for x := range s.All() {
				count += x.Values[0]
				ns += x.Values[1]
			}
		}
		if res := a.Result(); count != int64(res.Count) || math.Abs(float64(ns)/1e6-res.ExclusiveMS) > 1e-6*float64(res.Count+1) {
			t.Errorf("%s: %d samples, %d ns; %d methods, %v ms", testtrace.Name(path), count, ns, res.Count, res.ExclusiveMS)
		}
	}
}
