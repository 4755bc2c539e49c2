package system

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// noID is a 32-bit id that stands for none.
const noID = 0xffffffff

// watchProcesses follows the kernel's events of processes. The process is that of
// the payload: the header of a start is the parent's.
func (m *Machine) watchProcesses(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyProcessStart) {
		m.startProcess(int64(e.ProcessID), m.at(r), uint64(e.UniqueProcessKey)).tell(e)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyProcessDCStart) {
		m.at(r)
		m.hasProcess(int64(e.ProcessID)).tell((*kernel.AnyProcessStart)(e))
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyProcessDCStop) {
		m.at(r)
		m.hasProcess(int64(e.ProcessID)).tell((*kernel.AnyProcessStart)(e))
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyProcessStop) {
		p := m.stopProcess(int64(e.ProcessID), m.at(r), uint64(e.UniqueProcessKey))
		p.tell((*kernel.AnyProcessStart)(e))
		if e.Seen.Layout >= 1 {
			p.ExitCode, p.HasExitCode = int64(e.ExitStatus), true
		}
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyProcessDefunct) { m.zombie(e, m.at(r)) })
}

// tell takes over the facts of an event about the process.
func (p *Process) tell(e *kernel.AnyProcessStart) {
	if p.named {
		return
	}
	p.named = true
	p.key = uint64(e.UniqueProcessKey)
	p.ParentPID = int64(e.ParentID)
	if e.HasSessionID() && e.SessionID != noID {
		p.Session = int64(e.SessionID)
	}
	p.User = e.UserSID.String()
	if name := e.ImageFileName.String(); name == "" || !strings.HasPrefix(p.Name, name) { // it may be cut
		p.Name = name
	}
	p.CommandLine = e.CommandLine.String()
	p.Package, p.App = e.PackageFullName.String(), e.ApplicationID.String()
	p.Narrow = e.Flags&kernel.ProcessFlagsWow64 != 0
}

// zombie takes an event about a process that has ended, and that the kernel still
// lists. If the recording has not seen that, it ended before.
func (m *Machine) zombie(e *kernel.AnyProcessDefunct, at int64) {
	pid, key := int64(e.ProcessID), uint64(e.UniqueProcessKey)
	for p := m.processes[pid]; p != nil; p = p.earlier {
		if p.key == key && p.named {
			if !p.Ended {
				p.end(at)
			}
			p.ExitCode, p.HasExitCode = int64(e.ExitStatus), true
			return
		}
	}
	p := &Process{PID: pid, Session: -1, Zombie: true}
	if latest := m.processes[pid]; latest != nil { // the id is another's now
		p.earlier, latest.earlier = latest.earlier, p
	} else {
		m.processes[pid] = p
	}
	m.allProcesses = append(m.allProcesses, p)
	p.tell(&kernel.AnyProcessStart{
		Seen: etw.Seen{Version: 4, Layout: 4}, UniqueProcessKey: e.UniqueProcessKey, ParentID: etw.Pointer(e.ParentID),
		SessionID: e.SessionID, Flags: e.Flags, UserSID: e.UserSID, ImageFileName: e.ImageFileName,
		CommandLine: e.CommandLine, PackageFullName: e.PackageFullName, ApplicationID: e.ApplicationID,
	})
	p.ExitCode, p.HasExitCode = int64(e.ExitStatus), true
	p.end(m.first)
}

// watchThreads follows the kernel's events of threads.
func (m *Machine) watchThreads(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadStart) {
		m.startThread(int64(e.TThreadID), int64(e.ProcessID), m.at(r)).tell(e.ThreadName, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadDCStart) {
		m.at(r)
		m.listThread(int64(e.TThreadID), int64(e.ProcessID)).tell(e.ThreadName, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadDCStop) {
		m.at(r)
		m.listThread(int64(e.TThreadID), int64(e.ProcessID)).tell(e.ThreadName, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadStop) {
		m.stopThread(int64(e.TThreadID), int64(e.ProcessID), m.at(r)).tell(e.ThreadName, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadSetName) {
		m.at(r)
		m.listThread(int64(e.ThreadID), int64(e.ProcessID)).Name = e.ThreadName.String()
	})
}

// tell takes over the facts of an event about the thread.
func (t *Thread) tell(name etw.UTF16, start etw.Pointer, tag uint32) {
	if name.Len() > 0 && t.Name == "" {
		t.Name = name.String()
	}
	t.StartAddress = cmp.Or(t.StartAddress, uint64(start))
	t.tag = cmp.Or(t.tag, tag)
}

// watchImages follows the kernel's events of images. The process is that of the
// payload; 0 stands for the kernel.
func (m *Machine) watchImages(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageLoad) {
		s := m.images(e.ProcessID)
		s.tell(s.load(uint64(e.ImageBase), m.at(r)), uint64(e.ImageSize), e.FileName, e.TimeDateStamp, e.ImageChecksum)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageDCStart) {
		m.at(r)
		s := m.images(e.ProcessID)
		s.tell(s.has(uint64(e.ImageBase)), uint64(e.ImageSize), e.FileName, e.TimeDateStamp, e.ImageChecksum)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageDCStop) {
		m.at(r)
		s := m.images(e.ProcessID)
		s.tell(s.has(uint64(e.ImageBase)), uint64(e.ImageSize), e.FileName, e.TimeDateStamp, e.ImageChecksum)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageUnload) {
		at := m.at(r)
		s := &m.kernel
		if e.ProcessID != 0 {
			s = &m.processOf(int64(e.ProcessID)).Images
		}
		s.tell(s.unload(uint64(e.ImageBase), at), uint64(e.ImageSize), e.FileName, e.TimeDateStamp, e.ImageChecksum)
	})
}

// tell takes over the facts of an event about an image. The time stamp is 0 in all rundowns
// of user mode.
func (s *Images) tell(i *Image, size uint64, path etw.UTF16, stamp, checksum uint32) {
	s.resize(i, size)
	if i.Path == "" || i.inferred {
		i.Path, i.inferred = path.String(), false
	}
	i.TimeDateStamp = cmp.Or(i.TimeDateStamp, stamp)
	i.Checksum = cmp.Or(i.Checksum, checksum)
}

// watchIdentities follows the events that the merging of traces adds: the names of the
// symbols of images.
func (m *Machine) watchIdentities(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageIDInfo) {
		s := m.images(e.ProcessID)
		i := s.identify(uint64(e.ImageBase), m.at(r))
		if i.inferred {
			s.resize(i, uint64(e.ImageSize))
			i.Path = e.OriginalFileName.String()
		}
		i.named, i.original = build{e.TimeDateStamp, uint64(e.ImageSize)}, e.OriginalFileName.String()
		i.TimeDateStamp = cmp.Or(e.TimeDateStamp, i.TimeDateStamp)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageIDDbgIDRSDS) {
		m.images(e.ProcessID).identify(uint64(e.ImageBase), m.at(r)).PDB.tell(&e.ImageIDDbgIDRSDSV2)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyImageIDDbgIDILRSDS) {
		m.images(e.ProcessID).identify(uint64(e.ImageBase), m.at(r)).ILPDB.tell((*kernel.ImageIDDbgIDRSDSV2)(&e.ImageIDDbgIDILRSDSV2))
	})
}

// identify returns the image that is loaded at a base. Its identity is logged when it is loaded
// and when it is unloaded, at the same time, and may be in another file: then it comes before
// the event that says so, or after it.
func (s *Images) identify(base uint64, at int64) *Image {
	if i := s.open[base]; i != nil {
		return i
	}
	if i := s.left[base]; i != nil && i.End == at {
		return i
	}
	i := s.add(base)
	i.inferred = true
	return i
}

func (p *PDB) tell(e *kernel.ImageIDDbgIDRSDSV2) {
	if p.Name == "" {
		*p = PDB{e.PdbFileName.String(), e.GUIDSig, e.Age}
	}
}
