package findings

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// A machine that is well has no findings, and one that is not has each.
func TestMachine(t *testing.T) {
	machine := func(ready, routineUS, diskMS float64) (list []string) {
		switched := &threads.Result{Readies: 9, Times: threads.Times{RunningMS: 1000, ReadyMS: ready}, Threads: []threads.Thread{{PID: 4}, {PID: 7, TID: 70, Times: threads.Times{ReadyMS: ready}}}}
		disks := &system.FilesResult{Files: []system.FileFacts{{PID: 7, Disks: []system.DiskFacts{{Reads: 2, MS: diskMS}}}}}
		for _, f := range Machine(switched, &interrupts.Result{Times: interrupts.Times{Count: 3, LongestUS: routineUS}}, disks) {
			list = append(list, f.ID+" "+string(f.Severity)+" "+f.Text)
		}
		return list
	}
	if got := machine(190, 900, 90); len(got) > 0 {
		t.Errorf("a machine that is well: %q", got)
	}
	want := []string{
		"machine.ready problem Threads that could run waited for a processor for 1.50 s, 150.0 % of the time that threads ran: thread 70 of process 7 for 1.50 s of it.",
		"machine.routine look An interrupt routine or DPC kept a processor for 2.00 ms; 0 in all took more than half a millisecond.",
		"machine.disk look Disk 0 answered 2 requests after 100 ms on average.",
	}
	if got := machine(1500, 2000, 200); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
