// Package jit follows the methods that a .NET program compiles while it runs: which methods,
// how long it takes, in which tier and why, and which precompiled code is not used. Use it
// when a program starts slowly, or is slow until it has run for a while.
//
// # Events to enable
//
// Microsoft-Windows-DotNETRuntime with the keyword Jit (0x10) at level 5; NGen
// (0x20) at level 5 for precompiled code; CompilationDiagnostic (0x2000000000) for
// look-ups of it; Compilation (0x1000000000) for tiering; JitTracing (0x1000) at
// level 5 for inlining; Loader (0x8) for the names of modules.
//
// # Meaning of the numbers
//
// Times are by the clock, from the begin of a compilation to its end. Times in which the
// thread did not run, or the runtime had suspended it, are in them; the latter is told
// apart.
package jit

import (
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows compilations in the records that a [etw.Mux] dispatches.
type Analysis struct{ runtimes lives.Table[state] }

type runtime = lives.Runtime[state]

type state struct {
	open                spans.Table[compilation]
	methods             []method
	modules             map[uint64]string
	orphans             int
	series              measure.Series
	memory              Memory
	hasMemory           bool
	suspends            spans.Table[int64] // by thread
	suspended           int64              // ticks, of all suspensions that are over
	lastSuspended       int64              // the end of the last one
	lookups             spans.Table[lookup]
	looked              Lookups
	lookupTicks         int64
	rejected            int
	loaded              bool // whether loads of methods are told, of which some are rejected
	inlining, tailCalls decisions
	tiering             tiering
	multicore           map[int64]bool // threads
	samples             *stacks.Samples
	seen                bool
}

// A compilation is one that has begun. Times are ticks.
type compilation struct {
	method     uint64
	module     uint64
	begin      int64
	nested     int64 // of compilations within
	suspended  int64 // all suspensions until it began, or those within it
	il         uint32
	name       string
	allocated  uint64
	background bool
	depth      int
	time       int64     // on the scale of samples
	stack      stacks.ID // in the samples
}

// A method is a compilation that is over, or code without one.
type method struct {
	compilation
	end     int64
	thread  int64
	native  uint32
	flags   clr.MethodFlags
	version uint64
	orphan  bool
}

type lookup struct {
	method uint64
	begin  int64
}

type tiering struct {
	Tiering
	ticks  int64
	begin  int64
	busy   bool
	thread int64
	seen   bool
}

// Needs are begin and end of compilations.
var Needs = []need.Need{{What: "compiling", Provider: need.CLR, Keywords: 0x10, Names: "Jit", Level: etw.LevelVerbose, Events: [2]uint16{143, 145}}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{}
	t := &a.runtimes
	t.Watch(mux)
	lives.On(t, mux, begin)
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AnyMethodLoadVerbose) {
		m := method{native: e.MethodSize, flags: e.MethodFlags, version: e.ReJITID}
		m.method, m.module = e.MethodID, e.ModuleID
		if rt.State.end(rt, r.ThreadID, &m) {
			m.name = fullName(e.MethodNamespace, e.MethodName, e.MethodSignature)
			rt.State.orphan(m)
		}
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AnyMethodLoad) {
		m := method{native: e.MethodSize, flags: e.MethodFlags, version: e.ReJITID}
		m.method, m.module = e.MethodID, e.ModuleID
		if rt.State.end(rt, r.ThreadID, &m) {
			rt.State.orphan(m)
		}
	})
	lives.On(t, mux, allocated)
	a.handleModules(mux)
	a.handleSuspensions(mux)
	a.handleLookups(mux)
	a.handleTiering(mux)
	a.handleDecisions(mux)
	return a
}

func begin(rt *runtime, r *etw.Record, e *clr.AnyMethodJittingStarted) {
	s := &rt.State
	s.seen = true
	if s.samples == nil {
		s.samples = newSamples()
	}
	depth := 0
	if outer := s.open.Top(r.ThreadID); outer != nil {
		depth = outer.depth + 1
	}
	s.open.Push(r.ThreadID, compilation{
		method: e.MethodID, module: e.ModuleID, begin: rt.Now, il: e.MethodILSize, suspended: s.suspended,
		name: fullName(e.MethodNamespace, e.MethodName, e.MethodSignature), depth: depth,
		background: s.tiering.busy && s.tiering.thread == r.ThreadID,
		time:       when.Of(r), stack: s.samples.Intern(rt.PID, r.Stack),
	})
}

// fullName is the namespace, the name and the parameters.
func fullName(namespace, name, signature etw.UTF16) string {
	b := namespace.AppendTo(make([]byte, 0, 128))
	if len(b) > 0 {
		b = append(b, '.')
	}
	b = name.AppendTo(b)
	for i := 0; i+1 < len(signature); i += 2 {
		if signature[i] == '(' && signature[i+1] == 0 {
			b = signature[i:].AppendTo(b)
			break
		}
	}
	return string(b)
}

// end ends the compilation of m's method on a thread. It reports whether m has code
// that was compiled, but no begin.
func (s *state) end(rt *runtime, thread int64, m *method) bool {
	s.loaded = true
	if m.flags&clr.MethodFlagsReadyToRunRejectedPrecompiledCode != 0 {
		s.rejected++
	}
	if m.flags&clr.MethodFlagsJitted == 0 {
		return false
	}
	s.seen = true
	m.end, m.thread = rt.Now, thread
	c, lost, ok := s.open.PopMatch(thread, func(c *compilation) bool { return c.method == m.method })
	if !ok {
		m.begin = rt.Now
		s.orphans++
		return true
	}
	m.compilation = c
	for i := range lost { // what was within those was within this one
		m.nested += lost[i].nested
	}
	m.suspended = s.suspended - c.suspended
	if outer := s.open.Top(thread); outer != nil {
		outer.nested += m.end - m.begin
	}
	s.series.Add(rt.At(rt.Now), rt.MS(m.end-m.begin-m.nested))
	s.methods = append(s.methods, *m)
	return false
}

// orphan lists code without a begin.
func (s *state) orphan(m method) {
	m.orphan = true
	s.methods = append(s.methods, m)
}

// allocated is the memory for the compilation that is under way on the thread.
func allocated(rt *runtime, r *etw.Record, e *clr.MethodJitMemoryAllocatedForCode) {
	s := &rt.State
	s.hasMemory = true
	m := &s.memory
	m.HotCode = measure.Plus(m.HotCode, e.JitHotCodeRequestSize)
	m.ReadOnly = measure.Plus(m.ReadOnly, e.JitRODataRequestSize)
	m.Allocated = measure.Plus(m.Allocated, e.AllocatedSizeForJitCode)
	c := s.open.Find(r.ThreadID, func(c *compilation) bool { return c.method == e.MethodID })
	if c != nil && c.allocated == 0 {
		c.allocated = e.AllocatedSizeForJitCode
	}
}

func (a *Analysis) handleModules(mux *etw.Mux) {
	t := &a.runtimes
	add := func(rt *runtime, id uint64, path etw.UTF16) {
		if rt.State.modules == nil {
			rt.State.modules = make(map[uint64]string)
		}
		if path.Len() > 0 {
			rt.State.modules[id] = path.String()
		}
	}
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyModuleLoad) { add(rt, e.ModuleID, e.ModuleILPath) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.AnyModuleDCEnd) { add(rt, e.ModuleID, e.ModuleILPath) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.AnyModuleDCStart) { add(rt, e.ModuleID, e.ModuleILPath) })
}

// handleSuspensions follows the times in which all threads stand still. Of
// suspensions that overlap each moment counts once.
func (a *Analysis) handleSuspensions(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCSuspendEEEnd) {
		rt.State.suspends.Pop(r.ThreadID) // whose end was lost
		rt.State.suspends.Gap(r)
		rt.State.suspends.Push(r.ThreadID, rt.Now)
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCRestartEEBegin) {
		s := &rt.State
		s.suspends.Gap(r)
		if from, ok := s.suspends.Pop(r.ThreadID); ok {
			s.suspended += max(rt.Now-max(from, s.lastSuspended), 0)
			s.lastSuspended = max(s.lastSuspended, rt.Now)
		}
	})
}

func (a *Analysis) handleLookups(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.R2RGetEntryPointStart) {
		rt.State.seen = true
		rt.State.lookups.Push(r.ThreadID, lookup{e.MethodID, rt.Now})
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AnyR2RGetEntryPoint) {
		s := &rt.State
		s.seen = true
		if l, _, ok := s.lookups.PopMatch(r.ThreadID, func(l *lookup) bool { return l.method == e.MethodID }); ok {
			s.lookupTicks += rt.Now - l.begin
		}
		if e.EntryPoint != 0 {
			s.looked.Found++
			return
		}
		s.looked.Missing++
		if len(s.looked.MissingMethods) < maxMissing {
			s.looked.MissingMethods = append(s.looked.MissingMethods, fullName(e.MethodNamespace, e.MethodName, e.MethodSignature))
		}
	})
}

// maxMissing is how many methods without precompiled code are listed.
const maxMissing = 1000

func (a *Analysis) handleTiering(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.TieredCompilationSettings) {
		rt.State.tiering.seen, rt.State.tiering.Settings = true, e.Flags.String()
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.TieredCompilationPause) {
		rt.State.tiering.seen = true
		rt.State.tiering.Pauses++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.TieredCompilationResume) {
		rt.State.tiering.seen = true
		rt.State.tiering.Resumes++
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.TieredCompilationBackgroundJitStart) {
		w := &rt.State.tiering
		w.seen, w.busy, w.begin, w.thread, w.PendingAtEnd = true, true, rt.Now, r.ThreadID, e.PendingMethodCount
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.TieredCompilationBackgroundJitStop) {
		w := &rt.State.tiering
		if w.busy {
			w.ticks += rt.Now - w.begin
		}
		w.seen, w.busy, w.PendingAtEnd = true, false, e.PendingMethodCount
		w.Batches++
		w.Methods += uint64(e.JittedMethodCount)
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *private.MulticoreJit) {
		if e.String1.EqualString("GROUPWAIT") || e.String1.EqualString("JITTHREAD") {
			if rt.State.multicore == nil {
				rt.State.multicore = make(map[int64]bool)
			}
			rt.State.multicore[r.ThreadID] = true
		}
	})
}
