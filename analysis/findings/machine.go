package findings

import (
	"cmp"
	"fmt"

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
	for _, busy := range d.Busy {
		if part := 100 * busy.BusyMS / max(d.ElapsedMS, 1); part > mostlyBusy {
			f.busyDisk(d, busy, part)
		}
	}
	for _, x := range (system.DisksResult{FilesResult: d}).Disks() {
		n := x.Reads + x.Writes + x.Flushes
		if mean := x.MS / float64(max(n, 1)); mean >= slowDisk {
			f.add("machine.disk", Look, "Disk %d answered %s after %s on average.", x.Disk, things("requests", int64(n), "request", "requests"), span("meanMs", mean))
		}
	}
	return f.list
}

// busyDisk says who used a disk that was busy for a part of the time, in percent, of which others may not
// be in the answer, and how long requests took, in all and on the disk: the rest they waited for others before them.
func (f *finder) busyDisk(d *system.FilesResult, busy system.DiskTime, part float64) {
	type user struct {
		pid  system.ID
		name string
	}
	var sum, of system.DiskFacts
	var most user
	by := make(map[user]float64)
	for i := range d.Files {
		x := &d.Files[i]
		for _, t := range x.Disks {
			if t.Disk != busy.Disk {
				continue
			}
			sum.Reads, sum.MS, sum.ServiceMS = sum.Reads+t.Reads+t.Writes+t.Flushes, sum.MS+t.MS, sum.ServiceMS+t.ServiceMS
			k := user{x.PID, x.Process}
			if by[k] += t.ServiceMS; by[k] > of.ServiceMS {
				of.ServiceMS, most = by[k], k
			}
		}
	}
	if sum.Reads == 0 || of.ServiceMS == 0 {
		return
	}
	name := cmp.Or(most.name, "a process")
	if !most.pid.IsZero() {
		name += fmt.Sprintf(" (%d)", most.pid)
	}
	f.add("machine.diskBusy", Look, "Disk %d was busy for %s of the time, for %s %s of that. %s took %s on average, of which it served each for %s.",
		busy.Disk, share("busyPercent", part), name, share("userPercent", 100*of.ServiceMS/max(sum.ServiceMS, busy.BusyMS)),
		things("requests", int64(sum.Reads), "request", "requests"), span("meanMs", sum.MS/float64(sum.Reads)), span("serviceMs", sum.ServiceMS/float64(sum.Reads)))
}
