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
}

// mappings are what is mapped into processes of Linux. Recorders tell of all that is,
// and elsewhere, before or after that, which files are programs or libraries.
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

// A program is what a recorder says of a file with code.
type program struct {
	Type    string `json:"type"` // ELF or PE, and empty for other files
	BuildID string `json:"build_id"`
}

// linuxKernel is what recorders call the kernel.
const linuxKernel = "vmlinux"

// recordMapping takes what recorders of Linux tell of files in processes.
func (m *Machine) recordMapping(r *etw.Record) {
	x := mapping{pid: r.ProcessID, start: m.fields.Value("StartAddress").Uint(), end: m.fields.Value("EndAddress").Uint(), path: m.fields.Text("FileName"), at: m.at(r),
		description: m.fields.Value("MetadataId").Uint()}
	switch p, known := m.mappings.files[x.description]; {
	case x.end <= x.start:
	case x.path == linuxKernel:
		i := m.kernel.has(x.start)
		m.kernel.resize(i, x.end-x.start)
		i.Path = x.path
	case !strings.HasPrefix(x.path, "/"), x.description == 0, x.pid < 0:
	case known:
		m.mapProgram(x, p)
	default:
		if m.mappings.waiting == nil {
			m.mappings.waiting = make(map[uint64][]mapping)
		}
		m.mappings.waiting[x.description] = append(m.mappings.waiting[x.description], x)
	}
}

// describeMapping takes what a recorder found a file to be.
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

// mapProgram adds a mapping to the image that it is a part of: parts of a file lie
// next to each other.
func (m *Machine) mapProgram(x mapping, p program) {
	if p.Type == "" {
		return
	}
	process := m.processOf(x.pid)
	s, key := &process.Images, mapped{process, x.path}
	if i := m.mappings.latest[key]; i != nil && x.start <= i.limit() && i.Base <= x.end {
		limit := max(i.limit(), x.end)
		if x.start < i.Base {
			delete(s.open, i.Base)
			i.Base = x.start
			s.open[i.Base] = i
		}
		s.resize(i, limit-i.Base)
		return
	}
	i := s.has(x.start)
	s.resize(i, x.end-x.start)
	i.Path, i.BuildID = x.path, p.BuildID
	if x.at > m.first {
		i.start(x.at)
	}
	if m.mappings.latest == nil {
		m.mappings.latest = make(map[mapped]*Image)
	}
	m.mappings.latest[key] = i
}
