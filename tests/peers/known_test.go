package peers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// The figures of these tests were measured before, by a program of its own. Those of
// the analyses that are not here are in the tests of each.

// run gives a trace of the corpus to the handlers of mux.
func run(t *testing.T, mux *etw.Mux, elem ...string) {
	t.Helper()
	tr := testio.Open(t, trace.Open, corpus.File(t, elem...))
	defer tr.Close()
	if err := mux.Run(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
}

// Ticks are of at least 100 KiB, and a little more.
func TestAmountsOfTicks(t *testing.T) {
	least, greatest := uint64(math.MaxUint64), uint64(0)
	medians := map[string]uint64{}
	for _, test := range [][2]string{
		{"nettrace", "filtrace_alloc.nettrace"}, {"etl", "gcevents.etl"}, {"etl", "net.4.5.2.x64.etl"},
		{"nettrace", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace"},
	} {
		var mux etw.Mux
		var small []uint64
		etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCAllocationTick) error {
			least = min(least, e.AllocationAmount64)
			if e.AllocationKind == clr.GCAllocationKindSmall {
				small = append(small, e.AllocationAmount64)
			}
			return nil
		})
		run(t, &mux, test[0], test[1])
		slices.Sort(small)
		medians[test[1]] = small[len(small)/2]
		greatest = max(greatest, small[len(small)-1])
	}
	if least != 102424 || greatest != 157360 {
		t.Errorf("ticks are of %d to %d bytes", least, greatest)
	}
	for name, median := range medians {
		if median < 106300 || median > 119300 {
			t.Errorf("%s: the median is %d", name, median)
		}
	}
}

func TestKnownSamples(t *testing.T) {
	s := &sheet{t: t, file: "only_managed_samples", theirs: new(answer), total: newTotals()}
	s.readTrace(corpus.File(t, "nettrace", "only_managed_samples.nettrace"))
	if s.cpu.Managed != 7423 || s.cpu.External != 0 {
		t.Errorf("%d samples, %d of them external", s.cpu.Samples, s.cpu.External)
	}
	share := map[string]float64{}
	for _, row := range s.stacks.View().Top() {
		name, _, _ := strings.Cut(s.stacks.Frames[row.Frame].Name, "(")
		share[name[strings.LastIndexByte(name, '.')+1:]] = 100 * float64(row.Self[0]) / 7423
	}
	if math.Abs(share["FindByte"]-67.4) > 0.05 || math.Abs(share["InnerLoop"]-32.6) > 0.05 {
		t.Errorf("shares %v", share)
	}

	// Without a rundown few frames have names.
	s.readTrace(corpus.File(t, "nettrace", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace"))
	if got := s.stacks.Naming.Percent(); math.Abs(got-6.4) > 0.05 {
		t.Errorf("%v %% of the frames have names", got)
	}
}

func TestKnownSwitches(t *testing.T) {
	var mux etw.Mux
	switched, kernel := threads.New(&mux), cpu.NewKernel(&mux)
	run(t, &mux, "etl", "filtrace_etw.etl")
	res := switched.Result()
	if res.Switches != 2975 || res.Gaps != 564 {
		t.Errorf("%d switches, %d gaps", res.Switches, res.Gaps)
	}
	for i := range res.Threads {
		th := &res.Threads[i]
		// Who was on the way to a processor was ready, too: 1.761 ms that were called
		// waiting before, besides 1.633 of preempted ones.
		if th.TID == 41188 && (math.Abs(th.RunningMS-466.2) > 0.05 || math.Abs(th.WaitingMS+th.ReadyMS-6149.9-1.633) > 0.05) {
			t.Errorf("%+v", th)
		}
	}
	samples := kernel.Samples()[0]
	n := 0
	for s := range samples.All() {
		if s.Thread == 41188 {
			n += int(s.Values[0])
		}
	}
	if n != 481 {
		t.Errorf("%d samples", n)
	}
}
