package conformance

import (
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestNettraceDescribedEvents decodes every event that a nettrace stream itself
// describes, by that description, each to its last byte.
func TestNettraceDescribedEvents(t *testing.T) {
	counts := make(map[string]*seenGood)
	var d etw.Dynamic
	for _, path := range corpus.Glob(t, "nettrace", "*.net*[ef]") {
		r := testio.Open(t, nettrace.Open, path)
		var rec etw.Record
		err := r.Next(&rec)
		for ; err == nil; err = r.Next(&rec) {
			if rec.Schema == nil {
				continue
			}
			name := rec.ProviderName + "/" + rec.Schema.Name
			c := counts[name]
			if c == nil {
				c = new(seenGood)
				counts[name] = c
			}
			c.seen++
			if n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize); err == nil && n == len(rec.Payload) {
				c.good++
			}
		}
		if err != io.EOF {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		r.Close()
	}
	total := new(seenGood)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := counts[name]
		total.seen += c.seen
		total.good += c.good
		t.Logf("%-80s %6d of %6d", name, c.good, c.seen)
	}
	t.Logf("%d of %d events of %d kinds", total.good, total.seen, len(counts))
	if total.good != total.seen {
		t.Errorf("%d events do not fit their descriptions", total.seen-total.good)
	}
}

// BenchmarkNettraceTyped reads whole traces and decodes every event of the .NET
// runtime into its type.
func BenchmarkNettraceTyped(b *testing.B) {
	for _, bm := range []struct{ name, file string }{
		{"HeartRateMonitor", "HeartRateMonitor.10068.nettrace"},
		{"NetCore3.0", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			data := testio.Read(b, corpus.File(b, "nettrace", bm.file))
			decoder := etw.NewDecoder(clr.Provider, rundown.Provider, private.Provider, stress.Provider).
				Typed(slices.Concat(clr.Types(), rundown.Types(), private.Types(), stress.Types())...)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			events, typed := 0, 0
			var rec etw.Record
			for b.Loop() {
				r := testio.Reader(b, nettrace.NewReader, data)
				err := r.Next(&rec)
				for ; err == nil; err = r.Next(&rec) {
					events++
					if decoder.Event(&rec).Basis != etw.BasisGenerated {
						continue
					}
					if _, err := decoder.Decode(&rec); err != nil {
						b.Fatal(err)
					}
					typed++
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			b.ReportMetric(100*float64(typed)/float64(events), "%typed")
		})
	}
}
