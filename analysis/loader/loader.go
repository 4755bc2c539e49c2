// Package loader follows the loads of a .NET program: assemblies and modules, where they
// were looked for, and the time that loading types takes. Use it when a start takes long, or
// when an assembly is not found.
//
// Microsoft-Windows-DotNETRuntime with the keyword Loader (0x8) at level 4 writes the loads,
// AssemblyLoader (0x4) the look-ups of assemblies, and TypeDiagnostic (0x8000000000) the
// loads of types.
package loader

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows loads in the records that a [etw.Mux] dispatches.
type Analysis struct{ runtimes lives.Table[state] }

type runtime = lives.Runtime[state]

type state struct {
	assemblies list[Assembly]
	modules    list[Module]
	appDomains int
	binds      spans.Table[bind]
	bound      []Bind
	durations  []float64
	stages     map[stageKey]int
	probes     map[probeKey]int
	handlers   int
	types      typeLoads
	methods    int
	bytes      uint64
	seen       bool
}

// A list has all loads in order, and those still loaded by id.
type list[T any] struct {
	all  []T
	byID map[uint64]int
	gone map[uint64]int // that were unloaded: a runtime that ends unloads all, and then has the rundown list them
	late []T            // that only the rundown has
}

func (l *list[T]) load(id uint64, v T) {
	if l.byID == nil {
		l.byID = make(map[uint64]int)
	}
	l.byID[id] = len(l.all)
	l.all = append(l.all, v)
}

// unload returns the owner of an id, and gives up the id; or nil.
func (l *list[T]) unload(id uint64) *T {
	i, ok := l.byID[id]
	if !ok {
		return nil
	}
	delete(l.byID, id)
	if i < 0 {
		return nil // the rundown had it, which says nothing of times
	}
	if l.gone == nil {
		l.gone = make(map[uint64]int)
	}
	l.gone[id] = i
	return &l.all[i]
}

// there lists the owner of an id, if its load was not seen.
func (l *list[T]) there(id uint64, v T, same func(x, y *T) bool) {
	if _, ok := l.byID[id]; ok {
		return
	}
	if i, ok := l.gone[id]; ok && same(&l.all[i], &v) {
		return
	}
	if l.byID == nil {
		l.byID = make(map[uint64]int)
	}
	l.byID[id] = -1
	l.late = append(l.late, v)
}

func (l *list[T]) result() []T { return slices.Concat(l.late, l.all, []T{}) }

type bind struct {
	Bind
	activity etw.GUID
	at       int64
}

type stageKey struct {
	stage  clr.ResolutionAttemptedStage
	result clr.ResolutionAttemptedResult
}

type probeKey struct {
	source clr.KnownPathSource
	result int32
}

// Needs are the events of loads, and of look-ups.
var Needs = []need.Need{{What: "loading", Provider: need.CLR, Keywords: 0xc, Names: "Loader and AssemblyLoader", Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{}
	a.runtimes.Watch(mux)
	a.handleAssemblies(mux)
	a.handleModules(mux)
	a.handleMethods(mux)
	a.handleBinds(mux)
	a.handleStages(mux)
	a.handleTypes(mux)
	return a
}

func (a *Analysis) handleAssemblies(mux *etw.Mux) {
	t := &a.runtimes
	of := func(name etw.UTF16, flags clr.AssemblyFlags, at measure.Float) Assembly {
		return Assembly{Name: name.String(), LoadedMS: at, Dynamic: flags&clr.AssemblyFlagsDynamic != 0, Collectible: flags&clr.AssemblyFlagsCollectible != 0}
	}
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyAssemblyLoad) {
		rt.State.seen = true
		rt.State.assemblies.load(e.AssemblyID, of(e.FullyQualifiedAssemblyName, e.AssemblyFlags, measure.Known(rt.At(rt.Now))))
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyAssemblyUnload) {
		if v := rt.State.assemblies.unload(e.AssemblyID); v != nil {
			v.UnloadedMS = measure.Known(rt.At(rt.Now))
		}
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.AnyAssemblyDCEnd) {
		rt.State.seen = true
		rt.State.assemblies.there(e.AssemblyID, of(e.FullyQualifiedAssemblyName, clr.AssemblyFlags(e.AssemblyFlags), measure.Float{}),
			func(x, y *Assembly) bool { return x.Name == y.Name })
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.AnyAppDomainLoad) { rt.State.appDomains++ })
}

func (a *Analysis) handleModules(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyModuleLoad) {
		m := module(e.ModuleILPath, e.ModuleNativePath, e.ModuleFlags, e.ManagedPdbSignature, e.ManagedPdbAge)
		m.LoadedMS = measure.Known(rt.At(rt.Now))
		rt.State.seen = true
		rt.State.modules.load(e.ModuleID, m)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyModuleUnload) {
		if v := rt.State.modules.unload(e.ModuleID); v != nil {
			v.UnloadedMS = measure.Known(rt.At(rt.Now))
		}
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.AnyModuleDCEnd) {
		rt.State.seen = true
		rt.State.modules.there(e.ModuleID, module(e.ModuleILPath, e.ModuleNativePath, clr.ModuleFlags(e.ModuleFlags), e.ManagedPdbSignature, e.ManagedPdbAge),
			func(x, y *Module) bool { return x.Path == y.Path })
	})
}

func module(path, native etw.UTF16, flags clr.ModuleFlags, pdb etw.GUID, age uint32) Module {
	m := Module{Path: path.String(), NativePath: native.String(), PDBAge: age,
		ReadyToRun:  flags&clr.ModuleFlagsReadyToRunModule != 0,
		Partial:     flags&clr.ModuleFlagsPartialReadyToRunModule != 0,
		NativeImage: flags&clr.ModuleFlagsNative != 0,
		Dynamic:     flags&clr.ModuleFlagsDynamic != 0}
	if !pdb.IsZero() {
		m.PDB = pdb.String()
	}
	return m
}

func (a *Analysis) handleMethods(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyMethodLoadVerbose) {
		rt.State.methods++
		rt.State.bytes += uint64(e.MethodSize)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyMethodLoad) {
		rt.State.methods++
		rt.State.bytes += uint64(e.MethodSize)
	})
}

// handleBinds pairs the look-ups of assemblies, by their activity if they have
// one, else by thread.
func (a *Analysis) handleBinds(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AssemblyLoadStart) {
		s := &rt.State
		s.seen = true
		s.binds.Push(r.ThreadID, bind{activity: r.ActivityID, at: rt.Now, Bind: Bind{
			Requested: e.AssemblyName.String(), Path: e.AssemblyPath.String(),
			Requesting: e.RequestingAssembly.String(), Context: e.AssemblyLoadContext.String()}})
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AssemblyLoadStop) {
		s := &rt.State
		s.seen = true
		b, _, ok := s.binds.PopMatch(r.ThreadID, func(b *bind) bool { return b.activity == r.ActivityID })
		if !ok {
			return // it began before the trace did
		}
		b.StartMS, b.DurationMS = rt.At(b.at), rt.MS(rt.Now-b.at)
		b.Success, b.Cached = e.Success.True(), e.Cached.True()
		b.Result, b.ResultPath = e.ResultAssemblyName.String(), e.ResultAssemblyPath.String()
		s.bound = append(s.bound, b.Bind)
		s.durations = append(s.durations, b.DurationMS)
	})
}

// handleStages counts the steps of binds.
func (a *Analysis) handleStages(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ResolutionAttempted) {
		if rt.State.stages == nil {
			rt.State.stages = make(map[stageKey]int)
		}
		rt.State.stages[stageKey{e.Stage, e.Result}]++
		if b := rt.State.binds.Top(r.ThreadID); b != nil && e.ErrorMessage.Len() > 0 {
			b.Errors = append(b.Errors, e.ErrorMessage.String())
		}
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.KnownPathProbed) {
		if rt.State.probes == nil {
			rt.State.probes = make(map[probeKey]int)
		}
		rt.State.probes[probeKey{e.Source, e.Result}]++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.AssemblyLoadContextResolvingHandlerInvoked) {
		rt.State.handlers++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.AppDomainAssemblyResolveHandlerInvoked) { rt.State.handlers++ })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.AssemblyLoadFromResolveHandlerInvoked) { rt.State.handlers++ })
}

// typeLoads are the loads of types. Times are ticks.
type typeLoads struct {
	open                 spans.Table[typeLoad]
	count                int
	inclusive, exclusive int64
	levels               map[uint16]*level
	longest              top.List[TypeLoad]
	series               measure.Series
}

type typeLoad struct {
	id     uint32
	at     int64
	nested int64
}

type level struct {
	count int
	ticks int64
}

func (a *Analysis) handleTypes(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.TypeLoadStart) {
		rt.State.seen = true
		rt.State.types.open.Push(r.ThreadID, typeLoad{id: e.TypeLoadStartID, at: rt.Now})
	})
	lives.On(t, mux, typeLoaded)
}

func typeLoaded(rt *runtime, r *etw.Record, e *clr.TypeLoadStop) {
	s := &rt.State.types
	l, lost, ok := s.open.PopMatch(r.ThreadID, func(l *typeLoad) bool { return l.id == e.TypeLoadStartID })
	if !ok {
		return
	}
	for i := range lost {
		l.nested += lost[i].nested
	}
	inclusive := rt.Now - l.at
	exclusive := inclusive - l.nested
	if outer := s.open.Top(r.ThreadID); outer != nil {
		outer.nested += inclusive
	}
	s.count++
	s.inclusive += inclusive
	s.exclusive += exclusive
	if s.levels == nil {
		s.levels = make(map[uint16]*level)
	}
	lv := s.levels[e.LoadLevel]
	if lv == nil {
		lv = new(level)
		s.levels[e.LoadLevel] = lv
	}
	lv.count++
	lv.ticks += exclusive
	s.series.Add(rt.At(rt.Now), rt.MS(exclusive))
	if ms := rt.MS(inclusive); s.longest.Wants(ms) {
		s.longest.Add(ms, TypeLoad{e.TypeName.String(), rt.At(l.at), ms, rt.MS(exclusive), int(e.LoadLevel)})
	}
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if rt.State.seen || rt.State.methods > 0 {
			res.Runtimes = append(res.Runtimes, rt.State.result(rt))
		}
	}
	return res
}

func (s *state) result(rt *runtime) *Runtime {
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life,
		Assemblies: s.assemblies.result(), Modules: s.modules.result(), AppDomains: s.appDomains,
		Binds: append([]Bind{}, s.bound...), BindMS: measure.Summarize(slices.Clone(s.durations)), Handlers: s.handlers,
		Types: s.types.result(rt), Methods: s.methods, MethodBytes: s.bytes}
	for i := range s.bound {
		if !s.bound[i].Success {
			out.Failed++
		}
		if s.bound[i].Cached {
			out.Cached++
		}
	}
	for k, n := range s.stages {
		out.Stages = append(out.Stages, Stage{k.stage.String(), k.result.String(), n})
	}
	for k, n := range s.probes {
		result := "found"
		if k.result != 0 {
			result = "not found"
		}
		out.Probes = append(out.Probes, Stage{k.source.String(), result, n})
	}
	sortStages(out.Stages)
	sortStages(out.Probes)
	return out
}

func sortStages(list []Stage) {
	order.Sort(list, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Result, b.Result))
	})
}

// result returns the time that loading types took, or nil if that is not known.
func (s *typeLoads) result(rt *runtime) *TypeLoads {
	open := len(s.open.Open())
	if s.count+open == 0 {
		return nil
	}
	out := &TypeLoads{Count: s.count, InclusiveMS: rt.MS(s.inclusive), ExclusiveMS: rt.MS(s.exclusive),
		Open: open, LostStops: s.open.Lost, Levels: []Level{}, Longest: s.longest.All(), Series: s.series.Clone()}
	for k, v := range s.levels {
		out.Levels = append(out.Levels, Level{int(k), v.count, rt.MS(v.ticks)})
	}
	order.Sort(out.Levels, func(a, b Level) int { return cmp.Compare(a.Level, b.Level) })
	return out
}
