package symbols

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Module is a managed module of a process.
type Module struct {
	ID         uint64
	ILPath     string // file with the IL, or the name of a dynamic module
	NativePath string // file with precompiled code, "" if there is none
	PDB        PDB    // of the compiler
	NativePDB  PDB    // of the precompiled code
	BuildID    string // of the precompiled code, in hexadecimal
}

// A PDB identifies a file with debug information.
type PDB struct {
	GUID etw.GUID
	Age  uint32
	Path string // when the module was built
}

// Name returns the name of the module, without folder and extension.
func (m Module) Name() string { return moduleName(m.ILPath) }

func moduleName(path string) string {
	path = paths.Base(path)
	for _, ext := range []string{".dll", ".exe"} {
		if n := len(path) - len(ext); n > 0 && strings.EqualFold(path[n:], ext) {
			path = path[:n]
		}
	}
	return strings.TrimSuffix(path, ".ni")
}

// A moduleLife is a module, and when it was first heard of.
type moduleLife struct {
	Module
	from int64
	next int32 // the module with the same id that came after it, or 0
}

// moduleIndex returns the number of the module with an id, which need not be known.
func (p *process) moduleIndex(id uint64) int32 {
	if i, ok := p.moduleIDs[id]; ok {
		return i
	}
	if p.moduleIDs == nil {
		p.moduleIDs = make(map[uint64]int32)
	}
	i := int32(len(p.modules))
	p.modules = append(p.modules, moduleLife{Module: Module{ID: id}, from: always})
	p.moduleIDs[id] = i
	return i
}

// learnModule takes an event of a module. An id of which another file is known is used
// again.
func (p *process) learnModule(at int64, m Module) {
	i := p.moduleIndex(m.ID)
	known := &p.modules[i]
	switch {
	case known.ILPath == "":
		known.Module = m
	case known.ILPath == m.ILPath:
		if known.PDB.GUID == (etw.GUID{}) && m.PDB.GUID != (etw.GUID{}) {
			known.Module = m
		}
	default:
		next := int32(len(p.modules))
		known.next = next
		p.modules = append(p.modules, moduleLife{Module: m, from: at})
		p.moduleIDs[m.ID] = next
	}
}

// moduleAt returns the module that a method means, which was there at a time: of
// those with its id the last that began before, if it was heard of late the first.
func (p *process) moduleAt(i int32, at int64) *Module {
	for n := p.modules[i].next; n != 0 && p.modules[n].from <= at; n = p.modules[n].next {
		i = n
	}
	return &p.modules[i].Module
}
