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

// Needs are those of the lanes that say most.
var Needs = []need.Need{
	{What: "garbage collections and allocations", Provider: need.CLR, Keywords: 0x1, Names: "GC", Level: etw.LevelVerbose},
	cpu.Needs[0],
}

// lanes are what has to be recorded for each kind.
var lanes = map[Kind][]need.Need{
	CPU: {{What: "samples of processors", Recorder: "wpr -start CPU, or dotnet-trace collect-linux; " +
		"of threads a trace may have samples without these, in the lanes managed and threadTime"}},
	Running:     {{What: "context switches", Recorder: "wpr -start CPU, or dotnet-trace collect-linux"}},
	Managed:     cpu.Needs,
	ThreadTime:  cpu.Needs,
	GCPause:     gc.Needs,
	Heap:        gc.Needs,
	Allocated:   alloc.Needs,
	Exceptions:  exceptions.Needs,
	Compiling:   jit.Needs,
	Contention:  contention.Needs,
	Waits:       waits.Needs,
	Workers:     threadpool.Needs,
	Requests:    requests.Needs,
	RequestTime: requests.Needs,
	Disk:        {{What: "disks", Recorder: "wpr -start DiskIO, or the kernel flags DiskIO and DiskFileIO"}},
	Counter:     counters.Needs,
}

// NeedsOf returns what has to be recorded for lanes, each thing once.
func NeedsOf(kinds []Kind) []need.Need {
	var list []need.Need
	for _, k := range kinds {
		for _, n := range lanes[k] {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}
