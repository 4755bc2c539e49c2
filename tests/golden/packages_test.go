package golden

import (
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
)

// TestPackages runs what the generated packages do.
func TestPackages(t *testing.T) {
	for name, p := range packages {
		t.Run(name, func(t *testing.T) {
			etwtest.RoundTrip(t, p)
			etwtest.Truncate(t, p)
			etwtest.Clone(t, p)
			etwtest.Allocs(t, p)
		})
	}
}

// FuzzPackages fuzzes all events of all cases.
func FuzzPackages(f *testing.F) {
	var all etw.Provider
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		all.Events = append(all.Events, packages[name].Events...)
	}
	etwtest.Fuzz(f, &all)
}
