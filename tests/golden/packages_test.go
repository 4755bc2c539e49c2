package golden

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"

	boolean "github.com/etwgen/etwgen/tests/golden/boolean/want"
	constants "github.com/etwgen/etwgen/tests/golden/constants/want"
	count "github.com/etwgen/etwgen/tests/golden/count/want"
	counted "github.com/etwgen/etwgen/tests/golden/counted/want"
	docs "github.com/etwgen/etwgen/tests/golden/docs/want"
	empty "github.com/etwgen/etwgen/tests/golden/empty/want"
	enums "github.com/etwgen/etwgen/tests/golden/enums/want"
	fixed "github.com/etwgen/etwgen/tests/golden/fixed/want"
	length "github.com/etwgen/etwgen/tests/golden/length/want"
	lenient "github.com/etwgen/etwgen/tests/golden/lenient/want"
	names "github.com/etwgen/etwgen/tests/golden/names/want"
	narrowed "github.com/etwgen/etwgen/tests/golden/narrowed/want"
	opaque "github.com/etwgen/etwgen/tests/golden/opaque/want"
	outer "github.com/etwgen/etwgen/tests/golden/outer/want"
	pointer "github.com/etwgen/etwgen/tests/golden/pointer/want"
	rename "github.com/etwgen/etwgen/tests/golden/rename/want"
	rest "github.com/etwgen/etwgen/tests/golden/rest/want"
	shared "github.com/etwgen/etwgen/tests/golden/shared/want"
	sizeless "github.com/etwgen/etwgen/tests/golden/sizeless/want"
	strings "github.com/etwgen/etwgen/tests/golden/strings/want"
	structs "github.com/etwgen/etwgen/tests/golden/structs/want"
	symbols "github.com/etwgen/etwgen/tests/golden/symbols/want"
	titles "github.com/etwgen/etwgen/tests/golden/titles/want"
	twice "github.com/etwgen/etwgen/tests/golden/twice/want"
	versions "github.com/etwgen/etwgen/tests/golden/versions/want"
)

// packages holds what the generator made of each case without errors.
var packages = map[string]*etw.Provider{
	"boolean":   boolean.Provider,
	"constants": constants.Provider,
	"count":     count.Provider,
	"docs":      docs.Provider,
	"counted":   counted.Provider,
	"empty":     empty.Provider,
	"enums":     enums.Provider,
	"fixed":     fixed.Provider,
	"length":    length.Provider,
	"lenient":   lenient.Provider,
	"names":     names.Provider,
	"narrowed":  narrowed.Provider,
	"opaque":    opaque.Provider,
	"outer":     outer.Provider,
	"pointer":   pointer.Provider,
	"rename":    rename.Provider,
	"rest":      rest.Provider,
	"shared":    shared.Provider,
	"sizeless":  sizeless.Provider,
	"strings":   strings.Provider,
	"structs":   structs.Provider,
	"symbols":   symbols.Provider,
	"titles":    titles.Provider,
	"twice":     twice.Provider,
	"versions":  versions.Provider,
}

// TestPackages runs what a generated package does.
func TestPackages(t *testing.T) {
	made, err := filepath.Glob("*/want/provider.etw.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range made {
		if name := filepath.Dir(filepath.Dir(path)); packages[name] == nil {
			t.Errorf("package %s is not listed", name)
		}
	}
	for name, p := range packages {
		t.Run(name, func(t *testing.T) {
			etwtest.RoundTrip(t, p)
			etwtest.Truncate(t, p)
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
