package symbols

import (
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis collects facts about code from the records that a [etw.Mux] dispatches.
type Analysis struct {
	options   options
	text      arena
	processes map[int64][]*process // the lives of each id, in their order
	last      *process
	memories  map[int64]*memory // native code, as recorders of Linux tell it
	files     map[uint64]fileID // of mappings, by their names
	codeAt    map[uint64]uint64 // where the code of ELF files begins, by the same
}

// An Option says which facts are collected.
type Option func(*options)

type options struct{ maps bool }

// ILOffsets has the maps from native code to IL kept, so that
// [Location.ILOffset] knows them.
func ILOffsets() Option { return func(o *options) { o.maps = true } }

// Needs are the methods that are compiled while it is recorded, and the list of all at the
// end. That is the rundown, for which a session of EventPipe has an option of its own.
var Needs = []need.Need{
	{What: "methods and modules", Provider: need.CLR, Keywords: 0x38, Names: "Loader, Jit and NGen", Level: etw.LevelVerbose},
	{What: "the rundown", Provider: "Microsoft-Windows-DotNETRuntimeRundown", Keywords: 0x138, Names: "Loader, Jit, NGen and End", Level: etw.LevelVerbose},
}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux, opts ...Option) *Analysis {
	asked := need.Ask(mux, Needs)
	a := &Analysis{processes: make(map[int64][]*process)}
	for _, o := range opts {
		o(&a.options)
	}
	a.watch(mux)
	a.handleLoads(mux)
	a.handleRundown(mux)
	a.handleOldRundown(mux)
	a.handleModules(mux)
	asked()
	if a.options.maps {
		a.handleMaps(mux)
	}
	mux.HandleRest(a.record)
	return a
}

// process returns the process of a record.
func (a *Analysis) process(r *etw.Record) *process {
	if p := a.last; p != nil && p.pid == r.ProcessID {
		return p
	}
	list := a.processes[r.ProcessID]
	if len(list) == 0 {
		return a.begin(r.ProcessID, always)
	}
	a.last = list[len(list)-1]
	return a.last
}

// begin begins a life of an id of a process.
func (a *Analysis) begin(pid, at int64) *process {
	p := &process{pid: pid, began: at, text: &a.text}
	a.processes[pid] = append(a.processes[pid], p)
	a.last = p
	return p
}

// cut notes that an id is of another process from now on.
func (a *Analysis) cut(r *etw.Record) {
	list := a.processes[r.ProcessID]
	if len(list) == 0 || list[len(list)-1].isEmpty() {
		return // nothing to tell apart
	}
	a.begin(r.ProcessID, when.Of(r))
}

func (p *process) isEmpty() bool { return p.methods.n+len(p.modules) == 0 }

// watch registers the handlers that tell the lives of process ids apart.
func (a *Analysis) watch(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, _ *lives.ProcessEvent) {
		if lives.IsCut(r) {
			a.cut(r)
		}
	})
	hear.On(mux, func(r *etw.Record, e *clr.RuntimeInformationStart) {
		if p := a.process(r); p.started[e.ClrInstanceID] {
			a.cut(r)
		}
		p := a.process(r)
		if p.started == nil {
			p.started = make(map[uint16]bool)
		}
		p.started[e.ClrInstanceID] = true
	})
}

func (a *Analysis) learn(r *etw.Record, origin Origin, c *code) {
	p := a.process(r)
	if origin == AtEnd {
		p.rundown++
	}
	p.learn(when.Of(r), origin, c)
}

func (a *Analysis) handleLoads(mux *etw.Mux) {
	verbose := func(r *etw.Record, o Origin, e *clr.AnyMethodLoadVerbose) {
		a.learn(r, o, &code{e.MethodID, e.ModuleID, e.MethodStartAddress, e.MethodSize, e.MethodToken, e.MethodFlags,
			e.ReJITID, e.MethodNamespace, e.MethodName, e.MethodSignature})
	}
	brief := func(r *etw.Record, o Origin, e *clr.AnyMethodLoad) {
		a.learn(r, o, &code{id: e.MethodID, module: e.ModuleID, start: e.MethodStartAddress, size: e.MethodSize,
			token: e.MethodToken, flags: e.MethodFlags, rejit: e.ReJITID})
	}
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodLoadVerbose) { verbose(r, Loaded, e) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodUnloadVerbose) {
		verbose(r, Unloaded, (*clr.AnyMethodLoadVerbose)(e))
	})
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodLoad) { brief(r, Loaded, e) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodUnload) { brief(r, Unloaded, (*clr.AnyMethodLoad)(e)) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyR2RGetEntryPoint) {
		a.learn(r, ByLookup, &code{id: e.MethodID, start: e.EntryPoint, size: e.MethodSize,
			space: e.MethodNamespace, name: e.MethodName, signature: e.MethodSignature})
	})
}

func (a *Analysis) handleRundown(mux *etw.Mux) {
	verbose := func(r *etw.Record, o Origin, e *rundown.AnyMethodDCEndVerbose) {
		a.learn(r, o, &code{e.MethodID, e.ModuleID, e.MethodStartAddress, e.MethodSize, e.MethodToken, clr.MethodFlags(e.MethodFlags),
			e.ReJITID, e.MethodNamespace, e.MethodName, e.MethodSignature})
	}
	brief := func(r *etw.Record, o Origin, e *rundown.AnyMethodDCEnd) {
		a.learn(r, o, &code{id: e.MethodID, module: e.ModuleID, start: e.MethodStartAddress, size: e.MethodSize,
			token: e.MethodToken, flags: clr.MethodFlags(e.MethodFlags), rejit: e.ReJITID})
	}
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCEndVerbose) { verbose(r, AtEnd, e) })
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCStartVerbose) {
		verbose(r, AtStart, (*rundown.AnyMethodDCEndVerbose)(e))
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCEnd) { brief(r, AtEnd, e) })
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCStart) { brief(r, AtStart, (*rundown.AnyMethodDCEnd)(e)) })
}

// handleOldRundown registers the events by which the oldest runtimes did a rundown.
func (a *Analysis) handleOldRundown(mux *etw.Mux) {
	verbose := func(r *etw.Record, o Origin, e *clr.MethodDCEndVerboseV2) {
		a.learn(r, o, &code{id: e.MethodID, module: e.ModuleID, start: e.MethodStartAddress, size: e.MethodSize, token: e.MethodToken,
			flags: e.MethodFlags, space: e.MethodNamespace, name: e.MethodName, signature: e.MethodSignature})
	}
	brief := func(r *etw.Record, o Origin, e *clr.MethodDCEndV2) {
		a.learn(r, o, &code{id: e.MethodID, module: e.ModuleID, start: e.MethodStartAddress, size: e.MethodSize,
			token: e.MethodToken, flags: e.MethodFlags})
	}
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodDCEndVerbose) { verbose(r, AtEnd, &e.MethodDCEndVerboseV2) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodDCStartVerbose) {
		verbose(r, AtStart, (*clr.MethodDCEndVerboseV2)(&e.MethodDCStartVerboseV2))
	})
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodDCEnd) { brief(r, AtEnd, &e.MethodDCEndV2) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodDCStart) {
		brief(r, AtStart, (*clr.MethodDCEndV2)(&e.MethodDCStartV2))
	})
}

func (a *Analysis) handleModules(mux *etw.Mux) {
	learn := func(r *etw.Record, m Module) { a.process(r).learnModule(when.Of(r), m) }
	full := func(r *etw.Record, id uint64, il, native etw.UTF16, pdb, nativePDB PDB, build etw.UTF16) {
		learn(r, Module{id, il.String(), native.String(), pdb, nativePDB, build.String()})
	}
	paths := func(r *etw.Record, id uint64, il, native etw.UTF16) {
		learn(r, Module{ID: id, ILPath: il.String(), NativePath: native.String()})
	}
	hear.On(mux, func(r *etw.Record, e *clr.AnyModuleLoad) {
		full(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath, pdb(e.ManagedPdbSignature, e.ManagedPdbAge, e.ManagedPdbBuildPath),
			pdb(e.NativePdbSignature, e.NativePdbAge, e.NativePdbBuildPath), e.NativeBuildID)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyModuleDCEnd) {
		full(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath, pdb(e.ManagedPdbSignature, e.ManagedPdbAge, e.ManagedPdbBuildPath),
			pdb(e.NativePdbSignature, e.NativePdbAge, e.NativePdbBuildPath), e.NativeBuildID)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyModuleDCStart) {
		full(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath, pdb(e.ManagedPdbSignature, e.ManagedPdbAge, e.ManagedPdbBuildPath),
			pdb(e.NativePdbSignature, e.NativePdbAge, e.NativePdbBuildPath), nil)
	})
	hear.On(mux, func(r *etw.Record, e *clr.AnyDomainModuleLoad) {
		paths(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyDomainModuleDCEnd) {
		paths(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyDomainModuleDCStart) {
		paths(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath)
	})
	hear.On(mux, func(r *etw.Record, e *clr.AnyModuleDCEnd) { paths(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyModuleDCStart) { paths(r, e.ModuleID, e.ModuleILPath, e.ModuleNativePath) })
}

func pdb(id etw.GUID, age uint32, path etw.UTF16) PDB { return PDB{id, age, path.String()} }
