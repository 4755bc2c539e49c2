// Package clr has the events of the .NET runtime, of the provider
// Microsoft-Windows-DotNETRuntime, as Go types: all versions of all of them, from the .NET
// Framework to .NET 10. Use it to handle the events of runtimes: collections, exceptions,
// compilation, locks, threads.
//
// # Finding an event
//
// Events have the names of the runtime's manifest, without the underscores, and
// each version has its own type: GCStart, GCStartV1 and GCStartV2 are the
// versions 0, 1 and 2 of event 1. [AnyGCStart] is all of them. Where to begin:
//
//	a garbage collection started, ended   AnyGCStart, AnyGCEnd
//	the pauses it caused                  AnyGCSuspendEEBegin, AnyGCRestartEEEnd
//	the sizes of the heap after it        AnyGCHeapStats, GCPerHeapHistoryV3
//	what is allocated                     AnyGCAllocationTick; AllocationSampled silences it
//	what a TypeID stands for              BulkType
//	objects and references of the heap    GCBulkNode, GCBulkEdge, GCBulkRootEdge
//	an exception was thrown               ExceptionThrownV1
//	threads wait for locks                AnyContentionStart, AnyContentionStop
//	threads of the thread pool            ThreadPoolWorkerThreadStart, ...Stop,
//	                                      ...AdjustmentAdjustment, ThreadPoolEnqueue
//	methods and their code                AnyMethodLoadVerbose, AnyMethodJittingStarted
//	tiers of compilation                  MethodFlags.Tier, TieredCompilationSettings
//	modules and assemblies                AnyModuleLoad, AnyAssemblyLoad
//	which assembly was found where        AssemblyLoadStart, AssemblyLoadStop
//	the runtime itself                    RuntimeInformationStart
//
// A type's documentation says when the event is written, which keyword selects it, and the
// meaning of each field, with its unit; fields that enumerate have types of their own, such
// as [GCReason].
//
// # Enabling events
//
// A session selects events by a mask of keywords and a level. The functions that begin with
// Enable return the settings for a purpose, such as [EnableGC]; [etw.Mux.Enablement] tells
// the needs of given handlers, and [ParseKeywords] reads the names of keywords that people
// type. One thing that Enablement cannot know: the runtime writes MethodLoadVerbose and
// MethodUnloadVerbose for all methods only at level Verbose, though their own level is
// Informational.
//
// [SymbolsOf] tells which events that give names to addresses a mask causes. To
// name the code that was there before a session began, or that is there when it
// ends, the session needs the events of package rundown, too.
//
// # Allocation and aliasing
//
// Decoding allocates nothing. Strings and arrays of a decoded event are views
// of the payload, valid until the transport delivers the next record. Package
// etw says how to keep them.
//
// # Events that are logged twice
//
// Since 4.5 the .NET Framework writes GCStart in versions 1 and 2 for each
// collection, within microseconds and on the same thread, so that a handler of
// [AnyGCStart] hears of it twice. The two have the same Count: a program that
// counts collections skips a GCStart whose process, ClrInstanceID and Count are
// those of the one before. GCEnd and GCHeapStats come once, and .NET writes
// version 2 alone. Versions 1 and 2 of the events of methods are no such pairs:
// version 2 is for code that replaces earlier code of the method.
//
// # Beyond the manifest
//
// The package is generated from clr.man, which describes the bytes that the
// runtime writes. Where the runtime's own manifest is wrong, or says less than
// is known, it differs; testdata/corrections.tsv lists each place. Among other
// things, sizes and counts are shown in decimal, and bits that the runtime sets
// but its manifest does not name have names. Microsoft's documentation pages are
// wrong more often; docs/clr/errata.md lists that, and docs/clr has the reference
// of all events.
package clr

//go:generate go tool etwgen gen --tests --accessor ClrInstanceID --provider Microsoft-Windows-DotNETRuntime -o . clr.man
//go:generate go tool etwgen doc -o ../../docs/clr clr.man
