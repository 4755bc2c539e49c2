package clr

import "github.com/etwgen/etwgen/runtime/etw"

// EnableGC selects garbage collections with their pauses and heap sizes, which
// hardly slows a program down: keywords 0x1, level Informational.
func EnableGC() etw.Enable { return KeywordGC.Enable(etw.LevelInformational) }

// EnableGCVerbose selects the events of EnableGC, and allocation ticks, pinned and finalized
// objects: keywords 0x1, level Verbose.
func EnableGCVerbose() etw.Enable { return KeywordGC.Enable(etw.LevelVerbose) }

// EnableAllocations selects samples of allocations: from .NET 10 on random samples,
// AllocationSampled, which come in place of allocation ticks, and from older runtimes these
// ticks, with all that EnableGCVerbose selects. Keywords 0x80000000001, level Verbose.
func EnableAllocations() etw.Enable {
	return (KeywordGC | KeywordAllocationSampling).Enable(etw.LevelVerbose)
}

// EnableExceptions selects thrown exceptions and the blocks that handle them:
// keywords 0x8000, level Informational. Level 2, Error, gives the throwing alone.
func EnableExceptions() etw.Enable { return KeywordException.Enable(etw.LevelInformational) }

// EnableContention selects the waits for locks: keywords 0x4000, level
// Informational.
func EnableContention() etw.Enable { return KeywordContention.Enable(etw.LevelInformational) }

// EnableThreadPool selects the threads of the thread pool and the decisions on
// their number: keywords 0x10000, level Informational. At level Verbose each
// work item is logged as well.
func EnableThreadPool() etw.Enable { return KeywordThreading.Enable(etw.LevelInformational) }

// EnableJIT selects the methods that are compiled, from the start of each
// compilation on, and the tiers: keywords 0x1000000010, level Verbose.
func EnableJIT() etw.Enable { return (KeywordJit | KeywordCompilation).Enable(etw.LevelVerbose) }

// EnableLoader selects the loading of application domains, assemblies and
// modules, and the search for assemblies: keywords 0xc, level Informational.
func EnableLoader() etw.Enable {
	return (KeywordLoader | KeywordAssemblyLoader).Enable(etw.LevelInformational)
}

// EnableSymbols selects the events needed to name the code that a program runs while the
// session lasts: keywords 0xb8, level Verbose, below which most methods come without their
// names. The events of rundown's EnableEnd name the rest. [SymbolsOf] tells the effects of
// the mask.
func EnableSymbols() etw.Enable {
	return (KeywordLoader | KeywordJit | KeywordNGen | KeywordEndEnumeration).Enable(etw.LevelVerbose)
}

// EnableDefault selects the events that Microsoft's page on the CLR's providers enables for
// a profile whose addresses get names: garbage collections, loading, methods, security,
// application domains, contention, exceptions and threads. Keywords 0x1ccbd, level Verbose.
func EnableDefault() etw.Enable {
	return (KeywordGC | KeywordAssemblyLoader | KeywordLoader | KeywordJit | KeywordNGen |
		KeywordEndEnumeration | KeywordSecurity | KeywordAppDomainResourceManagement |
		KeywordContention | KeywordException | KeywordThreading).Enable(etw.LevelVerbose)
}

// EnableWithoutEnumeration selects the events of the example in Microsoft's overview of the
// CLR's events: every keyword up to Threading, but NGen and the two enumerations. Keywords
// 0x1fc1f, level Verbose.
func EnableWithoutEnumeration() etw.Enable {
	return (KeywordGC | KeywordGCHandle | KeywordAssemblyLoader | KeywordLoader | KeywordJit |
		KeywordSecurity | KeywordAppDomainResourceManagement | KeywordJitTracing | KeywordInterop |
		KeywordContention | KeywordException | KeywordThreading).Enable(etw.LevelVerbose)
}

// EnableAll selects every event of the provider. It slows a program down, and it
// causes garbage collections, since one of the keywords asks for them. The one
// keyword left out is OverrideAndSuppressNGenEvents, which takes events away.
// Keywords 0xfffe3fbfcff, level Verbose.
func EnableAll() etw.Enable {
	var all Keyword
	for _, k := range Provider.Keywords {
		all |= Keyword(k.Mask)
	}
	return (all &^ KeywordOverrideAndSuppressNGenEvents).Enable(etw.LevelVerbose)
}

// A Preset is a choice of events with a name, for programs that let people
// choose.
type Preset struct {
	Name   string
	About  string
	Enable func() etw.Enable
}

// Presets returns the choices that this package knows, each of which is a function
// of it.
func Presets() []Preset {
	return []Preset{
		{"gc", "garbage collections, pauses and heap sizes", EnableGC},
		{"gc-verbose", "garbage collections, allocation ticks, pinned and finalized objects", EnableGCVerbose},
		{"allocations", "samples of what is allocated", EnableAllocations},
		{"exceptions", "exceptions and their handling", EnableExceptions},
		{"contention", "waits for locks", EnableContention},
		{"threadpool", "threads of the thread pool", EnableThreadPool},
		{"jit", "methods that are compiled, and tiers", EnableJIT},
		{"loader", "application domains, assemblies and modules", EnableLoader},
		{"symbols", "names of the code that runs during the session", EnableSymbols},
		{"documented", "a profile with names for its addresses, as Microsoft's page has it", EnableDefault},
		{"without-enumeration", "all keywords up to Threading but those of precompiled methods", EnableWithoutEnumeration},
		{"all", "everything; slows programs down and causes collections", EnableAll},
	}
}
