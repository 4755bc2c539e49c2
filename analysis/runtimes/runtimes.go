// Package runtimes answers which .NET runtimes are in a trace: their versions, how they were
// started, and when they reached the checkpoints of their start. Use it to know the subject
// of a trace, before its other numbers are read.
//
// A runtime tells of itself when it starts, and at the end of a session with the
// provider Microsoft-Windows-DotNETRuntimeRundown; no keyword is needed.
package runtimes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is the runtimes in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`
	// StartMS is when it told of itself at its start, unknown if the trace began
	// later.
	StartMS     measure.Float `json:"startMs,omitzero"`
	Sku         string        `json:"sku,omitempty"`
	Version     string        `json:"version,omitempty"` // of the base library
	VMVersion   string        `json:"vmVersion,omitempty"`
	CommandLine string        `json:"commandLine,omitempty"`
	Path        string        `json:"path,omitempty"` // of the runtime itself
	StartupMode string        `json:"startupMode,omitempty"`
	// StartupFlags has the names of all flags.
	StartupFlags string       `json:"startupFlags,omitempty"`
	ConcurrentGC bool         `json:"concurrentGC"`
	ServerGC     bool         `json:"serverGC"`
	Checkpoints  []Checkpoint `json:"checkpoints,omitempty"`
	// FirstCompilationMS is when the first method was compiled.
	FirstCompilationMS measure.Float `json:"firstCompilationMs,omitzero"`
}

// A Checkpoint is a point that the start of a runtime has reached. AtMS is negative
// where that was before the session began.
type Checkpoint struct {
	Name string  `json:"name"`
	AtMS float64 `json:"atMs"`
}

// An Analysis follows the runtimes in the records that a [etw.Mux] dispatches.
type Analysis struct{ runtimes lives.Table[state] }

type runtime = lives.Runtime[state]

type state struct {
	Runtime
	seen bool
}

// Needs are the runtime's event about itself, which comes under any keywords.
var Needs = []need.Need{{What: "runtimes", Provider: need.CLR, Level: etw.LevelInformational, Events: [2]uint16{187}}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{}
	t := &a.runtimes
	t.Watch(mux)
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.RuntimeInformationStart) {
		rt.State.StartMS = measure.Known(rt.At(rt.Now))
		rt.State.tell(e)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.RuntimeInformationDCStart) {
		if rt.State.seen {
			return
		}
		rt.State.tell(&clr.RuntimeInformationStart{Sku: clr.RuntimeSku(e.Sku),
			BclMajorVersion: e.BclMajorVersion, BclMinorVersion: e.BclMinorVersion, BclBuildNumber: e.BclBuildNumber, BclQfeNumber: e.BclQfeNumber,
			VMMajorVersion: e.VMMajorVersion, VMMinorVersion: e.VMMinorVersion, VMBuildNumber: e.VMBuildNumber, VMQfeNumber: e.VMQfeNumber,
			StartupFlags: clr.StartupFlags(e.StartupFlags), StartupMode: clr.StartupMode(e.StartupMode),
			CommandLine: e.CommandLine, RuntimeDllPath: e.RuntimeDllPath})
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ExecutionCheckpoint) { checkpoint(rt, e.Name, e.Timestamp) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *rundown.ExecutionCheckpointDCEnd) {
		checkpoint(rt, e.Name, e.Timestamp)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.AnyMethodJittingStarted) {
		if rt.State.FirstCompilationMS.IsZero() {
			rt.State.FirstCompilationMS = measure.Known(rt.At(rt.Now))
		}
	})
	return a
}

// tell takes over a runtime's account of itself.
func (s *state) tell(e *clr.RuntimeInformationStart) {
	s.seen = true
	s.Sku = e.Sku.String()
	s.Version = fmt.Sprintf("%d.%d.%d.%d", e.BclMajorVersion, e.BclMinorVersion, e.BclBuildNumber, e.BclQfeNumber)
	s.VMVersion = fmt.Sprintf("%d.%d.%d.%d", e.VMMajorVersion, e.VMMinorVersion, e.VMBuildNumber, e.VMQfeNumber)
	s.CommandLine, s.Path = e.CommandLine.String(), e.RuntimeDllPath.String()
	s.StartupMode, s.StartupFlags = e.StartupMode.String(), e.StartupFlags.String()
	s.ConcurrentGC = e.StartupFlags&clr.StartupFlagsConcurrentGC != 0
	s.ServerGC = e.StartupFlags&clr.StartupFlagsServerGC != 0
}

// maxCheckpoints is more than any start has.
const maxCheckpoints = 1000

// checkpoint adds a point of the start. The rundown repeats them with the time
// stamps at which they were reached.
func checkpoint(rt *runtime, name etw.UTF16, timestamp int64) {
	s := &rt.State
	s.seen = true
	at := rt.At(timestamp)
	text := name.String()
	if len(s.Checkpoints) < maxCheckpoints && !slices.ContainsFunc(s.Checkpoints, func(c Checkpoint) bool { return c.Name == text && c.AtMS == at }) {
		s.Checkpoints = append(s.Checkpoints, Checkpoint{text, at})
	}
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if !rt.State.seen {
			continue
		}
		out := rt.State.Runtime
		out.PID, out.CLRInstance, out.Life = rt.PID, rt.CLR, rt.Life
		out.Checkpoints = slices.Clone(out.Checkpoints)
		order.Stable(out.Checkpoints, func(a, b Checkpoint) int { return cmp.Compare(a.AtMS, b.AtMS) })
		res.Runtimes = append(res.Runtimes, &out)
	}
	return res
}
