package timeline

import (
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Kind is the subject of a lane.
type Kind string

// The kinds of lanes, in the order in which a [Result] has them.
const (
	CPU         Kind = "cpu"         // time on processors, by samples
	Running     Kind = "running"     // time on processors, by context switches
	Managed     Kind = "managed"     // time of threads in managed code, by samples
	Awake       Kind = "awake"       // the same of threads that do not wait, where the runtime does not tell managed code
	ThreadTime  Kind = "threadTime"  // time of threads, running or waiting, by samples
	GCPause     Kind = "gcPause"     // threads stopped for collections
	Heap        Kind = "heap"        // size of the heap before and after collections
	Allocated   Kind = "allocated"   // memory
	Exceptions  Kind = "exceptions"  // thrown
	Compiling   Kind = "compiling"   // of methods, without what was compiled meanwhile
	Contention  Kind = "contention"  // waits for locks
	Waits       Kind = "waits"       // other waits
	Workers     Kind = "workers"     // active threads of the thread pool
	Requests    Kind = "requests"    // activities that ended, by task
	RequestTime Kind = "requestTime" // time in activities, by task
	Causes      Kind = "causes"      // where that time went, by task and cause
	Disk        Kind = "disk"        // time that disks took
	Network     Kind = "network"     // sent and received
	Counter     Kind = "counter"     // event counters and metrics
)

// Needs are those of the lanes that say most.
var Needs = []need.Need{
	{What: "garbage collections and allocations", Provider: need.CLR, Keywords: 0x1, Names: "GC", Level: etw.LevelVerbose},
	cpu.Needs[0],
}

// lanes are the kinds in the order in which a [Result] has them, with the events to record
// for each.
var lanes = []struct {
	kind  Kind
	needs []need.Need
}{
	{CPU, []need.Need{{What: "samples of processors", Recorder: "wpr -start CPU, or dotnet-trace collect-linux; " +
		"of threads a trace may have samples without these, in the lanes managed or awake, and threadTime"}}},
	{Running, []need.Need{need.Switches}},
	{Managed, cpu.Needs},
	{Awake, cpu.Needs},
	{ThreadTime, cpu.Needs},
	{GCPause, gc.Needs},
	{Heap, gc.Needs},
	{Allocated, alloc.Needs},
	{Exceptions, exceptions.Needs},
	{Compiling, jit.Needs},
	{Contention, contention.Needs},
	{Waits, waits.Needs},
	{Workers, threadpool.Needs},
	{Requests, requests.Needs},
	{RequestTime, requests.Needs},
	{Causes, slices.Concat(requests.Needs, activities.Needs)},
	{Disk, []need.Need{need.Disks}},
	{Network, system.NeedsNetwork},
	{Counter, counters.Needs},
}

// Kinds are all kinds of lanes.
var Kinds = func() (list []Kind) {
	for i := range lanes {
		list = append(list, lanes[i].kind)
	}
	return list
}()

// All returns the analyses that have lanes, and the machine, with their handlers registered at mux, but those of
// requests at whole, which may be the same: they know by records of others where time went.
func All(mux, whole *etw.Mux) []any {
	return []any{
		gc.New(mux), alloc.New(mux), exceptions.New(mux), jit.New(mux), contention.New(mux), waits.New(mux), threadpool.New(mux),
		requests.New(whole), counters.New(mux), threads.New(mux), disk.New(mux), system.NewNetwork(mux), system.Of(mux),
	}
}

// follow has the lanes of an analysis be made.
func (a *Analysis) follow(x any) {
	switch x := x.(type) {
	case *gc.Analysis:
		x.OnPause(func(p gc.Pause) {
			a.keep(key{kind: GCPause, pid: p.PID, unit: "ms", how: Sum}, p.StartMS, p.MS, p.MS)
		})
		a.late = append(a.late, func(b *builder) { b.heaps(x.Result()) })
	case *alloc.Analysis:
		a.doubts = x.Doubts
		x.OnEvent(func(pid int64, by alloc.By, atMS, bytes float64) {
			a.keep(key{kind: Allocated, pid: pid, of: string(by), unit: "MB", how: Sum}, atMS, 0, bytes/1e6)
		})
	case *exceptions.Analysis:
		x.OnThrow(func(pid int64, atMS float64) {
			a.keep(key{kind: Exceptions, pid: pid, unit: "count", how: Sum}, atMS, 0, 1)
		})
	case *threadpool.Analysis:
		x.OnWorkers(func(pid int64, atMS float64, workers int) {
			a.keep(key{kind: Workers, pid: pid, unit: "threads", how: Highest}, atMS, 0, float64(workers))
		})
	case *requests.Analysis:
		x.Tell()
		if a.parts.Named != nil {
			x.NameBy(a.parts.Named)
		}
		a.kinds = x.Kinds
		x.OnEnd(func(pid int64, provider, task string, act requests.Activity) {
			of := strings.Trim(provider+"/"+task, "/")
			a.keep(key{kind: Requests, pid: pid, of: of, unit: "count", how: Sum}, act.StartMS+act.DurationMS, 0, 1)
			a.keep(key{kind: RequestTime, pid: pid, of: of, unit: "ms", how: Sum}, act.StartMS, act.DurationMS, act.DurationMS)
			for i := range act.Path {
				p := &act.Path[i]
				a.keep(key{kind: Causes, pid: pid, of: of, cause: p.Kind, code: p.Code, unit: "ms", how: Sum}, p.StartMS, p.DurationMS, p.DurationMS)
			}
		})
	case *threads.Analysis:
		x.SumsOnly()
		x.OnRun(func(t *system.Thread, from, to int64) {
			if t.TID != 0 {
				a.ran = joined(append(a.ran, ran{t, from, to, to - from}), maxRuns)
			}
		})
		a.late = append(a.late, func(b *builder) { b.running(a.ran, x) })
	case *system.Network:
		x.OnTransfer(func(pid int64, atMS float64, bytes uint32) {
			a.keep(key{kind: Network, pid: pid, unit: "MB", how: Sum}, atMS, 0, float64(bytes)/1e6)
		})
	case *counters.Analysis:
		a.late = append(a.late, func(b *builder) { b.counters(x.Result()) })
	default:
		a.weigh(x)
	}
}

// weigh has the lane of an analysis be made of its samples.
func (a *Analysis) weigh(x any) {
	var kind Kind
	switch x.(type) {
	case *alloc.Analysis:
		kind = Allocated
	case *exceptions.Analysis:
		kind = Exceptions
	case *jit.Analysis:
		kind = Compiling
	case *contention.Analysis:
		kind = Contention
	case *waits.Analysis:
		kind = Waits
	case *disk.Analysis:
		kind = Disk
	default:
		return
	}
	a.late = append(a.late, func(b *builder) { b.weights(kind, x.(samples).Samples()) })
}

// A samples is an analysis that has them.
type samples interface{ Samples() []*stacks.Samples }

// NeedsOf returns the events to record for lanes, each thing once.
func NeedsOf(kinds []Kind) []need.Need {
	var list []need.Need
	for _, k := range kinds {
		i := slices.Index(Kinds, k)
		if i < 0 {
			continue
		}
		for _, n := range lanes[i].needs {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}
