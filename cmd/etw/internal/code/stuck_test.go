package code

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestStuck: threads that wait in one place in all samples, those that move, run, or wait for a part of
// the time alone, and what no thread does.
func TestStuck(t *testing.T) {
	names := map[uint64]string{1: "System.Threading.Monitor.Enter_Slowpath", 2: "System.Threading.Monitor.Enter", 3: "Bakery.Oven", 4: "Bakery.Bake",
		5: "System.Threading.Thread.Sleep", 6: "System.Threading.ThreadPoolWorkQueue.Dispatch", 7: "System.Threading.Monitor.Wait"}
	s := stacks.NewSamples("thread time", stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "thread", Unit: "nanoseconds"})
	place := func(frames ...uint64) stacks.ID { return s.InternAddresses(1, frames) }
	lock, other, sleep, wait := place(1, 2, 3, 4), place(2, 4), place(5, 3, 6), place(7, 4)
	for ms := range int64(1500) {
		take := func(thread int64, at stacks.ID, waits bool) {
			if waits {
				s.AddPseudo(time.UnixMilli(1000+ms), 1, thread, at, stacks.WaitingName, 0, 1, 1e6)
			} else {
				s.AddStack(time.UnixMilli(1000+ms), 1, thread, at, 0, 1, 1e6)
			}
		}
		take(10, lock, true)
		take(11, sleep, true)
		take(12, sleep, true)
		take(13, wait, true) // for no lock
		take(14, lock, false)
		take(15, []stacks.ID{lock, other}[ms/1400], true)
		if ms > 300 {
			take(16, lock, true)
		}
		if ms == 700 {
			s.AddPseudo(time.UnixMilli(1000+ms), 1, 10, lock, "[GC pause]", 0, 1, 1e6)
		}
	}
	var mux etw.Mux
	p := stacks.NewProfile(symbols.New(&mux).Table(), stacks.Options{}, s)
	for i := range p.Frames {
		if name := names[p.Frames[i].Address]; name != "" {
			p.Frames[i].Name = name
		}
	}
	want := []string{
		"1 thread waited for a lock in all samples of 1.50 s: thread 10 in Bakery.Oven. If no event tells of these waits, they began before the recording.",
		"2 threads waited as workers of the thread pool in all samples of 1.50 s: thread 11 in Bakery.Oven, thread 12 in Bakery.Oven. Until they go on, they take no other work.",
	}
	found := stuck(p)
	if len(found) != len(want) {
		t.Fatalf("%+v", found)
	}
	for i, f := range found {
		if f.Text != want[i] || f.Severity != findings.Look {
			t.Errorf("%+v, want %s", f, want[i])
		}
	}
}
