package eventpipe

import (
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The providers of the runtime and of its libraries, and keywords of the first.
const (
	runtimeProvider = "Microsoft-Windows-DotNETRuntime"
	privateProvider = "Microsoft-Windows-DotNETRuntimePrivate"
	sampleProvider  = "Microsoft-DotNETCore-SampleProfiler"
	taskProvider    = "System.Threading.Tasks.TplEventSource"
	hostingProvider = "Microsoft.AspNetCore.Hosting"
	httpProvider    = "System.Net.Http"
	kestrelProvider = "Microsoft-AspNetCore-Server-Kestrel"
	poolProvider    = "System.Diagnostics.Eventing.FrameworkEventSource"
	asyncProvider   = "System.Runtime.CompilerServices.AsyncProfilerEventSource"

	// keywordActivities has the runtime give the events of a request the identifier of
	// its activity, and keywordFlow has it say for which activity a thread begins to work.
	keywordActivities = 0x80
	keywordFlow       = 0x40000
	keywordTasks      = 0x43    // what tasks are scheduled, run and awaited
	keywordNames      = 0x8     // of what is awaited
	keywordPool       = 0x2     // the queue of the thread pool alone
	keywordTransfer   = 0x10    // the queue of the thread pool, and timers
	keywordAsync      = 0x2fe5f // async methods, with those that await them when they go on; from .NET 11 on
	everything        = ^uint64(0)

	keywordGC          = 0x1
	keywordGCHandle    = 0x2
	keywordLoader      = 0x8
	keywordJIT         = 0x10
	keywordContention  = 0x4000
	keywordException   = 0x8000
	keywordThreading   = 0x10000
	keywordHeap        = 0x1980000 // types and their names, the walk, and the collection that it is of
	keywordCompilation = 0x1000000000
	keywordWaitHandle  = 0x40000000000
	keywordSampling    = 0x80000000000 // of allocations, from .NET 10 on, where there are no ticks

	informational = 4
	verbose       = 5
)

// A Profile is a set of providers for a question that is often asked.
type Profile struct {
	Name      string
	Doc       string // what it shows
	Providers []Provider
	Rundown   uint64 // that its answers need
}

// causes are the sources of requests, besides the runtime.
var causes = []Provider{
	{Name: sampleProvider, Level: informational},
	{Name: poolProvider, Keywords: keywordTransfer, Level: verbose},
	{Name: hostingProvider, Keywords: everything, Level: informational},
	{Name: kestrelProvider, Keywords: everything, Level: informational},
	{Name: httpProvider, Keywords: everything, Level: informational},
}

// Profiles lists the profiles by name.
func Profiles() []Profile { return slices.Clone(profiles) }

// dotnetTrace has the names of profiles of dotnet-trace that have others here.
var dotnetTrace = map[string]string{"dotnet-common": "common", "dotnet-sampled-thread-time": "cpu", "cpu-sampling": "cpu"}

// FindProfile returns the profile with a name, which may also be one of dotnet-trace.
func FindProfile(name string) (Profile, bool) {
	if ours := dotnetTrace[name]; ours != "" {
		name = ours
	}
	i := slices.IndexFunc(profiles, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return profiles[i], true
}

func runtimeAt(keywords uint64, level etw.Level) Provider {
	return Provider{Name: runtimeProvider, Keywords: keywords, Level: level}
}

var profiles = []Profile{
	{
		Name: "alloc", Doc: "allocations, sampled, with their types and call stacks",
		Providers: []Provider{runtimeAt(keywordGC, verbose)}, Rundown: DefaultRundown,
	},
	{
		Name: "cause", Doc: "where the time of requests goes: for whom threads work and allocate, on what they wait, with names",
		Providers: append([]Provider{
			{Name: taskProvider, Keywords: keywordActivities | keywordFlow | keywordTasks | keywordNames, Level: verbose},
			{Name: asyncProvider, Keywords: keywordAsync, Level: informational},
			runtimeAt(keywordGC|keywordContention|keywordThreading|keywordWaitHandle|keywordJIT|keywordLoader|keywordException|keywordSampling, verbose)}, causes...),
		Rundown: DefaultRundown,
	},
	{
		Name: "cause-light", Doc: "where the time of requests goes, without names of what is awaited",
		Providers: append([]Provider{
			{Name: taskProvider, Keywords: keywordActivities | keywordFlow, Level: informational},
			runtimeAt(keywordGC|keywordContention|keywordThreading|keywordWaitHandle, verbose)}, causes...),
		Rundown: DefaultRundown,
	},
	{
		Name: "common", Doc: "collections, exceptions, waits for locks, the thread pool, modules and methods",
		Providers: []Provider{runtimeAt(keywordGC|keywordLoader|keywordJIT|keywordContention|keywordException|keywordThreading|keywordCompilation, informational)},
		Rundown:   DefaultRundown,
	},
	{
		Name: "contention", Doc: "waits for locks, with call stacks",
		Providers: []Provider{runtimeAt(keywordContention, informational)}, Rundown: DefaultRundown,
	},
	{
		Name: "cpu", Doc: "the call stacks of all managed threads, each millisecond, and when they wait for locks",
		Providers: []Provider{{Name: sampleProvider, Level: informational}, runtimeAt(keywordJIT|keywordLoader|keywordContention, informational)}, Rundown: DefaultRundown,
	},
	{
		Name: "exceptions", Doc: "exceptions that are thrown, with call stacks",
		Providers: []Provider{runtimeAt(keywordException, informational)}, Rundown: DefaultRundown,
	},
	{
		Name: "gc-collect", Doc: "collections, with as little as possible",
		Providers: []Provider{runtimeAt(keywordGC, informational), {Name: privateProvider, Keywords: keywordGC, Level: informational}},
	},
	{
		Name: "gc-verbose", Doc: "collections, samples of allocations, handles, exceptions",
		Providers: []Provider{runtimeAt(keywordGC|keywordGCHandle|keywordException, verbose)}, Rundown: DefaultRundown,
	},
	{
		Name: "heap", Doc: "a snapshot of the heap, for which the process collects and stops",
		Providers: []Provider{runtimeAt(keywordGC|keywordHeap, verbose)},
	},
	{
		Name: "jit", Doc: "methods that are compiled, and how",
		Providers: []Provider{runtimeAt(keywordJIT|keywordLoader|keywordCompilation, verbose)},
	},
	{
		Name: "requests", Doc: "requests of ASP.NET Core and of HttpClient, and the activities of threads",
		Providers: []Provider{
			{Name: taskProvider, Keywords: keywordActivities | keywordFlow, Level: informational},
			{Name: poolProvider, Keywords: keywordTransfer, Level: verbose},
			{Name: hostingProvider, Keywords: everything, Level: informational},
			{Name: httpProvider, Keywords: everything, Level: informational},
		},
	},
	{
		Name: "threadpool", Doc: "the thread pool: its size, its queue, why it grows",
		Providers: []Provider{runtimeAt(keywordThreading, informational), {Name: poolProvider, Keywords: keywordPool, Level: verbose}},
	},
}
