package golden

import (
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
)

// TestPackages runs the generated packages.
func TestPackages(t *testing.T) {
	for name, types := range packages {
		t.Run(name, func(t *testing.T) {
			etwtest.RoundTrip(t, types()...)
			etwtest.Truncate(t, types()...)
			etwtest.Clone(t, types()...)
			etwtest.Allocs(t, types()...)
		})
	}
}

// FuzzPackages fuzzes all events of all cases.
func FuzzPackages(f *testing.F) {
	var all []etw.Event
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		all = append(all, packages[name]()...)
	}
	etwtest.Fuzz(f, all...)
}
