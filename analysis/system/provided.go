package system

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Provided are the providers with manifests that a [Machine], a [Network] and [Files] are told by,
// beside the classic events of the kernel.
var Provided = []*etw.Provider{process.Provider, network.Provider, file.Provider, disk.Provider, power.Provider}

// near reports whether two times are those of one thing, which both ways tell.
func (x *axis) near(a, b int64) bool {
	const most = 1 // millisecond
	d := x.ms(float64(a - b))
	return -most <= d && d <= most
}

// watchProvided follows the events of processes, threads and images that have manifests.
func (m *Machine) watchProvided(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *process.AnyStart) {
		m.startProcess(int64(e.ProcessID), m.at(r), 0).provided(e.ParentProcessID, e.SessionID, e.ImageName, e.PackageFullName, e.PackageRelativeAppID)
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyRundown) {
		m.at(r)
		m.hasProcess(int64(e.ProcessID)).provided(e.ParentProcessID, e.SessionID, e.ImageName, e.PackageFullName, e.PackageRelativeAppID)
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyStop) {
		p := m.stopProcess(int64(e.ProcessID), m.at(r), 0)
		if p.Name == "" {
			p.Name = e.ImageName.String()
		}
		p.ExitCode, p.HasExitCode = int64(e.ExitCode), true
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyThreadStart) {
		m.startThread(int64(e.ThreadID), int64(e.ProcessID), m.at(r)).tell(etw.UTF16{}, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyThreadStop) {
		m.stopThread(int64(e.ThreadID), int64(e.ProcessID), m.at(r)).tell(etw.UTF16{}, e.Win32StartAddr, e.SubProcessTag)
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyImageLoad) {
		s, at, base := m.images(e.ProcessID), m.at(r), uint64(e.ImageBase)
		i := s.open[base]
		if i == nil || !i.Started || !m.near(i.Start, at) {
			i = s.load(base, at)
		}
		s.tell(i, uint64(e.ImageSize), e.ImageName, e.TimeDateStamp, e.ImageCheckSum)
	})
	hear.On(mux, func(r *etw.Record, e *process.AnyImageUnload) {
		s, at, base := &m.kernel, m.at(r), uint64(e.ImageBase)
		if e.ProcessID != 0 {
			s = &m.processOf(int64(e.ProcessID)).Images
		}
		if s.open[base] == nil && s.unloaded(base, func(end int64) bool { return m.near(end, at) }) {
			return
		}
		s.tell(s.unload(base, at), uint64(e.ImageSize), e.ImageName, e.TimeDateStamp, e.ImageCheckSum)
	})
}

// unloaded reports whether the latest image at a base was unloaded at such a time.
func (s *Images) unloaded(base uint64, such func(end int64) bool) bool {
	for k := len(s.all) - 1; k >= 0; k-- {
		if i := s.all[k]; i.Base == base {
			return i.Ended && such(i.End)
		}
	}
	return false
}

// provided takes over the facts of an event with a manifest about the process. A classic one
// says more, if there is one.
func (p *Process) provided(parent, session uint32, image, pkg, app etw.UTF16) {
	if p.ParentPID < 0 {
		p.ParentPID = int64(parent)
	}
	if p.Session < 0 && session != noID {
		p.Session = int64(session)
	}
	if p.Path == "" {
		p.Path = image.String()
	}
	if p.Name == "" {
		p.Name = p.Path[strings.LastIndexByte(p.Path, '\\')+1:]
	}
	if p.Package == "" {
		p.Package, p.App = pkg.String(), app.String()
	}
}
