package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCLREventsOfRecordedTraces and TestCLREventsOfCorpus decode every event of
// the .NET runtime in real traces: each to its last byte, and encoded again to
// the same bytes.
func TestCLREventsOfRecordedTraces(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "recorded", "*.net*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded traces: %v", err)
	}
	decodeCLR(t, paths)
}

func TestCLREventsOfCorpus(t *testing.T) {
	decodeCLR(t, append(corpus.Glob(t, "nettrace", "*.net*[ef]"), corpus.Glob(t, "etl", "*.etl")...))
}

// A seenGood counts the events of one version.
type seenGood struct{ seen, good int }

func decodeCLR(t *testing.T, paths []string) {
	registry := etw.NewRegistry(clr.Provider, rundown.Provider, private.Provider, stress.Provider)
	names := make(map[etw.GUID]string)
	for _, p := range registry.Providers() {
		names[p.Desc.GUID] = strings.TrimPrefix(p.Desc.Name, "Microsoft-Windows-DotNETRuntime")
	}
	counts := make(map[etw.Key]*seenGood)
	files := make(map[string]*seenGood)
	var encoded []byte
	for _, path := range paths {
		inFile := new(seenGood)
		files[filepath.Base(path)] = inFile
		next, closer := openTrace(t, path)
		var r etw.Record
		for {
			err := next(&r)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Logf("%s ends early: %v", filepath.Base(path), err)
				break
			}
			if _, ours := names[r.Provider]; !ours || r.Kind != etw.Manifest {
				continue
			}
			k := r.Key()
			if counts[k] == nil {
				counts[k] = new(seenGood)
			}
			c := counts[k]
			c.seen++
			inFile.seen++
			var fault string
			e, n, err := registry.Decode(&r)
			switch {
			case e == nil:
				fault = "no type"
			case err != nil:
				fault = err.Error()
			case n != len(r.Payload):
				fault = fmt.Sprintf("%d of %d bytes", n, len(r.Payload))
			default:
				if encoded, err = e.AppendPayload(encoded[:0], r.PointerSize); err != nil || !bytes.Equal(encoded, r.Payload[:n]) {
					fault = fmt.Sprintf("encodes to % x, error %v; was % x", encoded, err, r.Payload[:n])
				}
			}
			switch {
			case fault == "":
				c.good++
				inFile.good++
			case c.seen-c.good == 1: // one of a kind is enough
				t.Errorf("%s: %s event %d version %d: %s", filepath.Base(path), names[k.Provider], k.ID, k.Version, fault)
			}
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Logf("%-70s %7d of %7d", name, files[name].good, files[name].seen)
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b etw.Key) int {
		return cmp.Or(cmp.Compare(names[a.Provider], names[b.Provider]), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	total := new(seenGood)
	for _, k := range keys {
		name := "?"
		if d := registry.Lookup(k); d != nil {
			name = d.Name
		}
		c := counts[k]
		t.Logf("%-8s %4d.%d %-45s %7d of %7d", names[k.Provider], k.ID, k.Version, name, c.good, c.seen)
		total.good += c.good
		total.seen += c.seen
	}
	t.Logf("%d of %d events of %d kinds", total.good, total.seen, len(keys))
	if total.seen == 0 {
		t.Error("no events of the .NET runtime")
	}
}

// openTrace opens a trace by its suffix.
func openTrace(t *testing.T, path string) (next func(*etw.Record) error, closer io.Closer) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".etl" {
		r, err := etl.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return r.Next, r
	}
	r, err := nettrace.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r.Next, r
}
