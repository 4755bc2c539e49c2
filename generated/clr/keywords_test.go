package clr_test

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
)

var parsers = map[string]func(string) (uint64, error){
	"Runtime": masks(clr.ParseKeywords),
	"Rundown": masks(rundown.ParseKeywords),
	"Private": masks(private.ParseKeywords),
	"Stress":  masks(stress.ParseKeywords),
}

func masks[K ~uint64](parse func(string) (K, error)) func(string) (uint64, error) {
	return func(list string) (uint64, error) {
		k, err := parse(list)
		return uint64(k), err
	}
}

// TestParseKeywords holds the names that people type, of which no other table has
// the masks.
func TestParseKeywords(t *testing.T) {
	for _, test := range []struct {
		provider, list string
		want           uint64
	}{
		// one keyword in many spellings
		{"Runtime", "GC", 0x1},
		{"Runtime", "gc", 0x1},
		{"Runtime", "GCKeyword", 0x1},
		{"Runtime", "KeywordGC", 0x1},
		{"Runtime", "PerfTrackKeyWord", 0x20000000},

		// lists
		{"Runtime", "GC+Loader+Jit", 0x19},
		{"Runtime", "gc|loader|jit", 0x19},
		{"Runtime", "GCKeyword, LoaderKeyword,JitKeyword", 0x19},
		{"Runtime", "GC 0x8000", 0x8001},
		{"Runtime", "32768", 0x8000},

		// the .NET Framework
		{"Runtime", "FusionKeyword", 0x4},
		{"Runtime", "GCHeapCollectKeyword", 0x800000},
		{"Runtime", "AppDomainResourceMonitoringKeyword", 0x800},

		// dotnet-trace
		{"Runtime", "fusion+gcheapcollect", 0x800004},
		{"Runtime", "managedheadcollect", 0x800000},
		{"Runtime", "gcsampledobjectallcationhigh", 0x200000},
		{"Runtime", "gcsampledobjectallcationlow", 0x2000000},
		{"Runtime", "waithandle+allocationsampling", 0xc0000000000},

		// TraceEvent
		{"Runtime", "None", 0},
		{"Runtime", "All", 0xffffffffffffffbf},
		{"Runtime", "Binder", 0x4},
		{"Runtime", "StopEnumeration", 0x80},
		{"Runtime", "SupressNGen", 0x40000},
		{"Runtime", "SuppressNGen", 0x40000},
		{"Runtime", "Codesymbols", 0x400000000},
		{"Runtime", "GCAllObjectAllocation", 0x2200000},
		{"Runtime", "JITSymbols", 0x60098},
		{"Runtime", "GCHeapSnapshot", 0x1980001},
		{"Runtime", "Default", 0x14c14fccbd},

		{"Rundown", "Loader+Jit+NGen+End", 0x138},
		{"Rundown", "LoaderRundownKeyword JitRundownKeyword NGenRundownKeyword StartRundownKeyword", 0x78},
		{"Rundown", "ForceEndRundown|Jit|SupressNGen|JittedMethodILToNativeMap|Loader|Stack", 0x40060118},
		{"Rundown", "AppDomainResourceMonitoringRundownKeyword", 0x800},
		{"Private", "GC|Binding|Fusion|Startup", 0x8000000b},
		{"Private", "PrivateFusionKeyword", 0x8},
		{"Stress", "stack", 0x40000000},
	} {
		got, err := parsers[test.provider](test.list)
		if err != nil || got != test.want {
			t.Errorf("%s %q: %#x, error %v; want %#x", test.provider, test.list, got, err, test.want)
		}
	}
}

// TestParseKeywordsKnowsOwnNames parses every keyword of every provider, in the
// spelling of the manifest, of the Go constant, and without any ending.
func TestParseKeywordsKnowsOwnNames(t *testing.T) {
	for name, p := range providers {
		for _, k := range p.Keywords {
			bare := strings.TrimSuffix(k.Name, "Keyword")
			for _, spelling := range []string{k.Name, bare, "Keyword" + bare, strings.ToLower(bare), strings.ToUpper(k.Name)} {
				if got, err := parsers[name](spelling); err != nil || got != k.Mask {
					t.Errorf("%s %s: %#x, error %v; want %#x", name, spelling, got, err, k.Mask)
				}
			}
		}
	}
}

func TestParseKeywordsFaults(t *testing.T) {
	for list, want := range map[string]string{
		"":                    `"" names no keyword of Microsoft-Windows-DotNETRuntime`,
		" , ":                 `" , " names no keyword of Microsoft-Windows-DotNETRuntime`,
		"GC+Fuson":            `"Fuson" is neither a keyword of Microsoft-Windows-DotNETRuntime nor a mask such as 0x8000; did you mean Fusion?`,
		"GCHandel":            `"GCHandel" is neither a keyword of Microsoft-Windows-DotNETRuntime nor a mask such as 0x8000; did you mean GCHandle?`,
		"Deadlocks":           `"Deadlocks" is neither a keyword of Microsoft-Windows-DotNETRuntime nor a mask such as 0x8000`,
		"0x1ffffffffffffffff": `"0x1ffffffffffffffff" is neither a keyword of Microsoft-Windows-DotNETRuntime nor a mask such as 0x8000`,
	} {
		if got, err := clr.ParseKeywords(list); got != 0 || err == nil || err.Error() != want {
			t.Errorf("%q: %#x, error %v\nwant %s", list, got, err, want)
		}
	}
}
