package clr_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestEnable holds the masks that the documentation of each function states.
func TestEnable(t *testing.T) {
	tests := []struct {
		name   string
		enable etw.Enable
		want   string
	}{
		{"EnableGC", clr.EnableGC(), "0x1:4"},
		{"EnableGCVerbose", clr.EnableGCVerbose(), "0x1:5"},
		{"EnableAllocations", clr.EnableAllocations(), "0x80000000001:5"},
		{"EnableExceptions", clr.EnableExceptions(), "0x8000:4"},
		{"EnableContention", clr.EnableContention(), "0x4000:4"},
		{"EnableThreadPool", clr.EnableThreadPool(), "0x10000:4"},
		{"EnableJIT", clr.EnableJIT(), "0x1000000010:5"},
		{"EnableLoader", clr.EnableLoader(), "0xc:4"},
		{"EnableSymbols", clr.EnableSymbols(), "0xb8:5"},
		{"EnableAll", clr.EnableAll(), "0xfffe3fbfcff:5"},

		// The command lines of the public pages.
		{"EnableDefault", clr.EnableDefault(), "0x1ccbd:5"},                       // providers page, step 1
		{"EnableWithoutEnumeration", clr.EnableWithoutEnumeration(), "0x1fc1f:5"}, // overview
	}
	for _, test := range tests {
		if got := fmt.Sprintf("%#x:%d", test.enable.Keywords, test.enable.Level); got != test.want {
			t.Errorf("%s is %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEnableGetsEvents checks that a preset gets the events it is for: their keywords and
// levels are among those it enables.
func TestEnableGetsEvents(t *testing.T) {
	handlers := map[string]func(*etw.Mux){
		"gc": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AnyGCStart) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.AnyGCSuspendEEBegin) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.AnyGCHeapStats) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.GCPerHeapHistoryV3) error { return nil })
		},
		"gc-verbose": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AnyGCAllocationTick) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.PinObjectAtGCTime) error { return nil })
		},
		"allocations": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AnyGCAllocationTick) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.AllocationSampled) error { return nil })
		},
		"exceptions": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.ExceptionCatchStart) error { return nil })
		},
		"contention": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AnyContentionStart) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.AnyContentionStop) error { return nil })
		},
		"threadpool": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.ThreadPoolWorkerThreadAdjustmentAdjustment) error { return nil })
		},
		"jit": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AnyMethodJittingStarted) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.TieredCompilationBackgroundJitStart) error { return nil })
		},
		"loader": func(m *etw.Mux) {
			etw.Handle(m, func(*etw.Record, *clr.AssemblyLoadV1) error { return nil })
			etw.Handle(m, func(*etw.Record, *clr.AssemblyLoadStart) error { return nil })
		},
	}
	presets := make(map[string]bool)
	for _, p := range clr.Presets() {
		if presets[p.Name] || p.About == "" {
			t.Errorf("preset %q is there twice, or says nothing about itself", p.Name)
		}
		presets[p.Name] = true
		handle, ok := handlers[p.Name]
		if !ok {
			continue
		}
		delete(handlers, p.Name)
		var mux etw.Mux
		handle(&mux)
		e := p.Enable()
		for _, need := range mux.Enablement() {
			if need.Provider.GUID != e.Provider.GUID || need.Keywords&^e.Keywords != 0 || need.Level > e.Level {
				t.Errorf("preset %s enables %#x:%d; its events need %#x:%d", p.Name, e.Keywords, e.Level, need.Keywords, need.Level)
			}
		}
	}
	for name := range handlers {
		t.Errorf("no preset %s", name)
	}
}

// TestEnableAll checks that nothing is left out: no event, and none that a keyword
// would suppress.
func TestEnableAll(t *testing.T) {
	all := clr.EnableAll()
	for _, d := range clr.Provider.Events {
		if d.Level > all.Level || d.Keywords != 0 && d.Keywords&all.Keywords == 0 {
			t.Errorf("%s needs %#x:%d", d.Name, d.Keywords, d.Level)
		}
	}
	both := clr.Lifetime{Load: true, Unload: true}
	if got, want := clr.SymbolsOf(clr.Keyword(all.Keywords)), (clr.SymbolEvents{Loader: both, Jitted: both, Precompiled: both, Dynamic: both}); got != want {
		t.Errorf("symbols: %+v, want %+v", got, want)
	}
}

// TestSymbols holds the rows of the first table of the overview page: keywords
// of the runtime provider and the events they cause.
func TestSymbols(t *testing.T) {
	none, load, unload, both := clr.Lifetime{}, clr.Lifetime{Load: true}, clr.Lifetime{Unload: true}, clr.Lifetime{Load: true, Unload: true}
	tests := []struct {
		name     string
		keywords clr.Keyword
		want     clr.SymbolEvents
	}{
		{"nothing", 0, clr.SymbolEvents{none, none, none, none}},
		{"Loader", clr.KeywordLoader, clr.SymbolEvents{Loader: both}},
		{"Jit", clr.KeywordJit, clr.SymbolEvents{Jitted: load, Dynamic: both}},
		{"Jit, StartEnumeration", clr.KeywordJit | clr.KeywordStartEnumeration, clr.SymbolEvents{Jitted: load, Dynamic: both}},
		{"Jit, EndEnumeration", clr.KeywordJit | clr.KeywordEndEnumeration, clr.SymbolEvents{Jitted: both, Dynamic: both}},
		{"NGen", clr.KeywordNGen, clr.SymbolEvents{}},
		{"NGen, StartEnumeration", clr.KeywordNGen | clr.KeywordStartEnumeration, clr.SymbolEvents{Precompiled: load}},
		{"NGen, EndEnumeration", clr.KeywordNGen | clr.KeywordEndEnumeration, clr.SymbolEvents{Precompiled: unload}},
		{"enumerations alone", clr.KeywordStartEnumeration | clr.KeywordEndEnumeration, clr.SymbolEvents{}},
		{"NGen overridden", clr.KeywordNGen | clr.KeywordStartEnumeration | clr.KeywordOverrideAndSuppressNGenEvents, clr.SymbolEvents{}},
		{"EnableSymbols", clr.Keyword(clr.EnableSymbols().Keywords), clr.SymbolEvents{Loader: both, Jitted: both, Precompiled: unload, Dynamic: both}},
	}
	for _, test := range tests {
		if got := clr.SymbolsOf(test.keywords); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// Of all events, these alone ask for keywords that change the program which is watched: no
// other keyword brings them.
func TestCostlyEvents(t *testing.T) {
	want := []string{"AllocationSampled", "DestroyGCHandle", "GCBulkEdge", "GCBulkMovedObjectRanges", "GCBulkNode", "GCBulkRCW",
		"GCBulkRootCCW", "GCBulkRootConditionalWeakTableElementEdge", "GCBulkRootEdge", "GCBulkRootStaticVar", "GCBulkSurvivingObjectRanges",
		"GCGenerationRange", "GCSampledObjectAllocationHigh", "GCSampledObjectAllocationLow", "GenAwareBegin", "GenAwareEnd", "SetGCHandle"}
	costly := make(map[string]bool)
	for _, d := range clr.Provider.Events {
		e := d.Enable()
		if e.Keywords&^d.Keywords != 0 || e.Keywords == 0 && d.Keywords != 0 || e.Changes() != 0 && e.Changes() != e.Keywords {
			t.Errorf("%s has the keywords %#x, and asks for %v", d.Name, d.Keywords, e)
		}
		if e.Changes() != 0 {
			costly[d.Name] = true
		}
	}
	if got := slices.Sorted(maps.Keys(costly)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
