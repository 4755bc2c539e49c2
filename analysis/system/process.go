package system

import (
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Process is one life of a process id. Unknown texts are empty, and unknown numbers -1.
type Process struct {
	Lifetime
	PID       int64
	ParentPID int64
	// Name is that of the program's file, without its folder.
	Name string
	// Path is that of the program's file, as the trace has it: [Machine.Path] returns the
	// usual form.
	Path        string
	CommandLine string
	// User is the SID that the process runs as.
	User string
	// Session is that of the desktop.
	Session int64
	// Package and App are those of an app from the store.
	Package, App string
	// ExitCode is the exit code of the process, if HasExitCode.
	ExitCode    int64
	HasExitCode bool
	// Narrow says that it is a 32-bit process on a 64-bit system.
	Narrow bool
	// Zombie says that it had ended before the recording, and was still listed as
	// somebody held on to it.
	Zombie bool
	// OS, Architecture and Runtime are a .NET process's own account.
	OS, Architecture, Runtime string

	// Threads are in the order in which they came up.
	Threads []*Thread
	Images  Images

	// Execs are the programs that it has put in its own place, on Linux, in their order.
	Execs []Exec

	told    bool   // on Linux: an event said that it ended, or a thread of it
	existed bool   // on Linux: it was there when the recording began
	guessed bool   // on Linux: ParentPID is that of who has the same memory
	key     uint64 // the address of the kernel's object, or 0
	named   bool   // an event was about it; else only its id came up
	life    int    // how many had the id before
	earlier *Process
	// followed says that another one had the id afterwards.
	followed bool
}

// An Exec is when a process began to run another program, and its name before.
type Exec struct {
	At     int64
	Before string
}

// A Thread is one life of a thread id.
type Thread struct {
	Lifetime
	TID int64
	// Process is nil as long as nothing tells whose thread it is.
	Process *Process
	// Name is the program's name for it.
	Name string
	// StartAddress is where it began to run, or 0.
	StartAddress uint64

	index   int    // among all threads
	tag     uint32 // of the service that it works for, or 0
	earlier *Thread
}

// Process returns the latest process with an id, or nil.
func (m *Machine) Process(pid int64) *Process { return m.processes[pid] }

// ProcessAt returns the process that had an id at a time, or nil.
func (m *Machine) ProcessAt(pid, at int64) *Process {
	for p := m.processes[pid]; p != nil; p = p.earlier {
		if p.Covers(at) {
			return p
		}
	}
	return nil
}

// Thread returns the latest thread with an id, or nil.
func (m *Machine) Thread(tid int64) *Thread { return m.threads[tid] }

// ThreadAt returns the thread that had an id at a time, or nil.
func (m *Machine) ThreadAt(tid, at int64) *Thread {
	for t := m.threads[tid]; t != nil; t = t.earlier {
		if t.Covers(at) {
			return t
		}
	}
	return nil
}

// systemProcess is the process of the kernel of Windows, whose files have origins.
const systemProcess = 4

// addProcess begins a new life of an id.
//
//go:noinline
func (m *Machine) addProcess(pid int64) *Process {
	p := &Process{PID: pid, ParentPID: -1, Session: -1, earlier: m.processes[pid]}
	if p.earlier != nil {
		p.life, p.earlier.followed = p.earlier.life+1, true
	}
	if pid == systemProcess && len(m.origins) > 0 { // also where no list of processes says so
		p.Name = "System"
	}
	m.processes[pid] = p
	m.allProcesses = append(m.allProcesses, p)
	return p
}

// hasProcess returns the process that has an id now. One that is not known, or of
// which the end is, is a new one that the recording came upon.
func (m *Machine) hasProcess(pid int64) *Process {
	if p := m.processes[pid]; p != nil && !p.Ended {
		return p
	}
	return m.addProcess(pid)
}

// processOf returns the latest process with an id, also if it has ended: its last
// threads and images may go later.
func (m *Machine) processOf(pid int64) *Process {
	if p := m.processes[pid]; p != nil {
		return p
	}
	return m.addProcess(pid)
}

// startProcess returns the process that starts now. Events of two sessions about
// the same start are about one process.
func (m *Machine) startProcess(pid, at int64, key uint64) *Process {
	if p := m.processes[pid]; p != nil && !p.Ended {
		if p.Started && (m.near(p.Start, at) || key != 0 && p.key == key) {
			return p
		}
		p.end(at) // which the trace does not have
	}
	p := m.addProcess(pid)
	p.start(at)
	return p
}

// stopProcess returns the process that ends now.
func (m *Machine) stopProcess(pid, at int64, key uint64) *Process {
	p := m.processes[pid]
	if p == nil || p.Ended && !m.near(p.End, at) && (key == 0 || p.key != key) {
		p = m.addProcess(pid)
	}
	if !p.Ended {
		p.end(at)
	}
	return p
}

// addThread begins a new life of an id.
func (m *Machine) addThread(tid int64, p *Process) *Thread {
	t := &Thread{TID: tid, earlier: m.threads[tid], index: len(m.allThreads)}
	m.threads[tid] = t
	m.allThreads = append(m.allThreads, t)
	t.of(p)
	return t
}

// of says whose thread t is.
func (t *Thread) of(p *Process) {
	if p != nil && t.Process == nil {
		t.Process = p
		p.Threads = append(p.Threads, t)
	}
}

// HasThread returns the thread that an event with an id is about, which goes on for
// a moment when its end has been logged. One that is not known is new, of a process
// that has the id pid, or is not known if pid is negative.
func (m *Machine) HasThread(tid, pid int64) *Thread {
	t := m.threads[tid]
	if t == nil {
		t = m.addThread(tid, nil)
	}
	if t.Process == nil && pid >= 0 {
		t.of(m.processOf(pid))
	}
	return t
}

// Asker returns the thread with an id that asked for the operation of an event, or nil if
// the event names none.
func (m *Machine) Asker(r *etw.Record, tid int64) *Thread {
	if tid < 0 || tid == math.MaxUint32 {
		return nil
	}
	return m.Named(r, tid)
}

// AskerAt is Asker for an operation that began before the event: the id may be another thread's by then.
func (m *Machine) AskerAt(r *etw.Record, tid, begun int64) *Thread {
	if t := m.ThreadAt(tid, begun); t != nil {
		return t
	}
	return m.Asker(r, tid)
}

// Named returns the thread with an id that an event names. Of which process it is, the event
// tells if the thread logged it; threads 0, of which each processor has one, are of process 0.
func (m *Machine) Named(r *etw.Record, tid int64) *Thread {
	pid := int64(-1)
	switch tid {
	case 0:
		pid = 0
	case r.ThreadID:
		pid = r.ProcessID
	}
	return m.HasThread(tid, pid)
}

// IDs returns the ids of a thread and of its process, -1 for an unknown one. Of nil both are
// unknown.
func (t *Thread) IDs() (pid, tid int64) {
	if t == nil {
		return -1, -1
	}
	if t.Process == nil {
		return -1, t.TID
	}
	return t.Process.PID, t.TID
}

// Program is the name of the process of t, or "".
func (t *Thread) Program() string {
	if t.Process == nil {
		return ""
	}
	return t.Process.Name
}

// listThread returns the thread that has an id now, by a list of those that there
// are.
func (m *Machine) listThread(tid, pid int64) *Thread {
	if t := m.threads[tid]; t != nil && t.Ended {
		m.addThread(tid, nil)
	}
	return m.HasThread(tid, m.hasProcess(pid).PID)
}

// startThread returns the thread that starts now.
func (m *Machine) startThread(tid, pid, at int64) *Thread {
	if t := m.threads[tid]; t != nil && !t.Ended {
		if t.Started && m.near(t.Start, at) && t.Process == m.processes[pid] {
			return t
		}
		t.end(at)
	}
	t := m.addThread(tid, m.hasProcess(pid))
	t.start(at)
	return t
}

// stopThread returns the thread that ends now.
func (m *Machine) stopThread(tid, pid, at int64) *Thread {
	t := m.threads[tid]
	if t == nil || t.Ended && !(m.near(t.End, at) && (t.Process == nil || t.Process.PID == pid)) {
		t = m.addThread(tid, nil)
	}
	t.of(m.processOf(pid)) // which may have ended just before
	if !t.Ended {
		t.end(at)
	}
	return t
}
