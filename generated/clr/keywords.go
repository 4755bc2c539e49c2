package clr

import "github.com/etwgen/etwgen/generated/internal/keywords"

// ParseKeywords returns the mask of a list of keywords, such as "gc+loader+jit",
// in whose place a mask such as 0x8000 can stand, too. Names are separated by +,
// |, commas or spaces; case does not matter. It knows each keyword by its name
// here, by that in the manifest with or without the ending Keyword, and by those
// that other tools and older documentation have: the names that dotnet-trace
// takes for --clrevents, and those of TraceEvent and PerfView, among them
//
//	Fusion, Binder                    AssemblyLoader
//	StopEnumeration                   EndEnumeration
//	SuppressNGen, SupressNGen         OverrideAndSuppressNGenEvents
//	GCHeapCollect                     ManagedHeapCollect
//	GCAllObjectAllocation             GCSampledObjectAllocationHigh and ...Low
//	JITSymbols                        what gives names to compiled code
//	GCHeapSnapshot                    what it takes to dump the heap
//	Default                           what PerfView enables; EnableDefault selects less
//	All                               everything but StartEnumeration, with what
//	                                  keywords of the future mean
//	None                              nothing
//
// [EnableAll] leaves out the keyword that takes events away, which All does not.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse(Provider, keywordAliases, list)
}

// keywordAliases are the names of keywords that clr.man does not have.
var keywordAliases = []keywords.Alias[Keyword]{
	// TraceEvent and PerfView
	{Name: "None", Mask: 0},
	{Name: "All", Mask: ^KeywordStartEnumeration},
	{Name: "Binder", Mask: KeywordAssemblyLoader},
	{Name: "StopEnumeration", Mask: KeywordEndEnumeration},
	{Name: "SuppressNGen", Mask: KeywordOverrideAndSuppressNGenEvents},
	{Name: "SupressNGen", Mask: KeywordOverrideAndSuppressNGenEvents}, // as it is spelled there
	{Name: "GCAllObjectAllocation", Mask: KeywordGCSampledObjectAllocationHigh | KeywordGCSampledObjectAllocationLow},
	{Name: "JITSymbols", Mask: KeywordJit | KeywordEndEnumeration | KeywordJittedMethodILToNativeMap |
		KeywordOverrideAndSuppressNGenEvents | KeywordLoader},
	{Name: "GCHeapSnapshot", Mask: KeywordGC | KeywordManagedHeapCollect | KeywordGCHeapDump |
		KeywordGCHeapAndTypeNames | KeywordType},
	{Name: "Default", Mask: KeywordGC | KeywordType | KeywordGCHeapSurvivalAndMovement | KeywordAssemblyLoader |
		KeywordLoader | KeywordJit | KeywordNGen | KeywordOverrideAndSuppressNGenEvents | KeywordEndEnumeration |
		KeywordSecurity | KeywordAppDomainResourceManagement | KeywordException | KeywordThreading |
		KeywordContention | KeywordStack | KeywordJittedMethodILToNativeMap | KeywordThreadTransfer |
		KeywordGCHeapAndTypeNames | KeywordCodeSymbols | KeywordCompilation},

	// the .NET Framework and its documentation
	{Name: "Fusion", Mask: KeywordAssemblyLoader},
	{Name: "GCHeapCollect", Mask: KeywordManagedHeapCollect},
	{Name: "AppDomainResourceMonitoring", Mask: KeywordAppDomainResourceManagement},

	// slips of dotnet-trace, in some of its versions
	{Name: "ManagedHeadCollect", Mask: KeywordManagedHeapCollect},
	{Name: "GCSampledObjectAllcationHigh", Mask: KeywordGCSampledObjectAllocationHigh},
	{Name: "GCSampledObjectAllcationLow", Mask: KeywordGCSampledObjectAllocationLow},
}
