package timeline

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Kind says what a lane is of.
type Kind string

// The kinds of lanes, in the order in which a [Result] has them.
const (
	CPU         Kind = "cpu"         // time on processors, by samples
	Running     Kind = "running"     // time on processors, by context switches
	Managed     Kind = "managed"     // time of threads in managed code, by samples
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
	Disk        Kind = "disk"        // time that disks took
	Counter     Kind = "counter"     // event counters and metrics
)

// Needs are those of the lanes that say most.
var Needs = []need.Need{
	{What: "garbage collections and allocations", Provider: need.CLR, Keywords: 0x1, Names: "GC", Level: etw.LevelVerbose},
	cpu.Needs[0],
}

// lanes are the kinds in the order in which a [Result] has them, with what has to be recorded
// for each.
var lanes = []struct {
	kind  Kind
	needs []need.Need
}{
	{CPU, []need.Need{{What: "samples of processors", Recorder: "wpr -start CPU, or dotnet-trace collect-linux; " +
		"of threads a trace may have samples without these, in the lanes managed and threadTime"}}},
	{Running, []need.Need{{What: "context switches", Recorder: "wpr -start CPU, or dotnet-trace collect-linux"}}},
	{Managed, cpu.Needs},
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
	{Disk, []need.Need{{What: "disks", Recorder: "wpr -start DiskIO, or the kernel flags DiskIO and DiskFileIO"}}},
	{Counter, counters.Needs},
}

// Kinds are all kinds of lanes.
var Kinds = func() (list []Kind) {
	for i := range lanes {
		list = append(list, lanes[i].kind)
	}
	return list
}()

// NeedsOf returns what has to be recorded for lanes, each thing once.
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
