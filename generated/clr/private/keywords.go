package private

import "github.com/etwgen/etwgen/generated/internal/keywords"

// ParseKeywords returns the mask of a list of keywords, such as "gc+binding". It does the
// same for this provider as ParseKeywords of package clr for the runtime's. Names may lack
// the word Private.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse(Provider, keywordAliases, list)
}

// keywordAliases are the names of keywords that clr.man does not have.
var keywordAliases = []keywords.Alias[Keyword]{
	{Name: "None", Mask: 0},
	{Name: "GC", Mask: KeywordGCPrivate},
	{Name: "Fusion", Mask: KeywordPrivateFusion},
	{Name: "LoaderHeap", Mask: KeywordLoaderHeapPrivate},
	{Name: "Security", Mask: KeywordSecurityPrivate},
	{Name: "Interop", Mask: KeywordInteropPrivate},
	{Name: "GCHandle", Mask: KeywordGCHandlePrivate},
	{Name: "MulticoreJit", Mask: KeywordMulticoreJitPrivate},
	{Name: "PerfTrack", Mask: KeywordPerfTrackPrivate},
}
