package ask

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A machine is the common part of all answers about the machine: the facts of a trace about
// it, and which processes and threads are asked for.
type machine struct {
	*system.Machine
	asked filter.Header // its processes and threads alone
}

func newMachine(mux *etw.Mux) machine {
	return machine{Machine: system.Of(mux)}
}

// A machineAnswer is the findings of an analysis of the machine on the processes that are asked
// for.
type machineAnswer[R tabled] struct {
	machine
	viewed[R]
}

// A chosen function reports whether a process was asked for.
type chosen func(pid int64, name string) bool

// aboutMachine returns an answer that find finds, of the processes that are chosen.
func aboutMachine[R tabled](mux *etw.Mux, find func(chosen) R, facts func(*page, R)) *machineAnswer[R] {
	a := &machineAnswer[R]{machine: newMachine(mux)}
	a.viewed = viewed[R]{facts: facts, find: func() R { return find(a.asked.Program) }}
	return a
}

func (a *machineAnswer[R]) warnings() []string { return append(a.doubts(), a.viewed.warnings()...) }

func (m *machine) choose(h *filter.Header) {
	m.asked = filter.Header{Processes: h.Processes, Lives: h.Lives, Threads: h.Threads, Partial: h.Partial}
}

// parted reports whether some were asked for.
func (m *machine) parted() bool { return m.asked.Processes != nil || m.asked.Threads != nil }

// has reports whether a thread was asked for.
func (m *machine) has(pid int64, process string, tid int64) bool {
	return m.asked.Program(pid, process) && m.asked.Threads.Has(tid)
}

// hasNumbers is has where nothing tells the name.
func (m *machine) hasNumbers(pid, tid int64) bool {
	return m.asked.Processes.Has(pid) && m.asked.Threads.Has(tid)
}

// hasLane reports whether a lane is of a process or thread that was asked for.
func (m *machine) hasLane(l *timeline.Lane) bool {
	if l.Several() {
		return m.has(l.PID, l.Process, l.TID)
	}
	return m.hasNumbers(l.PID, l.TID)
}

// machineFacts prints the facts about the machine.
func machineFacts(p *page, f *system.Facts) {
	name := strings.TrimSpace("machine " + f.Computer)
	if f.Computer == "" && f.System == "" && f.Build == "" && f.Processors == 0 {
		return
	}
	p.title(name)
	p.line("system", "%s", strings.TrimSpace(f.System+" "+f.Build))
	p.line("model", "%s", strings.TrimSpace(f.Maker+" "+f.Model))
	if f.Processors > 0 {
		p.line("processors", "%s", strings.TrimSuffix(fmt.Sprintf("%d at %d MHz, %s", f.Processors, f.MHz, f.Processor), ", "))
		p.line("memory", "%s", show.Size(f.Memory()))
	}
	for _, d := range f.Disks {
		drives := each.Of(d.Partitions, func(part system.Partition) string { return strings.TrimSpace(part.Drive + " " + part.FileSystem) })
		p.line(fmt.Sprintf("disk %d", d.Number), "%s", strings.TrimSpace(d.Model+" "+strings.Join(drives, ", ")))
	}
	for _, a := range f.Adapters {
		if a.Hardware != "" && len(a.IP) > 0 { // the others are of no network
			p.line("adapter", "%s", strings.TrimSpace(a.Name+" "+a.Hardware+" "+strings.Join(a.IP, ", ")))
		}
	}
	if n := len(f.Services); n > 0 {
		p.line("services", "%d, of which %d run", n, f.Running())
	}
}

// doubts says why little of an answer may be right: files are of several machines, or
// damaged.
func (m *machine) doubts() []string {
	var list []string
	if n := m.Unresolved().Times; n > 0 {
		list = append(list, fmt.Sprintf("the times of %s cannot be: those of the records before stand in for them", show.Count(n, "record", "records")))
	}
	for _, text := range m.Origins() {
		list = append(list, text+": numbers of processes and addresses mean different things in them, and are mixed up here")
	}
	return list
}
