package cpu

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The samples of each process are those that the tables of threads have, and all
// find their stacks, but in a trace that was filtered.
func TestKernelSamples(t *testing.T) {
	traces, samples := 0, 0
	for _, path := range testtrace.All(t) {
		if !strings.HasSuffix(path, ".etl") {
			continue
		}
		var mux etw.Mux
		names, machine := symbols.New(&mux), system.Of(&mux)
		usage := system.NewUsage(&mux)
		k := NewKernel(&mux)
		testtrace.Run(t, &mux, path)
		res := k.Result()
		if res.Samples+res.Idle == 0 {
			continue
		}
		traces, samples = traces+1, samples+res.Samples
		name := testtrace.Name(path)
		p := stacks.NewProfile(names.Table(), stacks.Options{Native: machine.Native}, k.Samples()...)
		want := map[int64]int64{}
		for _, thread := range machine.Threads() {
			if thread.Process != nil && thread.Process.PID != 0 {
				want[thread.Process.PID] += int64(usage.Of(thread).Samples)
			} else if thread.Process == nil {
				want[-1] += int64(usage.Of(thread).Samples)
			}
		}
		for s := range p.Samples() {
			want[s.Process] -= s.Values[0]
		}
		for pid, n := range want {
			if n != 0 {
				t.Errorf("%s: the threads of process %d have %d more samples", name, pid, n)
			}
		}
		if totals := p.Totals(); totals[0] != int64(res.Samples) || totals[1] != res.Weight {
			t.Errorf("%s: %v, %+v", name, totals, res)
		}
		if without := res.Samples - res.Stacks; without > res.Samples/1000 && !strings.HasPrefix(name, "filtrace") {
			t.Errorf("%s: %+v", name, res)
		}
	}
	t.Logf("%d traces, %d samples", traces, samples)
}
