package system

import (
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Machine is the machine of a trace, as its records describe it: its processes, threads
// and images over time, its volumes, disks and processors. It is asked while records are
// dispatched, or at the end, when it also knows the facts that only the end of a recording
// tells.
type Machine struct {
	axis
	processes    map[int64]*Process // the latest of each id
	threads      map[int64]*Thread
	allProcesses []*Process
	allThreads   []*Thread
	kernel       Images
	volumes      volumes
	services     map[service]string
	versions     map[build][]FileVersion
	facts        Facts
	power        [powerClasses]int // the places of the states that last, counted from 1
	origins      []origin
	mappings     mappings
	linux        linux
	fields       dyn.Reader
	met          int64 // the process of the last record that no handler took
}

// Of returns the machine that all handlers of a mux share. Its own are registered when it
// is first asked for: do that before you register those that ask it.
func Of(mux *etw.Mux) *Machine { return etw.Shared(mux, begin) }

func begin(mux *etw.Mux) *Machine {
	m := &Machine{
		processes: make(map[int64]*Process),
		threads:   make(map[int64]*Thread),
		services:  make(map[service]string),
		versions:  make(map[build][]FileVersion),
	}
	m.watchProcesses(mux)
	m.watchThreads(mux)
	m.watchImages(mux)
	m.watchIdentities(mux)
	m.watchVersions(mux)
	m.watchProvided(mux)
	m.watchConfig(mux)
	m.watchOrigins(mux)
	m.watchRuntimes(mux)
	mux.HandleRest(m.record)
	return m
}

// Time returns when r was logged, in the ticks that all times of a machine are in:
// those of the clock of its first record.
func (m *Machine) Time(r *etw.Record) int64 { return m.at(r) }

// MS returns a time in milliseconds since the session began.
func (m *Machine) MS(at int64) float64 { return m.since(at) }

// Processes returns all processes in the order in which they came up, also those
// of which nothing but the id did.
func (m *Machine) Processes() []*Process { return m.allProcesses }

// Threads returns all threads in the order in which they came up.
func (m *Machine) Threads() []*Thread { return m.allThreads }

// Kernel returns the images of the kernel, which all processes share.
func (m *Machine) Kernel() *Images { return &m.kernel }

// Image returns the image that an address of a process was in at a time, be it of
// the process or of the kernel, or nil. The process may be nil.
func (m *Machine) Image(p *Process, address uint64, at int64) *Image {
	if p != nil {
		if i := p.Images.At(address, at); i != nil {
			return i
		}
	}
	return m.kernel.At(address, at)
}

// ImageAt returns the image that an address of a process was in at a time, or nil.
func (m *Machine) ImageAt(pid int64, address uint64, at time.Time) *Image {
	if m.clock == nil {
		return nil
	}
	ticks := m.clock.Ticks(when.FileTime(at.UnixNano()))
	return m.Image(m.ProcessAt(pid, ticks), address, ticks)
}

// Native returns the file of native code at an address of a process at a time. Where there is none, it
// is told for how long that is so.
func (m *Machine) Native(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	if m.clock == nil {
		return symbols.Native{}, false
	}
	ticks := m.clock.Ticks(when.FileTime(at.UnixNano()))
	held := constant{ticks, math.MinInt64, math.MaxInt64}
	for p := m.processes[pid]; p != nil; p = p.earlier {
		held.bound(&p.Lifetime)
	}
	p := m.ProcessAt(pid, ticks)
	if p != nil {
		p.Images.hold(address, &held)
	}
	m.kernel.hold(address, &held)
	n := symbols.Native{}
	if held.from != math.MinInt64 || held.to != math.MaxInt64 {
		n.From, n.To = m.nanoseconds(held.from), m.nanoseconds(held.to)
	}
	i := m.Image(p, address, ticks)
	if i == nil {
		return n, false
	}
	n.Module, n.Offset, n.TimeDateStamp, n.ImageSize, n.IL = m.Path(i.Path), address-i.Base, i.TimeDateStamp, uint32(i.Size), i.ILPDB != (PDB{})
	n.PDB = symbols.PDB{GUID: i.PDB.GUID, Age: i.PDB.Age, Path: i.PDB.Name}
	return n, true
}

// nanoseconds returns a time in nanoseconds since 1970.
func (m *Machine) nanoseconds(ticks int64) int64 {
	if ticks == math.MinInt64 || ticks == math.MaxInt64 {
		return ticks
	}
	return when.Of(&etw.Record{Clock: m.clock, Timestamp: ticks})
}

// A constant is the span around a time in which lives do not begin or end.
type constant struct{ at, from, to int64 }

func (c *constant) bound(l *Lifetime) {
	if l.Started {
		c.changes(l.Start)
	}
	if l.Ended {
		c.changes(l.End + 1)
	}
}

func (c *constant) changes(at int64) {
	if at <= c.at {
		c.from = max(c.from, at)
	} else {
		c.to = min(c.to, at)
	}
}

// images returns those of the process with an id that has it now. 0 is the kernel.
func (m *Machine) images(pid uint32) *Images {
	if pid == 0 {
		return &m.kernel
	}
	return &m.hasProcess(int64(pid)).Images
}
