package conformance

import (
	"bytes"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestUniversalEvents decodes every event that recorders of Linux wrote, to its last byte:
// the rest of an event of the kernel, at most, is padding.
func TestUniversalEvents(t *testing.T) {
	type key struct{ name, basis string }
	counts := make(map[key]*seenGood)
	paths := slices.Concat(corpus.Glob(t, "universal", "*.nettrace"), corpus.Glob(t, "dotnet10", "v6-*.nettrace"))
	for _, path := range paths {
		r := testio.Open(t, nettrace.Open, path)
		d := builtin.NewDecoder()
		var rec etw.Record
		err := r.Next(&rec)
		for ; err == nil; err = r.Next(&rec) {
			info := d.Event(&rec)
			k := key{info.Provider + "/" + info.Name, info.Basis.String()}
			c := counts[k]
			if c == nil {
				c = new(seenGood)
				counts[k] = c
			}
			c.seen++
			values, err := d.Decode(&rec)
			if err != nil || values == nil || len(d.Rest()) > 0 {
				t.Errorf("%s: %s at %d: %v, rest %x", filepath.Base(path), k.name, rec.Timestamp, err, d.Rest())
				continue
			}
			if e, ok := values.(etw.Event); ok {
				if again, err := e.AppendPayload(nil, rec.PointerSize); err != nil || !bytes.Equal(again, rec.Payload) {
					t.Errorf("%s: %s at %d is written as %x (%v), not as %x", filepath.Base(path), k.name, rec.Timestamp, again, err, rec.Payload)
					continue
				}
			}
			c.good++
		}
		if err != io.EOF {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		r.Close()
	}
	var total seenGood
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b key) int { return bytes.Compare([]byte(a.name), []byte(b.name)) }) {
		c := counts[k]
		total.seen, total.good = total.seen+c.seen, total.good+c.good
		t.Logf("%-45s %-9s %6d of %6d", k.name, k.basis, c.good, c.seen)
	}
	t.Logf("%d of %d events of %d kinds in %d traces", total.good, total.seen, len(counts), len(paths))
}
