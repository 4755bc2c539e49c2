package findings

import (
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// A machine that is well has no findings, and one that is not has each.
func TestMachine(t *testing.T) {
	machine := func(ready, routineUS, diskMS float64) (list []string) {
		switched := &threads.Result{Readies: 9, Times: threads.Times{RunningMS: 1000, ReadyMS: ready}, Threads: []threads.Thread{{PID: 4}, {PID: 7, TID: 70, Times: threads.Times{ReadyMS: ready}}}}
		disks := &system.FilesResult{Files: []system.FileFacts{{PID: 7, Disks: []system.DiskFacts{{Reads: 2, MS: diskMS}}}}}
		for _, f := range Machine(new(system.Result), switched, &interrupts.Result{Times: interrupts.Times{Count: 3, LongestUS: routineUS}}, disks, new(system.FaultsResult)) {
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

// A disk that was busy most of the time is told with who used it, and the time of requests, in all
// and its own; one that was not is not.
func TestBusyDisk(t *testing.T) {
	disks := &system.FilesResult{ElapsedMS: 1000, Busy: []system.DiskTime{{Disk: 0, BusyMS: 400}, {Disk: 1, BusyMS: 900}}, Files: []system.FileFacts{
		{PID: 7, Process: "shop.exe", Disks: []system.DiskFacts{{Disk: 0, Reads: 9, MS: 400, ServiceMS: 400}, {Disk: 1, Writes: 10, MS: 200, ServiceMS: 90}}},
		{PID: 8, Process: "backup.exe", Disks: []system.DiskFacts{{Disk: 1, Writes: 40, MS: 800, ServiceMS: 810}}},
	}}
	list := Machine(new(system.Result), new(threads.Result), new(interrupts.Result), disks, new(system.FaultsResult))
	want := "Disk 1 was busy for 90.0 % of the time, for backup.exe (8) 90.0 % of that. 50 requests took 20.0 ms on average, of which it served each for 18.0 ms."
	if len(list) != 1 || list[0].ID != "machine.diskBusy" || list[0].Text != want {
		t.Errorf("%+v, want %s", list, want)
	}
}

// Processors without samples, requests without an answer and hard faults are told, if they matter.
func TestMachineRest(t *testing.T) {
	usage := &system.Result{Processes: []system.ProcessFacts{{PID: 0, RanMS: measure.Known(9000)}, {PID: 7, Name: "shop.exe", RanMS: measure.Known(250)}, {PID: 8, RanMS: measure.Known(750)}}}
	disks := &system.FilesResult{ElapsedMS: 2000, Busy: []system.DiskTime{{BusyMS: 1500}}, Unanswered: []system.Unanswered{{PID: 7, TID: 70, Process: "shop.exe", AtMS: 500, MS: 1500}},
		Files: []system.FileFacts{{PID: 7, Disks: []system.DiskFacts{{Reads: 1, MS: 20, ServiceMS: 1500}}}}}
	faults := &system.FaultsResult{Faults: []system.FaultFacts{{PID: 7, Faults: 1, MS: 50}, {Path: `C:\a.dll`, PID: 8, Faults: 9, MS: 150}}}
	var got []string
	for _, f := range Machine(usage, new(threads.Result), new(interrupts.Result), disks, faults) {
		got = append(got, f.ID+": "+f.Text)
	}
	want := []string{
		"machine.ran: Threads ran for 1.00 s, those of a process (8) for 75.0 % of that.",
		"machine.diskBusy: Disk 0 was busy for 75.0 % of the time, for a process (7) 100 % of that. 1 request took 20.0 ms on average, of which it served each for 1.50 s.",
		"machine.unanswered: 1 request to a disk has no answer in the trace: that of thread 70 of shop.exe (7), asked at 0.500 s, for 1.50 s.",
		`machine.faults: Threads waited for 200 ms until memory that they touched came from files, in 10 hard faults; 150 ms of it for C:\a.dll of a process (8).`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	disks.Partial = true
	got = nil
	for _, f := range Machine(new(system.Result), new(threads.Result), new(interrupts.Result), disks, new(system.FaultsResult)) {
		got = append(got, f.Text)
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "Disk 0 was busy for at least 75.0 %") {
		t.Errorf("of a part of the recording: %q", got)
	}
	usage.Samples, faults.Faults, disks.Busy, disks.Partial, disks.Unanswered[0].MS = 1, faults.Faults[:1], nil, false, 900
	if got := Machine(usage, new(threads.Result), new(interrupts.Result), disks, faults); len(got) > 0 {
		t.Errorf("a machine that is well: %+v", got)
	}
}

// Of a process with fewer samples than chance adds to those of the first nothing is said; of one alone it is.
func TestFew(t *testing.T) {
	for _, x := range []struct {
		samples, most int
		few           bool
	}{{3, 3701, true}, {121, 3701, true}, {122, 3701, false}, {5, 5, false}, {2, 2, false}, {2, 3, false}, {0, 0, false}} {
		if Few(x.samples, x.most) != x.few {
			t.Errorf("%d samples beside %d: %v", x.samples, x.most, !x.few)
		}
	}
}
