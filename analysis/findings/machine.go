package findings

import (
	"cmp"
	"fmt"

	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// Machine returns who used the processors of a machine, if no samples tell it, whether threads lacked
// them, whether drivers kept these from them, and whether disks answered late, or not at all.
func Machine(s *system.Result, t *threads.Result, i *interrupts.Result, d *system.FilesResult, h *system.FaultsResult) []Finding {
	f := &finder{part: "processes"}
	f.ran(s)
	f.part = "threads"
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
	f.disks(d)
	f.part = "faults"
	f.faults(h, d.ElapsedMS)
	return f.list
}

// ran says which process used processors most, by context switches: samples have a sentence of their own.
func (f *finder) ran(s *system.Result) {
	if s.Samples > 0 || !s.Exact() {
		return
	}
	var most *system.ProcessFacts
	sum := 0.0
	for k := range s.Processes {
		if x := &s.Processes[k]; x.PID != 0 { // processors that idle
			if sum += x.RanMS.Or(0); most == nil || x.RanMS.Or(0) > most.RanMS.Or(0) {
				most = x
			}
		}
	}
	if sum > 0 {
		f.add("machine.ran", Note, "Threads ran for %s, those of %s for %s of that.", span("ranMs", sum), processOf(most.Name, system.ID(most.PID)), share("mostPercent", 100*most.RanMS.Or(0)/sum))
	}
}

// processOf names a process.
func processOf(name string, pid system.ID) string {
	name = cmp.Or(name, "a process")
	if !pid.IsZero() {
		name += fmt.Sprintf(" (%d)", pid)
	}
	return name
}

// disks says which disks were busy, which answered late, and which requests none answered.
func (f *finder) disks(d *system.FilesResult) {
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
	if list := d.Unanswered; !d.Partial && len(list) > 0 && list[0].MS >= longUnanswered { // or the answer may be lost
		f.add("machine.unanswered", Look, "%s no answer in the trace: that of %s, asked at %s, for %s.",
			things("unanswered", len(list), "request to a disk has", "requests to disks have"), list[0].Asker(), moment("atMs", list[0].AtMS), span("longestMs", list[0].MS))
	}
}

// faults says how long threads waited for memory that came from files, if it was long, and for which
// file longest.
func (f *finder) faults(h *system.FaultsResult, elapsedMS float64) {
	sum := h.Sum()
	if sum.MS < leastFaults || 100*sum.MS < someFaults*elapsedMS {
		return
	}
	most := &h.Faults[0]
	for k := range h.Faults {
		if x := &h.Faults[k]; x.MS > most.MS {
			most = x
		}
	}
	f.add("machine.faults", Look, "Threads waited for %s until memory that they touched came from files, in %s; %s of it for %s of %s.",
		span("ms", sum.MS), things("faults", int64(sum.Faults), "hard fault", "hard faults"), span("mostMs", most.MS), cmp.Or(most.Path, "a file that is not known"), processOf(most.Process, most.PID))
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
	least := ""
	if d.Partial {
		least = "at least "
	}
	f.add("machine.diskBusy", Look, "Disk %d was busy for %s%s of the time, for %s %s of that. %s took %s on average, of which it served each for %s.",
		busy.Disk, least, share("busyPercent", part), processOf(most.name, most.pid), share("userPercent", 100*of.ServiceMS/max(sum.ServiceMS, busy.BusyMS)),
		things("requests", int64(sum.Reads), "request", "requests"), span("meanMs", sum.MS/float64(sum.Reads)), span("serviceMs", sum.ServiceMS/float64(sum.Reads)))
}
