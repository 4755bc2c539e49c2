package html

// An advice says what to record for an area that a trace has no events of.
type advice struct {
	Section  string `json:"section"`
	Title    string `json:"title"`
	Keywords string `json:"keywords"` // in words
	// Providers is the list that dotnet-trace and etw take.
	Providers string `json:"providers"`
}

const clr = "Microsoft-Windows-DotNETRuntime"

// advices are in the order of the page.
var advices = []advice{
	{"gc", "Garbage collections", "keyword GC (0x1), level 4", clr + ":0x1:4"},
	{profileID, "Call trees", "provider Microsoft-DotNETCore-SampleProfiler, or with ETW the kernel's samples (PROFILE)", "Microsoft-DotNETCore-SampleProfiler:0:4"},
	{"alloc", "Allocations", "keyword GC (0x1), level 5; or, from .NET 10 on, AllocationSampling (0x80000000000), level 4", clr + ":0x1:5"},
	{"exceptions", "Exceptions", "keyword Exception (0x8000), level 4", clr + ":0x8000:4"},
	{"contention", "Lock contention", "keyword Contention (0x4000), level 4", clr + ":0x4000:4"},
	{"waits", "Waits", "keyword WaitHandle (0x40000000000), level 5, from .NET 9 on", clr + ":0x40000000000:5"},
	{"threadpool", "Thread pool", "keyword Threading (0x10000), level 4; level 5 and ThreadTransfer (0x80000000) for the times in its queue", clr + ":0x80010000:5"},
	{"jit", "Compilation", "keyword Jit (0x10), level 5", clr + ":0x10:5"},
	{"requests", "Requests", "the EventSources of the servers and clients, with keyword 0x80 of System.Threading.Tasks.TplEventSource, level 4",
		"Microsoft.AspNetCore.Hosting:0xffffffffffffffff:4,System.Net.Http:0xffffffffffffffff:4,System.Threading.Tasks.TplEventSource:0x80:4"},
	{"counters", "Counters", "provider System.Runtime with an interval", "System.Runtime:0:4:EventCounterIntervalSec=1"},
	{"heap", "Heap snapshot", "keywords of a heap dump (0x1980001), level 5; this makes a collection", clr + ":0x1980001:5"},
	{"handles", "GC handles", "keyword GCHandle (0x2), level 4", clr + ":0x2:4"},
	{"loader", "Assemblies", "keywords Loader (0x8) and AssemblyLoader (0x4), level 4", clr + ":0xc:4"},
}
