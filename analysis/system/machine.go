package system

import (
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

// Native returns the file of native code at an address of a process at a time.
func (m *Machine) Native(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	i := m.ImageAt(pid, address, at)
	if i == nil {
		return symbols.Native{}, false
	}
	return symbols.Native{Module: m.Path(i.Path), Offset: address - i.Base, TimeDateStamp: i.TimeDateStamp,
		ImageSize: uint32(i.Size), IL: i.ILPDB != (PDB{}), PDB: symbols.PDB{GUID: i.PDB.GUID, Age: i.PDB.Age, Path: i.PDB.Name}}, true
}

// images returns those of the process with an id that has it now. 0 is the kernel.
func (m *Machine) images(pid uint32) *Images {
	if pid == 0 {
		return &m.kernel
	}
	return &m.hasProcess(int64(pid)).Images
}
