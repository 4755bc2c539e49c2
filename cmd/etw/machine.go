package main

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A machine is what all answers about the machine have: what a trace tells of it,
// and which processes are asked for.
type machine struct {
	*system.Machine
	chosen filter.Numbers
}

func newMachine(mux *etw.Mux) machine {
	return machine{Machine: system.Of(mux)}
}

func (m *machine) choose(processes filter.Numbers) { m.chosen = processes }

// machineFacts prints what is known of the machine.
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
		p.line("memory", "%d MB", f.MemoryMB)
	}
	for _, d := range f.Disks {
		var drives []string
		for _, part := range d.Partitions {
			drives = append(drives, strings.TrimSpace(part.Drive+" "+part.FileSystem))
		}
		p.line(fmt.Sprintf("disk %d", d.Number), "%s", strings.TrimSpace(d.Model+" "+strings.Join(drives, ", ")))
	}
}

// unresolved says what the trace does not tell.
func unresolved(u system.Unresolved) []string {
	var list []string
	if u.Processes > 0 {
		list = append(list, fmt.Sprintf("of %s nothing but the number is known", count(u.Processes, "process", "processes")))
	}
	if u.Threads > 0 {
		list = append(list, fmt.Sprintf("of %s the process is not known", count(u.Threads, "thread", "threads")))
	}
	return list
}

// doubts says why little of an answer may be right: files are of several machines, or
// damaged.
func (m *machine) doubts() []string {
	var list []string
	if n := m.Unresolved().Times; n > 0 {
		list = append(list, fmt.Sprintf("the times of %s cannot be: those of the records before stand in for them", count(n, "record", "records")))
	}
	for _, text := range m.Origins() {
		list = append(list, text+": numbers of processes and addresses mean different things in them, and are mixed up here")
	}
	return list
}

// noPaths says that paths have no drives.
func noPaths(u system.Unresolved) []string {
	if u.Paths == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the trace does not tell the drives of %s", count(u.Paths, "path", "paths"))}
}

// zeroIsNone reports whether 0 tells nothing: as a sum it does not, as a point in
// time or an exit code it does.
func zeroIsNone(c column) bool { return c.measured && !c.rising }

// unlessEmpty leaves columns to programs that have nothing in any row, and returns
// t.
func (t *table) unlessEmpty(names ...string) *table {
	for _, name := range names {
		i := findColumn(t.columns, name)
		empty := true
		for _, row := range t.rows {
			empty = empty && (row[i] == "" || row[i] == "0" && zeroIsNone(t.columns[i]))
		}
		if empty {
			t.columns[i] = t.columns[i].forPrograms()
		}
	}
	return t
}
