package rundown_test

import (
	"fmt"
	"testing"

	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestEnable holds the masks that the documentation of each function states.
func TestEnable(t *testing.T) {
	tests := []struct {
		name   string
		enable etw.Enable
		want   string
	}{
		{"EnableEnd", rundown.EnableEnd(), "0x138:5"}, // overview; the providers page's 0xB8 lacks EndRundown
		{"EnableStart", rundown.EnableStart(), "0x78:5"},

		// The needs of handlers, with a rundown: methods have names at level Verbose.
		{"AtEnd", rundown.AtEnd(etw.Enable{Keywords: uint64(rundown.KeywordJitRundown), Level: 4}), "0x110:5"},
		{"AtStart", rundown.AtStart(etw.Enable{Keywords: uint64(rundown.KeywordJitRundown), Level: 4}), "0x50:5"},
	}
	for _, test := range tests {
		if got := fmt.Sprintf("%#x:%d", test.enable.Keywords, test.enable.Level); got != test.want {
			t.Errorf("%s is %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSymbols holds the rows of the second table of the overview page: keywords
// of the rundown provider and the events they cause.
func TestSymbols(t *testing.T) {
	const (
		loader, jit, ngen = rundown.KeywordLoaderRundown, rundown.KeywordJitRundown, rundown.KeywordNGenRundown
		start, end        = rundown.KeywordStartRundown, rundown.KeywordEndRundown
	)
	atStart, atEnd := rundown.Times{Start: true}, rundown.Times{End: true}
	tests := []struct {
		name     string
		keywords rundown.Keyword
		want     rundown.SymbolEvents
	}{
		{"Loader", loader, rundown.SymbolEvents{}},
		{"Loader, Start", loader | start, rundown.SymbolEvents{Loader: atStart}},
		{"Loader, End", loader | end, rundown.SymbolEvents{Loader: atEnd}},
		{"Jit", jit, rundown.SymbolEvents{}},
		{"Jit, Start", jit | start, rundown.SymbolEvents{Jitted: atStart}},
		{"Jit, End", jit | end, rundown.SymbolEvents{Jitted: atEnd}},
		{"NGen", ngen, rundown.SymbolEvents{}},
		{"NGen, Start", ngen | start, rundown.SymbolEvents{Precompiled: atStart}},
		{"NGen, End", ngen | end, rundown.SymbolEvents{Precompiled: atEnd}},
		{"NGen overridden", ngen | end | rundown.KeywordOverrideAndSuppressNGenEventsRundown, rundown.SymbolEvents{}},
		{"the page's 0xB8", 0xb8, rundown.SymbolEvents{}},
		{"EnableEnd", rundown.Keyword(rundown.EnableEnd().Keywords), rundown.SymbolEvents{Loader: atEnd, Jitted: atEnd, Precompiled: atEnd}},
		{"EnableStart", rundown.Keyword(rundown.EnableStart().Keywords), rundown.SymbolEvents{Loader: atStart, Jitted: atStart, Precompiled: atStart}},
	}
	for _, test := range tests {
		if got := rundown.SymbolsOf(test.keywords); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
