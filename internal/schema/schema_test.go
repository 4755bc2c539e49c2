package schema_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/schema"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestProviders holds the descriptions that are made at run time against those
// that the generator made of the same manifest.
func TestProviders(t *testing.T) {
	m, _, err := manifest.ParseFile(filepath.Join("..", "..", "generated", "clr", "clr.man"), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := schema.Providers(m)
	if len(got) != len(decode.Builtins) {
		t.Fatalf("%d providers, want %d", len(got), len(decode.Builtins))
	}
	generated := make(map[etw.GUID]*etw.Provider)
	for _, p := range decode.Builtins {
		generated[p.Desc.GUID] = p.Provider
	}
	// What only generated code has.
	own := cmpopts.IgnoreFields(etw.EventDesc{}, "New", "Extends")
	byKey := cmpopts.SortSlices(func(a, b *etw.EventDesc) bool {
		return a.ID < b.ID || a.ID == b.ID && a.Version < b.Version
	})
	for _, p := range got {
		if diff := cmp.Diff(generated[p.Desc.GUID], p, own, byKey, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-generated +schema):\n%s", p.Desc.Name, diff)
		}
	}
}
