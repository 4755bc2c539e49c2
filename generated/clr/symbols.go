package clr

// SymbolEvents says which of the events that give names to addresses a session
// gets from the runtime provider.
type SymbolEvents struct {
	Loader      Lifetime // of application domains, assemblies and modules
	Jitted      Lifetime // of methods that the JIT compiled, but dynamic ones
	Precompiled Lifetime // of methods of native images
	Dynamic     Lifetime // of dynamic methods
}

// A Lifetime says whether the beginnings and the ends of things are logged.
type Lifetime struct{ Load, Unload bool }

// SymbolsOf returns which events a mask of keywords causes, at level
// Informational or, for the names of methods, Verbose:
//
//	Loader                     load and unload events of domains, assemblies and modules
//	Jit                        load events of compiled methods; load and unload events
//	                           of dynamic ones. StartEnumeration adds nothing.
//	Jit, EndEnumeration        unload events of compiled methods as well
//	NGen                       nothing by itself
//	NGen, StartEnumeration     load events of precompiled methods
//	NGen, EndEnumeration       unload events of precompiled methods
//
// OverrideAndSuppressNGenEvents takes the precompiled methods away again. A session sees
// only events while it lasts; SymbolsOf of package rundown is about the rest.
// docs/clr/keywords.md has both as tables.
func SymbolsOf(keywords Keyword) SymbolEvents {
	has := func(k Keyword) bool { return keywords&k != 0 }
	var s SymbolEvents
	if has(KeywordLoader) {
		s.Loader = Lifetime{Load: true, Unload: true}
	}
	if has(KeywordJit) {
		s.Jitted = Lifetime{Load: true, Unload: has(KeywordEndEnumeration)}
		s.Dynamic = Lifetime{Load: true, Unload: true}
	}
	if has(KeywordNGen) && !has(KeywordOverrideAndSuppressNGenEvents) {
		s.Precompiled = Lifetime{Load: has(KeywordStartEnumeration), Unload: has(KeywordEndEnumeration)}
	}
	return s
}
