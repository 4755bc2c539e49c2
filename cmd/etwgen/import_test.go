package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestImportTraces makes manifests of all traces of the corpus, reads those, and decodes the
// events by them: they describe each event as the trace itself does.
func TestImportTraces(t *testing.T) {
	traces := slices.Concat(corpus.Glob(t, "etl", "*.etl"), corpus.Glob(t, "nettrace", "*.net*"), corpus.Glob(t, "dotnet10", "*.gz"),
		corpus.Glob(t, "universal", "*.nettrace"))
	var all tally
	files := 0
	for i, path := range traces {
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".txt") || testing.Short() && i%4 != 0 {
			continue
		}
		in, err := importPath(t, path)
		if err != nil {
			if !strings.Contains(err.Error(), "no event has a description") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		m, _, err := manifest.Parse(name, in.text(), manifest.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for n := range m.Providers {
			if _, err := gen.Generate(m, gen.Options{Package: "p", Provider: "#" + strconv.Itoa(n+1)}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		files++
		n := checkDecodes(t, path, m)
		all.add(n)
		if n.conflicts > 0 && len(in.faults) == 0 {
			t.Errorf("%s: the trace contradicts itself %d times, and no fault says so", name, n.conflicts)
		}
	}
	t.Logf("%d of %d events of %d traces decode by imported manifests as by the traces themselves; %d have a part that manifests have no form for, %d another layout than the one before",
		all.decoded, all.decoded+all.opaque+all.conflicts, files, all.opaque, all.conflicts)
}

// importPath imports a trace.
func importPath(t *testing.T, path string) (*imported, error) {
	t.Helper()
	tr := testio.Open(t, trace.Open, path)
	defer tr.Close()
	return importTraces(context.Background(), tr, path)
}

// A tally counts the events that a trace describes.
type tally struct {
	decoded   int // by the manifest as by the trace
	opaque    int // the manifest does not know the layout to its end
	conflicts int // the trace has several layouts, and the manifest another one
}

func (t *tally) add(u tally) {
	t.decoded, t.opaque, t.conflicts = t.decoded+u.decoded, t.opaque+u.opaque, t.conflicts+u.conflicts
}

// checkDecodes decodes the events of a trace by a manifest, whose events are found as
// generated types are.
func checkDecodes(t *testing.T, path string, m *manifest.Manifest) (n tally) {
	t.Helper()
	registry := etw.NewRegistry(m.Describe()...)
	tr := testio.Open(t, trace.Open, path)
	defer tr.Close()
	first := make(map[*etw.EventDesc]*etw.EventDesc)
	var want, got etw.Dynamic
	for r, err := range tr.Records() {
		if err != nil {
			break // what is damaged is for the tests of the readers
		}
		if r.Schema == nil || len(r.Schema.Fields) == 0 || r.Kind != etw.KindManifest || r.Opcode == manifestData || r.ProviderName == ofStream {
			continue
		}
		desc := registry.Of(r)
		if desc == nil {
			t.Errorf("%s: nothing takes %s, event %d version %d of %s", filepath.Base(path), r.Schema.Title(), r.ID, r.Version, r.ProviderName)
			return n
		}
		if hasOpaque(desc) {
			n.opaque++
			continue
		}
		if first[desc] == nil {
			first[desc] = r.Schema
		}
		if !slices.EqualFunc(first[desc].Fields, r.Schema.Fields, sameLayout) {
			n.conflicts++
			continue
		}
		a, errA := want.Decode(r.Schema, r.Payload, r.PointerSize)
		b, errB := got.Decode(desc, r.Payload, r.PointerSize)
		if (errA == nil) != (errB == nil) || a != b {
			t.Errorf("%s: %s: %d bytes, %v; by the manifest %d, %v", filepath.Base(path), desc.Name, a, errA, b, errB)
			return n
		}
		for name, v := range want.Fields() {
			if w, ok := got.Field(name); errA == nil && (!ok || strings.TrimRight(v.String(), "\x00") != w.String()) {
				t.Errorf("%s: %s: %s is %v, by the manifest %v", filepath.Base(path), desc.Name, name, v, w)
				return n
			}
		}
		n.decoded++
	}
	return n
}

// hasOpaque reports whether the layout of an event is not known to its end.
func hasOpaque(d *etw.EventDesc) bool {
	n := len(d.Fields)
	return n > 0 && d.Fields[n-1].Length.Kind == etw.SizeRest
}

// TestImportable: of a folder, files are taken by their names.
func TestImportable(t *testing.T) {
	for name, want := range map[string]bool{"App.dll": true, "System.evtx": true, "x.EVTX": true, "a.nettrace.gz": true, "notes.txt": false, "evtx": false} {
		if got := importable(name); got != want {
			t.Errorf("importable(%q) is %v", name, got)
		}
	}
}

// TestImportLeavesOut: events that a trace does not describe are named.
func TestImportLeavesOut(t *testing.T) {
	in, err := importPath(t, corpus.File(t, "dotnet10", "eventsource.nettrace"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(in.faults, "\n")
	for _, name := range []string{"Bytes", "Arrays", "Dict", "Item", "Items", "Order"} {
		if !strings.Contains(all, strconv.Quote(name)) {
			t.Errorf("no word of %s in\n%s", name, all)
		}
	}
}
