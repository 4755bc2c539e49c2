package main

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/runtime/etw"
)

// What has to be recorded for each analysis.
var (
	allocNeeds      = []need{{what: "allocations", provider: clrName, keywords: 0x1, names: "GC", level: etw.LevelVerbose}}
	contentionNeeds = []need{{what: "contention", provider: clrName, keywords: 0x4000, names: "Contention", level: etw.LevelInformational}}
	exceptionNeeds  = []need{{what: "exceptions", provider: clrName, keywords: 0x8000, names: "Exception", level: etw.LevelInformational}}
	gcNeeds         = []need{{what: "garbage collections", provider: clrName, keywords: 0x1, names: "GC", level: etw.LevelInformational}}
	jitNeeds        = []need{{what: "compiling", provider: clrName, keywords: 0x10, names: "Jit", level: etw.LevelVerbose}}
	poolNeeds       = []need{{what: "the thread pool", provider: clrName, keywords: 0x10000, names: "Threading", level: etw.LevelInformational}}
	waitNeeds       = []need{{what: "waits (from .NET 9 on)", provider: clrName, keywords: 0x40000010000, names: "WaitHandle and Threading", level: etw.LevelVerbose}}
	requestNeeds    = []need{
		{what: "activities", provider: taskName, keywords: 0x80, names: "TasksFlowActivityIds", level: etw.LevelInformational},
		{what: "requests that ASP.NET Core serves", provider: "Microsoft.AspNetCore.Hosting", level: etw.LevelInformational},
		{what: "requests that HttpClient makes", provider: "System.Net.Http", level: etw.LevelInformational},
	}
	counterNeeds = []need{
		{what: "counters", provider: "System.Runtime", level: etw.LevelInformational, args: "EventCounterIntervalSec=1"},
		{what: "metrics", provider: "System.Diagnostics.Metrics", keywords: 0x2, names: "TimeSeriesValues", level: etw.LevelInformational,
			args: "SessionId=1;Metrics=System.Runtime;RefreshInterval=1;MaxTimeSeries=1000;MaxHistograms=20"},
	}
	sampleNeeds = []need{{what: "thread samples", provider: "Microsoft-DotNETCore-SampleProfiler", level: etw.LevelInformational}}
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
