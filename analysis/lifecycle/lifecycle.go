// Package lifecycle answers how far processes came, and when: started, with a runtime of
// .NET, in managed code, in their own entry point, with a first request, ended. Use it
// when a start takes long, to know which step of it does.
//
// Each of these is told by different events, of which most traces have some: by the kernel's of
// processes and images, by the runtime's of its start and of methods (keyword Jit, 0x10, at level 5), by
// those of web servers. Phases that none tells are left out; From says which one did.
package lifecycle

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is the processes of a trace.
type Result struct {
	Schema    int       `json:"schema"`
	Processes []Process `json:"processes"`
}

// Part says that the records are of a part of the session. Of a process that began before it,
// nothing that comes first in the part is known to be the first.
func (r *Result) Part(from, _ time.Duration) {
	ms := float64(from) / 1e6
	for i := range r.Processes {
		p := &r.Processes[i]
		begun := slices.ContainsFunc(p.Phases, func(x Phase) bool {
			return (x.Phase == Started || x.Phase == Loaded || x.Phase == Initialized) && x.AtMS >= ms
		})
		if from > 0 && !begun {
			p.Phases = order.Delete(p.Phases, func(x Phase) bool { return x.Phase == Managed || x.Phase == Main || x.Phase == Request })
		}
	}
}

// A Process is how far one process came.
type Process struct {
	system.ProcessFacts
	// Phases are in the order of time.
	Phases []Phase `json:"phases"`
}

// A Phase is a point that a process has reached. AtMS is milliseconds since the session
// began, negative for earlier ones; SinceMS is the time since the phase before.
type Phase struct {
	Phase   Name    `json:"phase"`
	AtMS    float64 `json:"atMs"`
	SinceMS float64 `json:"sinceMs"`
	// From names the event that told of it.
	From string `json:"from"`
}

// A Name is that of a phase.
type Name string

// The phases of a process of .NET.
const (
	Started     Name = "start"        // the process
	Loaded      Name = "runtime load" // of its image
	Initialized Name = "runtime"      // it told of itself
	Managed     Name = "managed code" // the first method that was compiled, or looked up
	Main        Name = "main"         // the entry point of the program was
	Request     Name = "request"      // the first that it served began
	Exited      Name = "exit"
)

// Names are all phases.
var Names = []Name{Started, Loaded, Initialized, Managed, Main, Request, Exited}

// An Analysis follows processes in the records that a [etw.Mux] dispatches.
type Analysis struct {
	machine  *system.Machine
	runtimes *runtimes.Analysis
	requests *requests.Analysis
	found    map[place]Phase
}

// A place is a phase of a process.
type place struct {
	pid   int64
	phase Name
}

// Needs are the methods that run first. Other events of phases are in most traces, or in
// those of machines.
var Needs = []need.Need{{What: "methods as they are compiled", Provider: need.CLR, Keywords: 0x10, Names: "Jit", Level: etw.LevelVerbose, Events: [2]uint16{143, 145}}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{machine: system.Of(mux), runtimes: runtimes.New(mux), requests: requests.New(mux), found: make(map[place]Phase)}
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodJittingStarted) {
		a.method(r, e.MethodName, "the first method that is compiled", "its compilation")
	})
	hear.On(mux, func(r *etw.Record, e *clr.R2RGetEntryPoint) {
		a.method(r, e.MethodName, "the first look-up of compiled code", "the look-up of its compiled code")
	})
	a.requests.OnEnd(func(pid int64, provider, task string, act requests.Activity) {
		if serves(provider, task) {
			a.note(pid, Request, act.StartMS, provider)
		}
	})
	return a
}

// maxProcesses bounds the claims of a trace.
const maxProcesses = 1 << 16

// note takes that a process has reached a phase. The first time counts.
func (a *Analysis) note(pid int64, phase Name, ms float64, from string) {
	k := place{pid, phase}
	if old, ok := a.found[k]; ok && old.AtMS <= ms || !ok && len(a.found) >= maxProcesses || math.IsNaN(ms) {
		return
	}
	a.found[k] = Phase{Phase: phase, AtMS: ms, From: from}
}

// method takes that a method is about to run for the first time.
func (a *Analysis) method(r *etw.Record, name etw.UTF16, first, own string) {
	if _, ok := a.found[place{r.ProcessID, Managed}]; !ok {
		a.note(r.ProcessID, Managed, since(r), first)
	}
	if _, ok := a.found[place{r.ProcessID, Main}]; ok || name.Len() > len(topLevel) {
		return
	}
	switch name.String() {
	case "Main", asyncMain, topLevel:
		a.note(r.ProcessID, Main, since(r), own)
	}
}

// The names that compilers give to the first method of a program: one that calls an async Main, and that of
// statements outside of any class.
const (
	asyncMain = "<Main>"
	topLevel  = "<Main>$"
)

// since returns the time of a record since its session began.
func since(r *etw.Record) float64 { return float64(r.Elapsed()) / 1e6 }

// serves reports whether activities are requests that a process serves.
func serves(provider, task string) bool {
	switch provider {
	case "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel":
		return task == "Request"
	case "Microsoft-Diagnostics-DiagnosticSource":
		return task == "Microsoft.AspNetCore.Hosting.HttpRequestIn"
	}
	return provider == "IIS" || provider == "ASP.NET"
}

// runtimeImages are the files of runtimes, in lower case.
var runtimeImages = []string{"coreclr.dll", "libcoreclr.so", "libcoreclr.dylib", "clr.dll", "mscorwks.dll"}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	found := make(map[place]Phase, len(a.found))
	for k, p := range a.found {
		found[k] = p
	}
	note := func(pid int64, phase Name, ms float64, from string) {
		k := place{pid, phase}
		if old, ok := found[k]; !ok || ms < old.AtMS {
			found[k] = Phase{Phase: phase, AtMS: ms, From: from}
		}
	}
	for _, rt := range a.runtimes.Result().Runtimes {
		if ms, ok := rt.StartMS.Get(); ok {
			note(rt.PID, Initialized, ms, "the runtime")
		}
		for _, c := range rt.Checkpoints {
			if c.Name == "RuntimeInit" {
				note(rt.PID, Initialized, c.AtMS, "a checkpoint of the runtime")
			}
		}
	}
	for _, i := range a.machine.ImagesResult().Images {
		path := strings.ToLower(i.Path)
		name := path[strings.LastIndexAny(path, `/\`)+1:]
		if ms, ok := i.LoadMS.Get(); ok && slices.Contains(runtimeImages, name) {
			note(i.PID, Loaded, ms, "the load of "+name)
		}
	}
	res := &Result{Schema: Schema, Processes: []Process{}}
	for _, f := range a.machine.Result().Processes {
		res.Processes = append(res.Processes, Process{f, phases(&f, found)})
	}
	return res
}

// phases returns the phases of one process, which has its number only from its start to
// its end.
func phases(f *system.ProcessFacts, found map[place]Phase) []Phase {
	list := []Phase{}
	start, end := f.StartMS.Or(math.Inf(-1)), f.EndMS.Or(math.Inf(1))
	if ms, ok := f.StartMS.Get(); ok {
		list = append(list, Phase{Phase: Started, AtMS: ms, From: "the kernel"})
	}
	for _, name := range Names {
		p, ok := found[place{f.PID, name}]
		if !ok || p.AtMS < start || p.AtMS > end {
			continue
		}
		// The first event of a trace is the first of a process only if that begins in there.
		switch begins := len(list) > 0; {
		case (name == Managed || name == Main) && !begins:
			continue
		case name == Request && !begins:
			p.From += ", the first in the trace"
		}
		list = append(list, p)
	}
	if ms, ok := f.EndMS.Get(); ok {
		list = append(list, Phase{Phase: Exited, AtMS: ms, From: "the kernel"})
	}
	order.Stable(list, func(a, b Phase) int { return cmp.Compare(a.AtMS, b.AtMS) })
	for i := range list {
		if i > 0 {
			list[i].SinceMS = list[i].AtMS - list[i-1].AtMS
		}
	}
	return list
}
