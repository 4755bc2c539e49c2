package system_test

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A half is one part of a stack in a trace.
type half struct {
	of     int64
	thread int64
}

// Every half of a stack finds its event, as a search through all events does, and
// the innermost frame of a sample is where it was taken, but of two of 32-bit threads whose
// stacks Windows logged at once, without keys.
func TestCorpusStacks(t *testing.T) {
	for _, name := range []string{"filtrace_etw.etl", "net.4.5.2.x64.etl"} {
		path := testtrace.Named(t, name)
		events := make(map[half]bool) // whether it has a stack
		halves := make(map[half]int)
		var mux etw.Mux
		delivered := make(map[uint64][]system.CallStack) // by the address of the sample
		stacks := system.BindStacks(&mux, func(ip uint64, s system.CallStack) { delivered[ip] = append(delivered[ip], s) })
		await := func(r *etw.Record, thread int64, ip uint64) {
			events[half{r.Timestamp, thread}] = false
			stacks.Await(r, thread, ip)
		}
		etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyPerfInfoSample) error {
			await(r, int64(e.ThreadID), uint64(e.InstructionPointer))
			return nil
		})
		etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyThreadCSwitch) error {
			await(r, int64(e.NewThreadID), 0)
			return nil
		})
		etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyStackWalkStack) error {
			halves[half{int64(e.EventTimeStamp), int64(e.StackThread)}]++
			return nil
		})
		etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyStackWalkStackKeyKernel) error {
			halves[half{int64(e.EventTimeStamp), int64(e.StackThread)}]++
			return nil
		})
		etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyStackWalkStackKeyUser) error {
			halves[half{int64(e.EventTimeStamp), int64(e.StackThread)}]++
			return nil
		})
		testtrace.Run(t, &mux, path)
		stacks.Flush()
		delete(delivered, 0)
		samples, exact := 0, 0
		for ip, list := range delivered {
			for _, s := range list {
				undefined := s.Kernel != 0 && !stacks.Has(s.Kernel) || s.User != 0 && !stacks.Has(s.User)
				if frames := stacks.AppendFrames(nil, s); len(frames) > 0 && !undefined {
					samples++
					if frames[0] == ip {
						exact++
					}
				}
			}
		}
		total, unclaimed := 0, 0
		for h, n := range halves {
			total += n
			if _, ok := events[h]; ok {
				events[h] = true
			} else {
				unclaimed += n
			}
		}
		bound := 0
		for _, has := range events {
			if has {
				bound++
			}
		}
		n := stacks.Stats()
		t.Logf("%s: %d of %d halves found one of %d events, %d of which have a stack; of %d samples with all frames %d begin where they were taken; %d keys are not defined, %d are another's",
			name, total-int(n.Unclaimed), total, n.Awaited, n.Bound, samples, exact, n.Undefined, n.Misdefined)
		if int(n.Bound) != bound || int(n.Unclaimed) != unclaimed || samples-exact > 2 || samples == 0 {
			t.Errorf("%s: bound %d events, want %d; %d halves of none, want %d", name, n.Bound, bound, n.Unclaimed, unclaimed)
		}
	}
}

// Of every thread and image that there is, the process is known, where the trace
// has any events of processes.
func TestCorpusMachine(t *testing.T) {
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		m := system.Of(&mux)
		threads, named, listed := 0, 0, make(map[int64]string)
		list := func(pid etw.Pointer, name etw.ANSI) { listed[int64(pid)] = name.String() }
		etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyProcessDCStart) error { list(e.ProcessID, e.ImageFileName); return nil })
		etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyProcessDCStop) error { list(e.ProcessID, e.ImageFileName); return nil })
		testtrace.Run(t, &mux, path)
		for _, th := range m.Threads() {
			threads++
			if th.Process != nil && th.Process.Name != "" {
				named++
			}
		}
		for pid, name := range listed {
			if p := m.Process(pid); p == nil || p.Name != name {
				t.Errorf("%s: process %d is %+v, want %s", testtrace.Name(path), pid, p, name)
			}
		}
		res := m.Result()
		if res.Unresolved.Threads > 0 || mux.Stats().Undecodable > 0 {
			t.Errorf("%s: %+v, %+v", testtrace.Name(path), res.Unresolved, mux.Stats())
		}
		if len(listed) > 0 {
			t.Logf("%s: %d processes, %d of %d threads have one with a name, %+v", testtrace.Name(path), len(res.Processes), named, threads, res.Unresolved)
		}
	}
}
