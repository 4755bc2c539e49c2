package cpu

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
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
			if thread.TID != 0 && thread.Process != nil {
				want[thread.Process.PID] += int64(usage.Of(thread).Samples)
			} else if thread.Process == nil {
				want[-1] += int64(usage.Of(thread).Samples)
			}
		}
		for s := range p.Samples() {
			if s.Process != 0 {
				want[s.Process] -= s.Values[0]
			}
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

// TestIdle: an idle processor works where it is interrupted; and samples before any event tells their
// interval are as far apart as it says of them.
func TestIdle(t *testing.T) {
	var mux etw.Mux
	machine, k, u := system.Of(&mux), NewKernel(&mux), system.NewUsage(&mux)
	s := testtrace.NewScript(t, &mux)
	for i, flags := range []uint8{16 << 3, 16<<3 | 1, 16<<3 | 2, 16 << 3} {
		s.Event(time.Duration(i)*time.Millisecond, 0, &kernel.PerfInfoSampleV2{InstructionPointer: 0xfffff80000001000, Flags: flags})
	}
	s.Event(5*time.Millisecond, 7, &kernel.PerfInfoSampleV2{ThreadID: 7})
	s.Event(6*time.Millisecond, 7, &kernel.PerfInfoSetIntervalV2{OldInterval: 2500, NewInterval: 10000})
	s.Event(7*time.Millisecond, 7, &kernel.PerfInfoSampleV2{ThreadID: 7})
	if res := k.Result(); res.Samples != 4 || res.Idle != 2 || res.Weight != 1.75e6 || res.Interval != 1e6 {
		t.Errorf("%+v", res)
	}
	var got []int64
	for x := range k.Samples()[0].All() {
		got = append(got, x.Thread, x.Values[1])
	}
	if want := []int64{0, 250e3, 0, 250e3, 7, 250e3, 7, 1e6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if of := u.Of(machine.Thread(7)); of.SampledMS() != 1.25 {
		t.Errorf("%v ms", of.SampledMS())
	}
}
