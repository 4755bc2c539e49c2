package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestKernelTraces decodes all kernel events of all traces by type: each to the
// last byte of its payload, and back to the same bytes.
func TestKernelTraces(t *testing.T) {
	classes := make(map[etw.GUID]bool)
	for _, d := range kernel.Provider.Events {
		classes[d.Class] = true
	}
	registry := etw.NewRegistry(kernel.Provider)
	types := make(map[*etw.EventDesc]etw.Event)
	for _, e := range kernel.Types() {
		types[e.EventDesc()] = e
	}
	events := make(map[string]etw.Event)
	all, exact := make(map[string]int), make(map[string]int)
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		r := testio.Open(t, etl.Open, path)
		var again []byte
		for rec, err := range r.Records() {
			if errors.Is(err, etw.ErrIncomplete) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.Kind != etw.KindClassic || !classes[rec.Provider] {
				continue
			}
			d := registry.Lookup(rec.Key())
			if d == nil {
				t.Fatalf("%s: no type for %v", path, rec.Key())
			}
			kind := fmt.Sprintf("%s v%d", d.Title(), d.Version)
			e := events[kind]
			if e == nil {
				e = etwtest.New(types[d])
				events[kind] = e
			}
			all[kind]++
			n, err := e.DecodePayload(rec.Payload, rec.PointerSize)
			if err != nil || n != len(rec.Payload) {
				t.Fatalf("%s: %s at %v: read %d of %d bytes: %v", path, kind, rec.Elapsed(), n, len(rec.Payload), err)
			}
			if again, err = e.AppendPayload(again[:0], rec.PointerSize); err != nil || !bytes.Equal(again, rec.Payload) {
				t.Fatalf("%s: %s at %v: encoded as\n%x, want\n%x: %v", path, kind, rec.Elapsed(), again, rec.Payload, err)
			}
			exact[kind]++
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	total, good := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%-36s %6d of %6d", kind, exact[kind], all[kind])
		total, good = total+all[kind], good+exact[kind]
	}
	t.Logf("%d of %d events of %d kinds", good, total, len(all))
	if total < 200000 || len(all) < 90 {
		t.Errorf("only %d events of %d kinds", total, len(all))
	}
}
