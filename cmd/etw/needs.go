package main

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/runtime/etw"
)

// usualLaneNeeds are for the lanes that say most.
var usualLaneNeeds = []need{
	{what: "garbage collections and allocations", provider: clrName, keywords: 0x1, names: "GC", level: etw.LevelVerbose},
	sampleNeeds[0],
}

// laneNeeds are what has to be recorded for lanes of the timeline.
var laneNeeds = map[timeline.Kind][]need{
	timeline.CPU: {{what: "samples of processors", recorder: "wpr -start CPU, or dotnet-trace collect-linux; " +
		"of threads a trace may have samples without these, in the lanes managed and threadTime"}},
	timeline.Running:     {{what: "context switches", recorder: "wpr -start CPU, or dotnet-trace collect-linux"}},
	timeline.Managed:     sampleNeeds,
	timeline.ThreadTime:  sampleNeeds,
	timeline.GCPause:     gcNeeds,
	timeline.Heap:        gcNeeds,
	timeline.Allocated:   allocNeeds,
	timeline.Exceptions:  exceptionNeeds,
	timeline.Compiling:   jitNeeds,
	timeline.Contention:  contentionNeeds,
	timeline.Waits:       waitNeeds,
	timeline.Workers:     poolNeeds,
	timeline.Requests:    requestNeeds,
	timeline.RequestTime: requestNeeds,
	timeline.Disk:        {{what: "disks", recorder: "wpr -start DiskIO, or the kernel flags DiskIO and DiskFileIO"}},
	timeline.Counter:     counterNeeds,
}

// needsOf returns what has to be recorded for lanes, each thing once.
func needsOf(kinds []timeline.Kind) []need {
	var list []need
	for _, k := range kinds {
		for _, n := range laneNeeds[k] {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}
