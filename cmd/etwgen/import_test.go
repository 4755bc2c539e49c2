package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestImportTraces makes manifests of all traces of the corpus, reads those, and
// decodes the events by them: they say of each event what the trace itself says.
func TestImportTraces(t *testing.T) {
	traces := slices.Concat(corpus.Glob(t, "etl", "*.etl"), corpus.Glob(t, "nettrace", "*.net*"), corpus.Glob(t, "dotnet10", "*.gz"))
	events, files := 0, 0
	for i, path := range traces {
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".txt") || testing.Short() && i%4 != 0 {
			continue
		}
		in, err := importPath(t, path)
		if err != nil {
			if msg := err.Error(); !strings.Contains(msg, "no event has a description") && !strings.Contains(msg, "left out") {
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
			if _, err := gen.Generate(m, gen.Options{Package: "p", Provider: "#" + string(rune('1'+n))}); err != nil && n < 9 {
				t.Errorf("%s: %v", name, err)
			}
		}
		files++
		n, conflicts := checkDecodes(t, path, m)
		events += n
		if conflicts > 0 && len(in.faults) == 0 {
			t.Errorf("%s: the trace contradicts itself %d times, and no fault says so", name, conflicts)
		}
	}
	t.Logf("%d events of %d traces decode by imported manifests as by the traces themselves", events, files)
}

// importPath imports a trace.
func importPath(t *testing.T, path string) (*imported, error) {
	t.Helper()
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	return importTraces(context.Background(), tr, path)
}

// checkDecodes decodes the events of a trace by a manifest, and returns how many
// there are, and how many have another layout in the trace than earlier ones.
func checkDecodes(t *testing.T, path string, m *manifest.Manifest) (n, conflicts int) {
	t.Helper()
	descs := make(map[etw.Key]*etw.EventDesc)
	for _, p := range m.Describe() {
		for _, e := range p.Events {
			descs[e.Key()] = e
		}
	}
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	first := make(map[etw.Key]*etw.EventDesc)
	var want, got etw.Dynamic
	for r, err := range tr.Records() {
		if err != nil {
			break // what is damaged is for the tests of the readers
		}
		desc := descs[r.Key()]
		if r.Schema == nil || len(r.Schema.Fields) == 0 || desc == nil || hasOpaque(desc) {
			continue
		}
		if first[r.Key()] == nil {
			first[r.Key()] = r.Schema
		}
		if !slices.EqualFunc(first[r.Key()].Fields, r.Schema.Fields, sameLayout) {
			conflicts++
			continue
		}
		a, errA := want.Decode(r.Schema, r.Payload, r.PointerSize)
		b, errB := got.Decode(desc, r.Payload, r.PointerSize)
		if (errA == nil) != (errB == nil) || a != b {
			t.Errorf("%s: %s: %d bytes, %v; by the manifest %d, %v", filepath.Base(path), desc.Name, a, errA, b, errB)
			return n, conflicts
		}
		for name, v := range want.Fields() {
			if w, ok := got.Field(name); errA == nil && (!ok || v.String() != w.String()) {
				t.Errorf("%s: %s: %s is %v, by the manifest %v", filepath.Base(path), desc.Name, name, v, w)
				return n, conflicts
			}
		}
		n++
	}
	return n, conflicts
}

// hasOpaque reports whether the layout of an event is not known to its end.
func hasOpaque(d *etw.EventDesc) bool {
	n := len(d.Fields)
	return n > 0 && d.Fields[n-1].Length.Kind == etw.SizeRest
}
