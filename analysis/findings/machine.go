package findings

import (
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// Machine returns whether threads of a machine lacked processors, whether drivers kept these from
// them, and whether disks answered late.
func Machine(t *threads.Result, i *interrupts.Result, d *system.FilesResult) []Finding {
	f := &finder{part: "threads"}
	if part := 100 * t.ReadyMS / max(t.RunningMS, 1); t.Readies > 0 && t.ReadyMS >= leastReady && part >= someReady {
		longest := &t.Threads[0]
		for k := range t.Threads {
			if x := &t.Threads[k]; x.ReadyMS > longest.ReadyMS {
				longest = x
			}
		}
		f.add("machine.ready", atLeast(part, muchReady, Problem, Look), "Threads that could run waited for a processor for %s, %s of the time that threads ran: thread %d of process %d for %s of it.",
			span("readyMs", t.ReadyMS), share("readyPercent", part), longest.TID, longest.PID, span("longestMs", longest.ReadyMS))
	}
	f.part = "interrupts"
	if ms := i.LongestUS / 1e3; ms >= longRoutine {
		f.add("machine.routine", atLeast(ms, stuckRoutine, Problem, Look), "An interrupt routine or DPC kept a processor for %s; %s in all took more than half a millisecond.", span("longestMs", ms), number("over512Us", i.Over512US))
	}
	f.part = "disk"
	for _, x := range (system.DisksResult{FilesResult: d}).Disks() {
		n := x.Reads + x.Writes + x.Flushes
		if mean := x.MS / float64(max(n, 1)); mean >= slowDisk {
			f.add("machine.disk", Look, "Disk %d answered %s after %s on average.", x.Disk, things("requests", int64(n), "request", "requests"), span("meanMs", mean))
		}
	}
	return f.list
}
