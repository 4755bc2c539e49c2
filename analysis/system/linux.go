package system

import (
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The providers of recorders of Linux.
const (
	linuxSystem = "Universal.System"
	linuxEvents = "Universal.Events"
)

// linux holds events of processes by recorders of Linux, as long as their meaning is open.
type linux struct {
	seen bool
	// forks are those whose child has not been met, by its number for the whole machine:
	// recorders give processes the numbers of their namespace, and the kernel does not.
	forks map[int64]fork
	// tids are the numbers that recorders give threads, by those of the kernel.
	tids map[int64]int64
	// firstWith is the process that a mapping was first seen in, by the mapping's number.
	// A child has those of its parent.
	firstWith map[uint64]int64
}

// A fork is that a process made another, or a thread.
type fork struct {
	parent int64
	at     int64
	name   string
}

// isTracepoint reports whether a schema is of an event of the kernel of Linux.
func isTracepoint(d *etw.EventDesc) bool {
	return len(d.Fields) > 0 && d.Fields[0].Name == "common_type"
}

// ThreadOf returns the thread that the kernel of Linux numbers so, or nil if no record
// was of it.
func (m *Machine) ThreadOf(kernels int64) *Thread {
	if tid, ok := m.linux.tids[kernels]; ok {
		return m.threads[tid]
	}
	return nil
}

// recordLinux takes the events of recorders of Linux.
func (m *Machine) recordLinux(r *etw.Record) {
	m.linux.seen = true
	at := m.at(r)
	switch {
	case r.ProviderName == linuxSystem:
		m.recordSystem(r, at)
		return
	case r.ThreadID <= 0:
		return
	}
	p := m.processOf(r.ProcessID)
	p.revive(m, at)
	if r.ProcessID > 0 {
		m.HasThread(r.ThreadID, r.ProcessID)
	}
	if r.ProviderName != linuxEvents {
		m.recordTracepoint(r, p, at)
	}
}

// recordSystem takes events of processes and their memory.
func (m *Machine) recordSystem(r *etw.Record, at int64) {
	if !m.fields.Read(r) && len(r.Schema.Fields) > 0 {
		return
	}
	switch r.Schema.Name {
	case "ExistingProcess":
		p := m.hasProcess(r.ProcessID)
		p.Name, p.existed = m.fields.Text("Name"), true
		if child := m.processes[p.ParentPID]; p.guessed { // it is the other way round
			p.ParentPID, p.guessed = -1, false
			if child != nil {
				child.guessParent(m, p)
			}
		}
	case "ProcessCreate":
		m.createProcess(r.ProcessID, at, m.fields.Text("Name"))
	case "ProcessExit":
		p := m.processOf(r.ProcessID)
		if !p.Ended {
			p.end(at)
			p.told = true
		}
	case "ProcessMapping":
		m.recordMapping(r)
	case "ProcessMappingMetadata":
		m.describeMapping()
	}
}

// createProcess takes that Linux tells of a process: of a new one, or that one has
// another name, mostly since it runs another program.
func (m *Machine) createProcess(pid, at int64, name string) {
	p := m.processes[pid]
	if p == nil || p.Ended {
		p = m.addProcess(pid)
	}
	if !p.existed && !p.Started {
		p.start(at)
	}
	if p.Name != "" && p.Name != name {
		p.Execs = append(p.Execs, Exec{at, p.Name})
	}
	p.Name = name
	m.child(p, pid)
}

// endSlack is for how long after its end events of a process may come, in seconds: it is
// still in the kernel.
const endSlack = 0.01

// revive takes that a process does something, also if an event said that it has ended:
// recorders say it of threads, too.
func (p *Process) revive(m *Machine, at int64) {
	if p.Ended && p.told && float64(at-p.End) > endSlack*m.frequency() {
		p.Ended, p.End, p.told = false, 0, false
	}
}

// recordTracepoint takes an event of the kernel on a thread of a process.
func (m *Machine) recordTracepoint(r *etw.Record, p *Process, at int64) {
	const pidAt = 4
	if len(r.Payload) < pidAt+4 {
		return
	}
	kernels := int64(int32(binary.LittleEndian.Uint32(r.Payload[pidAt:])))
	if kernels > 0 && r.ProcessID > 0 {
		if m.linux.tids == nil {
			m.linux.tids = make(map[int64]int64)
		}
		m.linux.tids[kernels] = r.ThreadID
		if r.ThreadID == r.ProcessID {
			m.child(p, kernels)
		}
	}
	if r.ProviderName != "sched" {
		return
	}
	switch r.Schema.Name {
	case "sched_process_fork", "sched_process_exec", "sched_switch":
		if known := tracepoints.Of(r); known != nil && m.fields.ReadAs(known.Events[0], r) {
			m.recordScheduler(r, p, at)
		}
	}
}

// recordScheduler takes an event of the scheduler, of which the fields were read.
func (m *Machine) recordScheduler(r *etw.Record, p *Process, at int64) {
	switch r.Schema.Name {
	case "sched_process_fork":
		if m.linux.forks == nil {
			m.linux.forks = make(map[int64]fork)
		}
		m.linux.forks[m.fields.Value("child_pid").Int()] = fork{p.PID, at, m.fields.Text("child_comm")}
	case "sched_process_exec":
		// The name of a process is cut after 15 bytes; that of its file is not.
		file := m.fields.Text("filename")
		if name := file[strings.LastIndexByte(file, '/')+1:]; strings.HasPrefix(name, p.Name) && len(p.Name) >= maxComm {
			p.Name = name
		}
	case "sched_switch":
		if r.ProcessID > 0 {
			if name := m.fields.Text("prev_comm"); name != p.Name {
				m.HasThread(r.ThreadID, r.ProcessID).Name = name
			}
		}
	}
}

// maxComm is how many bytes the kernel keeps of the name of a thread.
const maxComm = 15

// child takes that p is the process which the kernel numbers so, if one was forked.
func (m *Machine) child(p *Process, kernels int64) {
	f, ok := m.linux.forks[kernels]
	if !ok || f.parent == p.PID {
		return // it is a thread
	}
	delete(m.linux.forks, kernels)
	if p.existed {
		return
	}
	p.ParentPID, p.guessed = f.parent, false
	if !p.Started || f.at < p.Start {
		p.start(f.at)
	}
	p.Name = cmp.Or(p.Name, f.name)
}

// inherits takes that a process has a mapping. One that has the number of another
// process's is its child: it was forked when that had the mapping.
func (m *Machine) inherits(id uint64, pid int64) {
	if m.linux.firstWith == nil {
		m.linux.firstWith = make(map[uint64]int64)
	}
	first, ok := m.linux.firstWith[id]
	if !ok {
		m.linux.firstWith[id] = pid
		return
	}
	p, other := m.processOf(pid), m.processes[first]
	if first == pid || other == nil {
		return
	}
	if p.existed && !other.existed {
		m.linux.firstWith[id] = pid
	}
	p.guessParent(m, other)
	other.guessParent(m, p)
}

// guessParent takes that a process has a mapping of another, which is the parent of the
// two or has the same: it is the parent if it was there when the recording began, and
// this was not. Events of the same time have no order, so that may be known only later.
func (p *Process) guessParent(m *Machine, other *Process) {
	switch {
	case p.existed, p.ParentPID >= 0 && !p.guessed, other.guessed && other.ParentPID == p.PID:
		return
	case p.ParentPID >= 0: // another guess
		if parent := m.processes[p.ParentPID]; parent != nil && parent.existed || !other.existed {
			return
		}
	}
	p.ParentPID, p.guessed = other.PID, true
}
