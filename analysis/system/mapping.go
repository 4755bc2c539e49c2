package system

import (
	"encoding/json"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A mapping is a part of a file that Linux has mapped into a process.
type mapping struct {
	pid         int64
	start, end  uint64
	path        string
	at          int64
	description uint64 // what the recorder found the file to be; 0 if nothing
	id          uint64
	seen        bool // the recorder saw it being mapped; else it found it there
}

// lastOfPage are the lowest bits of the last address of a page: mappings that a recorder
// saw being made have that in place of their end.
const lastOfPage = 0xfff

// vdso is the recorders' name of the part of the kernel that each program gets when it is
// started, and only then.
const vdso = "[vdso]"

// runsAnother takes that a process had a new program in its memory by a time. Mappings of
// its parent are gone since it was given its name. Of other mappings the times are too rough
// to tell: those that are found are said to be there from the start.
func (p *Process) runsAnother(m *Machine, at int64) {
	from := at
	switch {
	case len(p.Execs) > 0:
		from = p.Execs[len(p.Execs)-1].At
	case p.Started && p.Start <= at:
		from = p.Start
	}
	for base, i := range p.Images.open {
		if !i.inherited || i.Started && i.Start >= from {
			continue
		}
		i.end(from)
		delete(p.Images.open, base)
		delete(m.mappings.latest, mapped{p, i.Path})
	}
}

// mappings are the mappings of processes of Linux. Recorders tell of all, and elsewhere,
// before or after that, which files are programs or libraries.
type mappings struct {
	waiting map[uint64][]mapping // for what describes their file
	files   map[uint64]program   // by the number of the description
	latest  map[mapped]*Image
}

// mapped is a file in a process.
type mapped struct {
	process *Process
	path    string
}

// A program is a recorder's description of a file with code.
type program struct {
	Type    string `json:"type"` // ELF or PE, and empty for other files
	BuildID string `json:"build_id"`
}

// linuxKernel is the recorders' name of the kernel.
const linuxKernel = "vmlinux"

// recordMapping takes events of files in processes by recorders of Linux.
func (m *Machine) recordMapping(r *etw.Record) {
	x := mapping{pid: r.ProcessID, start: m.fields.Value("StartAddress").Uint(), end: m.fields.Value("EndAddress").Uint(), path: m.fields.Text("FileName"), at: m.at(r),
		description: m.fields.Value("MetadataId").Uint()}
	if x.end&lastOfPage == lastOfPage && x.path != linuxKernel {
		x.end++
		x.seen = true
	}
	if x.pid > 0 && x.path != linuxKernel {
		x.id = m.fields.Value("Id").Uint()
		m.inherits(x.id, x.pid)
	}
	switch p, known := m.mappings.files[x.description]; {
	case x.end <= x.start:
	case x.path == linuxKernel:
		i := m.kernel.has(x.start)
		m.kernel.resize(i, x.end-x.start)
		i.Path = x.path
	case x.path == vdso && x.seen:
		m.processOf(x.pid).runsAnother(m, x.at)
	case !strings.HasPrefix(x.path, "/"), x.description == 0, x.pid <= 0:
	case known:
		m.mapProgram(x, p)
	default:
		if m.mappings.waiting == nil {
			m.mappings.waiting = make(map[uint64][]mapping)
		}
		m.mappings.waiting[x.description] = append(m.mappings.waiting[x.description], x)
	}
}

// describeMapping takes a recorder's description of a file.
func (m *Machine) describeMapping() {
	var p program
	if json.Unmarshal([]byte(m.fields.Text("SymbolMetadata")), &p) != nil {
		p = program{}
	}
	id := m.fields.Value("Id").Uint()
	if m.mappings.files == nil {
		m.mappings.files = make(map[uint64]program)
	}
	m.mappings.files[id] = p
	for _, x := range m.mappings.waiting[id] {
		m.mapProgram(x, p)
	}
	delete(m.mappings.waiting, id)
}

// isInherited reports whether a mapping is one of the process's parent.
func (m *Machine) isInherited(x mapping) bool { return m.linux.firstWith[x.id] != x.pid }

// alignment is how far apart the sections of a PE file may lie.
const alignment = 1 << 16

// mapProgram adds a mapping to the image that it is a part of: parts of a file lie
// next to each other.
func (m *Machine) mapProgram(x mapping, p program) {
	if p.Type == "" {
		return
	}
	process := m.processOf(x.pid)
	s, key := &process.Images, mapped{process, x.path}
	gap := uint64(0)
	if p.Type == "PE" {
		gap = alignment
	}
	if i := m.mappings.latest[key]; i != nil && x.start <= i.limit()+gap && i.Base <= x.end+gap && !i.Ended {
		limit := max(i.limit(), x.end)
		if x.start < i.Base {
			delete(s.open, i.Base)
			i.Base = x.start
			s.open[i.Base] = i
		}
		s.resize(i, limit-i.Base)
		i.inherited = i.inherited && m.isInherited(x)
		return
	}
	i := s.has(x.start)
	s.resize(i, x.end-x.start)
	i.Path, i.BuildID, i.inherited = x.path, p.BuildID, m.isInherited(x)
	if x.seen && x.at > m.first {
		i.start(x.at)
	}
	if m.mappings.latest == nil {
		m.mappings.latest = make(map[mapped]*Image)
	}
	m.mappings.latest[key] = i
}
