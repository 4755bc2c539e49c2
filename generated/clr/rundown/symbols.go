package rundown

// SymbolEvents says which of the events that give names to addresses a session
// gets from the rundown provider.
type SymbolEvents struct {
	Loader      Times // application domains, assemblies and modules
	Jitted      Times // methods that the JIT compiled, and dynamic ones
	Precompiled Times // methods of native images
}

// Times says at which rundowns things are logged.
type Times struct{ Start, End bool }

// SymbolsOf returns which events a mask of keywords causes, at level
// Informational or, for the names of methods, Verbose:
//
//	StartRundown    DCStart events of what the other keywords select
//	EndRundown      DCEnd events of what the other keywords select
//	Loader          domains, assemblies and modules
//	Jit             compiled and dynamic methods
//	NGen            precompiled methods
//
// The last three select nothing without one of the first two.
// OverrideAndSuppressNGenEvents takes the precompiled methods away again.
func SymbolsOf(keywords Keyword) SymbolEvents {
	has := func(k Keyword) bool { return keywords&k != 0 }
	times := Times{Start: has(KeywordStartRundown), End: has(KeywordEndRundown)}
	var s SymbolEvents
	if has(KeywordLoaderRundown) {
		s.Loader = times
	}
	if has(KeywordJitRundown) {
		s.Jitted = times
	}
	if has(KeywordNGenRundown) && !has(KeywordOverrideAndSuppressNGenEventsRundown) {
		s.Precompiled = times
	}
	return s
}
