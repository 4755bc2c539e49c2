package dotnet_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// A tally counts the recorded events of a provider.
type tally struct{ all, typed, described int }

// TestRecorded decodes recordings of real sources: fire has every event of 66 of them,
// web those of a server and its client. Each event that is known takes
// exactly its payload, by its type or by its description, without falling back to
// another layout; encoded again it is the same bytes; and its header is as described.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"fire", "web"} {
		t.Run(name, func(t *testing.T) {
			d := decoder()
			d.Find = dotnet.Of
			counts := make(map[string]*tally)
			tr := testio.Open(t, trace.Open, corpus.File(t, "dotnet10", "eventsource-"+name+".nettrace.gz"))
			defer tr.Close()
			for r := new(etw.Record); ; {
				if err := tr.Next(r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if dotnet.Of(r) == nil || r.Schema.Name == "EventCounters" {
					continue // of package counters
				}
				n := counts[r.ProviderName]
				if n == nil {
					n = new(tally)
					counts[r.ProviderName] = n
				}
				n.count(t, d, r)
			}
			var sum tally
			for _, p := range slices.Sorted(maps.Keys(counts)) {
				n := counts[p]
				t.Logf("%s: %d of %d: %d by type, %d by description", p, n.typed+n.described, n.all, n.typed, n.described)
				sum.all, sum.typed, sum.described = sum.all+n.all, sum.typed+n.typed, sum.described+n.described
			}
			t.Logf("in all %d of %d", sum.typed+sum.described, sum.all)
			if s := d.Stats(); s != (etw.DecoderStats{}) {
				t.Errorf("events were decoded by other layouts: %+v", s)
			}
			if sum.typed+sum.described != sum.all || sum.all < 20000 {
				t.Errorf("%d of %d events are decoded", sum.typed+sum.described, sum.all)
			}
		})
	}
}

// decoder returns one that knows all packages and their types.
func decoder() *etw.Decoder {
	var providers []*etw.Provider
	var types []etw.Event
	for _, p := range packages {
		providers, types = append(providers, p.Provider), append(types, p.Types()...)
	}
	return etw.NewDecoder(providers...).Typed(types...)
}

// count decodes one event.
func (n *tally) count(t *testing.T, d *etw.Decoder, r *etw.Record) {
	t.Helper()
	n.all++
	e := d.Event(r)
	title := r.ProviderName + "/" + r.Schema.Name
	switch {
	case e.Basis == etw.BasisGenerated:
		n.typed++
	case e.Basis == etw.BasisManifest, partlyKnown[r.ProviderName] && e.Basis == etw.BasisSchema:
		n.described++
	default:
		t.Errorf("%s is decoded by %s", title, e.Basis)
		return
	}
	values, err := d.Decode(r)
	if err != nil || len(d.Rest()) > 0 {
		t.Errorf("%s: %d of %d bytes are left, %v", title, len(d.Rest()), len(r.Payload), err)
		return
	}
	if e.Basis == etw.BasisGenerated {
		again, err := values.(etw.Event).AppendPayload(nil, r.PointerSize)
		if err != nil || !bytes.Equal(again, r.Payload) {
			t.Errorf("%s: encoded again %x, %v, want %x", title, again, err, r.Payload)
		}
	}
	if e.Basis == etw.BasisSchema || e.Desc.ID == 0 {
		return // the header is that of the trace; errors of sources have all keywords
	}
	if got := e.Desc; got.Level != r.Level || got.Opcode != r.Opcode || got.Keywords != r.Keywords&^etw.SessionKeywords {
		t.Errorf("%s has level %v, opcode %v and keywords %#x, described are %v, %v and %#x",
			title, r.Level, r.Opcode, r.Keywords, got.Level, got.Opcode, got.Keywords)
	}
}

// partlyKnown are the sources of which only those events are known that they declare
// wrongly. A trace describes the others.
var partlyKnown = map[string]bool{"StreamJsonRpc": true, "Dotnet-dev-certs": true}
