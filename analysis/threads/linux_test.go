package threads

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestRests holds the account of threads by recorders of Linux against that of processors:
// rests of a thread do not overlap, no sample of a thread is in a rest of it, and threads
// run no longer than the processors of the machine do. Read with the times at the other end
// of the rests, thousands of samples are in one.
func TestRests(t *testing.T) {
	traces := 0
	for _, path := range append(corpus.Glob(t, "universal", "*.nettrace"), corpus.Glob(t, "dotnet10", "v6-*.nettrace")...) {
		var mux etw.Mux
		a, sampled := New(&mux), cpu.NewLinux(&mux)
		testtrace.Run(t, &mux, path)
		res := a.Result()
		if res.Switches == 0 || !a.blurred {
			continue
		}
		traces++
		name := filepath.Base(path)
		type thread struct{ pid, tid int64 }
		rests := make(map[thread][]Span)
		from, to := int64(0), int64(0)
		for s := range a.Spans() {
			id := thread{s.PID, s.TID}
			if from == 0 {
				from = s.From
			}
			from, to = min(from, s.From), max(to, s.To)
			if s.State == "running" {
				continue
			}
			rests[id] = append(rests[id], s)
		}
		samples, inside := 0, 0
		byThread := make(map[thread]int)
		for x := range sampled.Samples()[0].All() {
			id := thread{x.Process, x.Thread}
			list := rests[id]
			i, _ := slices.BinarySearchFunc(list, x.Time, func(s Span, at int64) int {
				if s.To <= at {
					return -1
				}
				return 1
			})
			samples++
			byThread[id]++
			if i < len(list) && list[i].From < x.Time {
				inside++
			}
		}
		if res.Gaps > 0 {
			t.Errorf("%s: %d rests begin in another one of their thread", name, res.Gaps)
		}
		if inside > 0 {
			t.Errorf("%s: %d of %d samples are of threads that were off their processor", name, inside, samples)
		}
		for _, x := range res.Threads {
			// A sample each millisecond is no more than a thread ran, but for chance.
			n := byThread[thread{x.PID, x.TID}]
			if float64(n) > x.RunningMS*1.05+8 {
				t.Errorf("%s: thread %d ran for %.1f ms, and has %v samples, one each millisecond", name, x.TID, x.RunningMS, n)
			}
			if int64(n) != x.Samples {
				t.Errorf("%s: thread %d has %d samples, here %d", name, x.TID, n, x.Samples)
			}
		}
		const processors = 2 // of the machine of the recordings
		if most := ms(to-from) * processors; res.RunningMS > most {
			t.Errorf("%s: threads ran for %v ms, of %v", name, res.RunningMS, most)
		}
		t.Logf("%s: %d rests, %d samples; threads ran %.0f ms of %.0f", name, res.Switches, samples, res.RunningMS, ms(to-from))
	}
	t.Logf("%d traces", traces)
}
