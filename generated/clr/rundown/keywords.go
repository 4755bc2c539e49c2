package rundown

import "github.com/etwgen/etwgen/generated/internal/keywords"

// ParseKeywords returns the mask of a list of keywords, such as "loader+jit+end". It does
// the same for this provider as ParseKeywords of package clr for the runtime's. Names may
// lack the word Rundown, and those of TraceEvent and PerfView are known, such as
// ForceEndRundown for EndRundown and SupressNGen.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse(Provider, keywordAliases, list)
}

// keywordAliases are the names of keywords that clr.man does not have.
var keywordAliases = []keywords.Alias[Keyword]{
	{Name: "None", Mask: 0},
	{Name: "GC", Mask: KeywordGCRundown},
	{Name: "Loader", Mask: KeywordLoaderRundown},
	{Name: "Jit", Mask: KeywordJitRundown},
	{Name: "NGen", Mask: KeywordNGenRundown},
	{Name: "Start", Mask: KeywordStartRundown},
	{Name: "StartEnumeration", Mask: KeywordStartRundown},
	{Name: "End", Mask: KeywordEndRundown},
	{Name: "ForceEndRundown", Mask: KeywordEndRundown},
	{Name: "AppDomainResourceManagement", Mask: KeywordAppDomainResourceManagementRundown},
	{Name: "AppDomainResourceMonitoringRundown", Mask: KeywordAppDomainResourceManagementRundown},
	{Name: "ThreadingRundown", Mask: KeywordThreading},
	{Name: "JittedMethodILToNativeMap", Mask: KeywordJittedMethodILToNativeMapRundown},
	{Name: "OverrideAndSuppressNGenEvents", Mask: KeywordOverrideAndSuppressNGenEventsRundown},
	{Name: "SuppressNGen", Mask: KeywordOverrideAndSuppressNGenEventsRundown},
	{Name: "SupressNGen", Mask: KeywordOverrideAndSuppressNGenEventsRundown}, // as it is spelled there
	{Name: "PerfTrack", Mask: KeywordPerfTrackRundown},
	{Name: "StackRundown", Mask: KeywordStack},
	{Name: "CompilationRundown", Mask: KeywordCompilation},
}
