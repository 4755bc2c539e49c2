package system

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Schema is the version of the JSON form of the results of this package. Fields may
// be added to a version; one that is removed, or changes its meaning, makes a new
// version.
const Schema = 1

// A Result holds the facts about a machine.
type Result struct {
	Schema  int   `json:"schema"`
	Machine Facts `json:"machine"`
	// SampleMS is the time between samples.
	SampleMS  measure.Float  `json:"sampleMs,omitzero"`
	Processes []ProcessFacts `json:"processes"`
	Threads   []ThreadFacts  `json:"threads"`
	// KernelImages are the images of the kernel, which are of no process: with those
	// of the processes they are all of [Machine.ImagesResult].
	KernelImages int `json:"kernelImages"`
	// Samples and Switches count the events of processor time, and Gaps the points
	// at which switches are missing.
	Samples  uint64 `json:"samples"`
	Switches uint64 `json:"switches"`
	Gaps     uint64 `json:"gaps,omitempty"`
	// Unresolved counts events that the trace does not assign.
	Unresolved Unresolved `json:"unresolved"`
}

// ProcessFacts are the facts about a process.
type ProcessFacts struct {
	PID       int64  `json:"pid"`
	ParentPID ID     `json:"parentPid,omitzero"`
	Name      string `json:"name,omitempty"`
	// CommandLine is as the program was started.
	CommandLine string `json:"commandLine,omitempty"`
	User        string `json:"user,omitempty"`
	Session     ID     `json:"session,omitzero"`
	Package     string `json:"package,omitempty"`
	App         string `json:"app,omitempty"`
	// StartMS and EndMS are unknown if the recording has not seen the start or end.
	StartMS measure.Float `json:"startMs,omitzero"`
	EndMS   measure.Float `json:"endMs,omitzero"`
	// ExitCode is unknown if the process outlived the recording.
	ExitCode     measure.Float `json:"exitCode,omitzero"`
	Narrow       bool          `json:"narrow,omitempty"` // 32 bits on a 64-bit system
	Zombie       bool          `json:"zombie,omitempty"` // it had ended before
	OS           string        `json:"os,omitempty"`
	Architecture string        `json:"architecture,omitempty"`
	Runtime      string        `json:"runtime,omitempty"`
	// Execs are the programs that the process has put in its place, on Linux.
	Execs   []ExecFacts `json:"execs,omitempty"`
	Threads int         `json:"threads"`
	Images  int         `json:"images"`
	// SampledMS is the processor time that the samples of the process stand for, and
	// RanMS that between context switches. Each is unknown if there are no such
	// events in the trace.
	SampledMS measure.Float `json:"sampledMs,omitzero"`
	RanMS     measure.Float `json:"ranMs,omitzero"`
}

// ExecFacts are when a process began to run another program, and its name before.
type ExecFacts struct {
	AtMS   float64 `json:"atMs"`
	Before string  `json:"before"`
}

// OutsideName is the name of process 0 in traces of Linux: those outside of the namespace of
// the recorder have no numbers.
const OutsideName = "(outside)"

// ThreadFacts are the facts about a thread.
type ThreadFacts struct {
	PID     ID     `json:"pid,omitzero"`
	Process string `json:"process,omitempty"`
	TID     int64  `json:"tid"`
	Name    string `json:"name,omitempty"`
	// Service is the service of its process that the thread works for.
	Service      string        `json:"service,omitempty"`
	StartMS      measure.Float `json:"startMs,omitzero"`
	EndMS        measure.Float `json:"endMs,omitzero"`
	StartAddress etw.Pointer   `json:"startAddress,omitzero"`
	// Samples are those of the thread and SampledMS the time they stand for, Switches those
	// to the thread and RanMS the time that it ran between them. Each is unknown if there
	// are no such events in the trace.
	Samples   measure.Float `json:"samples,omitzero"`
	Switches  measure.Float `json:"switches,omitzero"`
	SampledMS measure.Float `json:"sampledMs,omitzero"`
	RanMS     measure.Float `json:"ranMs,omitzero"`
}

// Unresolved counts events that a trace does not assign.
type Unresolved struct {
	// Processes are those of which nothing but the id came up.
	Processes int `json:"processes"`
	// Threads are those of which the process is not known.
	Threads int `json:"threads"`
	// Samples are those of which the process is not known: they are in no row.
	Samples uint64 `json:"samples,omitempty"`
	// Paths are those of images whose drive is not known.
	Paths int `json:"paths"`
	// Times are the records of which the time cannot be that of the trace, since it
	// is damaged: they count as of the time of the record before.
	Times uint64 `json:"times,omitempty"`
}

// Result returns the findings so far. It shares no memory that changes with m.
func (m *Machine) Result() *Result { return m.result(nil) }

// Result returns the facts about the machine so far, with the processor time of its
// processes and threads. It shares no memory that changes with u.
func (u *Usage) Result() *Result { return u.machine.result(u) }

func (m *Machine) result(u *Usage) *Result {
	r := &Result{Schema: Schema, Machine: m.Facts(), Processes: []ProcessFacts{}, Threads: []ThreadFacts{}, Unresolved: m.Unresolved(),
		KernelImages: len(m.kernel.all)}
	placed := uint64(0)
	for _, p := range m.allProcesses {
		f := m.ProcessFacts(p)
		if u != nil {
			of := u.OfProcess(p)
			f.SampledMS, f.RanMS = u.times(of)
			placed += of.Samples
		}
		r.Processes = append(r.Processes, f)
	}
	for _, t := range m.allThreads {
		f := m.threadFacts(t)
		if u != nil {
			of := u.Of(t)
			if u.samples.All > 0 {
				f.Samples = measure.Known(float64(of.Samples))
			}
			if u.switches.All > 0 {
				f.Switches = measure.Known(float64(of.Switches))
			}
			f.SampledMS, f.RanMS = u.times(of)
		}
		r.Threads = append(r.Threads, f)
	}
	if u != nil {
		r.Samples, r.Switches, r.Gaps = u.Samples(), u.Switches(), u.Gaps()
		r.Unresolved.Samples = r.Samples - placed
		if u.samples.All > 0 {
			r.SampleMS = measure.Known(u.intervalMS())
		}
	}
	order.Stable(r.Processes, func(a, b ProcessFacts) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.StartMS.Or(-1), b.StartMS.Or(-1)))
	})
	order.Stable(r.Threads, func(a, b ThreadFacts) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.StartMS.Or(-1), b.StartMS.Or(-1)))
	})
	return r
}

// times returns the processor time of a use, in both ways.
func (u *Usage) times(of ThreadUsage) (sampled, ran measure.Float) {
	if u.samples.All > 0 {
		sampled = measure.Known(of.SampledMS())
	}
	if u.switches.All > 0 && !u.rested {
		ran = measure.Known(u.RanMS(of))
	}
	return sampled, ran
}

func (m *Machine) threadFacts(t *Thread) ThreadFacts {
	f := ThreadFacts{TID: t.TID, Name: t.Name, Service: m.Service(t), StartAddress: etw.Pointer(t.StartAddress)}
	f.PID, f.Process = t.Process.label()
	f.StartMS, f.EndMS = m.Span(&t.Lifetime)
	return f
}

// label returns the id and name of a process, which may be nil.
func (p *Process) label() (pid ID, name string) {
	if p == nil {
		return -1, ""
	}
	return ID(p.PID), p.Name
}

// ProcessFacts returns the facts about a process.
func (m *Machine) ProcessFacts(p *Process) ProcessFacts {
	f := ProcessFacts{
		PID: p.PID, ParentPID: ID(p.ParentPID), Name: p.Name, CommandLine: p.CommandLine, User: p.User, Session: ID(p.Session),
		Package: p.Package, App: p.App, Narrow: p.Narrow, Zombie: p.Zombie,
		OS: p.OS, Architecture: p.Architecture, Runtime: p.Runtime,
		Threads: len(p.Threads), Images: len(p.Images.all),
	}
	for _, x := range p.Execs {
		f.Execs = append(f.Execs, ExecFacts{m.since(x.At), x.Before})
	}
	if m.linux.seen && p.PID == 0 && f.Name == "" {
		f.Name = OutsideName
	}
	f.StartMS, f.EndMS = m.Span(&p.Lifetime)
	if p.Zombie {
		f.EndMS = measure.Float{} // before the session began, and when is not told
	}
	if p.HasExitCode {
		f.ExitCode = measure.Known(float64(p.ExitCode))
	}
	return f
}

// Span returns a lifetime in milliseconds since the session began. An end that the recording
// has not seen is unknown.
func (m *Machine) Span(l *Lifetime) (start, end measure.Float) {
	if l.Started {
		start = measure.Known(m.since(l.Start))
	}
	if l.Ended {
		end = measure.Known(m.since(l.End))
	}
	return start, end
}

// Unresolved counts events that are not assigned so far.
func (m *Machine) Unresolved() Unresolved {
	u := Unresolved{Times: m.wrong}
	paths := func(s *Images) {
		for _, i := range s.all {
			if isUnresolved(m.Path(i.Path)) {
				u.Paths++
			}
		}
	}
	paths(&m.kernel)
	for _, p := range m.allProcesses {
		if p.Name == "" && p.CommandLine == "" && p.PID != 0 {
			u.Processes++
		}
		paths(&p.Images)
	}
	for _, t := range m.allThreads {
		if t.Process == nil {
			u.Threads++
		}
	}
	return u
}
