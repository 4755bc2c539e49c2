package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCLREventsOfRecordedTraces and TestCLREventsOfCorpus decode every event of
// the .NET runtime in real traces: each to its last byte, and encoded again to
// the same bytes.
func TestCLREventsOfRecordedTraces(t *testing.T) {
	paths := testio.Glob(t, filepath.Join("..", "recorded", "*.net*"))
	decodeCLR(t, paths)
}

func TestCLREventsOfCorpus(t *testing.T) {
	decodeCLR(t, append(corpus.Glob(t, "nettrace", "*.net*[ef]"), corpus.Glob(t, "etl", "*.etl")...))
}

// A seenGood counts the events of one version.
type seenGood struct{ seen, good int }

func (c *seenGood) add(good bool) {
	c.seen++
	if good {
		c.good++
	}
}

func decodeCLR(t *testing.T, paths []string) {
	registry := etw.NewRegistry(clr.Provider, rundown.Provider, private.Provider, stress.Provider)
	decoder := etw.NewDecoder(registry.Providers()...).
		Typed(slices.Concat(clr.Types(), rundown.Types(), private.Types(), stress.Types())...)
	names := make(map[etw.GUID]string)
	for _, p := range registry.Providers() {
		names[p.Desc.GUID] = strings.TrimPrefix(p.Desc.Name, "Microsoft-Windows-DotNETRuntime")
	}
	counts := make(map[etw.Key]*seenGood)
	total := new(seenGood)
	var encoded []byte
	for _, path := range paths {
		file := filepath.Base(path)
		inFile := new(seenGood)
		for r := range records(t, path) {
			k := r.Key()
			if _, ours := names[k.Provider]; !ours || r.Kind != etw.KindManifest {
				continue
			}
			if counts[k] == nil {
				counts[k] = new(seenGood)
			}
			fault := roundTripFault(decoder, r, &encoded)
			counts[k].add(fault == "")
			inFile.add(fault == "")
			total.add(fault == "")
			if c := counts[k]; fault != "" && c.seen-c.good == 1 { // one of a kind is enough
				t.Errorf("%s: %s event %d version %d: %s", file, names[k.Provider], k.ID, k.Version, fault)
			}
		}
		t.Logf("%-70s %7d of %7d", file, inFile.good, inFile.seen)
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b etw.Key) int {
		return cmp.Or(cmp.Compare(names[a.Provider], names[b.Provider]), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	for _, k := range keys {
		name := "?"
		if d := registry.Lookup(k); d != nil {
			name = d.Name
		}
		t.Logf("%-8s %4d.%d %-45s %7d of %7d", names[k.Provider], k.ID, k.Version, name, counts[k].good, counts[k].seen)
	}
	t.Logf("%d of %d events of %d kinds", total.good, total.seen, len(keys))
	if total.seen == 0 {
		t.Error("no events of the .NET runtime")
	}
}

// roundTripFault decodes and encodes an event, and returns the fault.
func roundTripFault(decoder *etw.Decoder, r *etw.Record, buf *[]byte) string {
	values, err := decoder.Decode(r)
	e, ok := values.(etw.Event)
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return "no type"
	case len(decoder.Rest()) > 0:
		return fmt.Sprintf("%d of %d bytes are left", len(decoder.Rest()), len(r.Payload))
	}
	*buf, err = e.AppendPayload((*buf)[:0], r.PointerSize)
	if err != nil || !bytes.Equal(*buf, r.Payload) {
		return fmt.Sprintf("encodes to % x, error %v; was % x", *buf, err, r.Payload)
	}
	return ""
}

// records iterates over a trace, which it opens by the suffix.
func records(t *testing.T, path string) iter.Seq[*etw.Record] {
	return func(yield func(*etw.Record) bool) {
		next, closer := openTrace(t, path)
		var r etw.Record
		err := next(&r)
		for ; err == nil && yield(&r); err = next(&r) {
		}
		if err != nil && err != io.EOF {
			t.Errorf("%s ends early: %v", filepath.Base(path), err)
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
}

// openTrace opens a trace by its suffix.
func openTrace(t *testing.T, path string) (next func(*etw.Record) error, closer io.Closer) {
	t.Helper()
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
