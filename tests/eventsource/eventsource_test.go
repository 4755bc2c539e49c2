// Package eventsource holds tests over recordings of .NET's EventSources.
package eventsource

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// written has the payloads of sources that differ from their manifests: C# widens the
// arguments, or the code forgets them.
const written = `
System.Threading.Tasks.TplEventSource RunningContinuation TaskID=win:Int64 Object
System.Threading.Tasks.TplEventSource RunningContinuationList TaskID=win:Int64 Index=win:Int64 Object
Microsoft-Build FallbackAssemblyLoadStart none
Microsoft-Build FallbackAssemblyLoadStop none
`

// opaque lists the events of which the recordings have payloads that fit no layout,
// and why.
var opaque = map[string]string{
	"Dotnet-dev-certs/ExportCertificateStart": "a string is written where a Boolean is declared",
	"Wire-Manifest/Mismatch":                  "the arguments are swapped",
	"Wire-Manifest/TooFew":                    "an argument is forgotten",
	"Wire-SD/Span":                            "the trace has no fields for it",
	"Wire-SD/Offset":                          "the trace has no fields for it",
	"Wire-SD/Nested":                          "what the trace says has another field than the payload",
	"Wire-SD/Nulls":                           "the trace has no fields for it",
	"Wire-SD/Deep":                            "the trace has no fields for it",
	"Wire-SD/DynAll":                          "the trace has no fields for it",
	"Wire-SD/DynNull":                         "the trace has no fields for it",
}

// sourceManifests reads the manifests of EventSources, those of self-describing ones
// as such.
func sourceManifests(t *testing.T) []*etw.Provider {
	t.Helper()
	overrides, err := manifest.ParseOverrides("written", []byte(written))
	if err != nil {
		t.Fatal(err)
	}
	index := testio.Read(t, corpus.File(t, "eventsource", "index.tsv"))
	selfDescribing := make(map[string]bool)
	for line := range strings.Lines(string(index)) {
		if c := strings.Split(line, "\t"); len(c) > 9 {
			selfDescribing[c[0]] = c[9] == "yes"
		}
	}
	var all []*etw.Provider
	for _, path := range corpus.Glob(t, "eventsource", "*.man") {
		m, _, err := manifest.ParseFile(path, manifest.Options{
			SelfDescribing: selfDescribing[filepath.Base(path)], Overrides: overrides,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Providers {
			all = append(all, p.Describe())
		}
	}
	return all
}

// A tally counts the events of a provider.
type tally struct{ all, exact, overridden, other, opaque int }

// A counter decodes events by manifests and by the trace's descriptions.
type counter struct {
	*etw.Decoder
	known   *etw.Registry
	written etw.Dynamic
	counts  map[string]*tally
}

// TestRecorded decodes all events of recorded EventSources, by the manifests of those that
// have one and by the trace's descriptions for the others: each takes exactly its payload,
// by the declared layout, by an override or by a layout that is known to be written instead.
// Events that fit none are listed above.
func TestRecorded(t *testing.T) {
	providers := sourceManifests(t)
	for _, name := range []string{"wire", "fire", "web"} {
		t.Run(name, func(t *testing.T) {
			c := &counter{Decoder: etw.NewDecoder(providers...), known: etw.NewRegistry(providers...), counts: make(map[string]*tally)}
			tr := testio.Open(t, trace.Open, corpus.File(t, "dotnet10", "eventsource-"+name+".nettrace.gz"))
			defer tr.Close()
			for r := new(etw.Record); ; {
				if err := tr.Next(r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if r.Schema != nil && r.Schema.Named { // others are of the runtime
					c.count(t, r)
				}
			}
			var sum tally
			for _, p := range slices.Sorted(maps.Keys(c.counts)) {
				n := c.counts[p]
				t.Logf("%s: %d of %d: %d as declared, %d by override, %d by another layout; %d opaque",
					p, n.all-n.opaque, n.all, n.exact, n.overridden, n.other, n.opaque)
				sum.all, sum.opaque = sum.all+n.all, sum.opaque+n.opaque
			}
			t.Logf("in all %d of %d; layouts: %+v", sum.all-sum.opaque, sum.all, c.Stats())
			if sum.all < 100 {
				t.Errorf("the recording has only %d events of EventSources", sum.all)
			}
		})
	}
}

// count decodes one event.
func (c *counter) count(t *testing.T, r *etw.Record) {
	t.Helper()
	n := c.counts[r.ProviderName]
	if n == nil {
		n = new(tally)
		c.counts[r.ProviderName] = n
	}
	n.all++
	event := r.ProviderName + "/" + r.Schema.Name
	if strings.Contains(written, r.ProviderName+" "+r.Schema.Name+" ") {
		read, err := c.written.Decode(c.known.Of(r), r.Payload, r.PointerSize)
		if err != nil || read != len(r.Payload) {
			t.Errorf("%s: by the override %d of %d bytes, %v", event, read, len(r.Payload), err)
		}
		n.overridden++
		return
	}
	before := c.Stats()
	_, err := c.Decode(r)
	after := c.Stats()
	switch fits := err == nil && len(c.Rest()) == 0 && after.Unfitting == before.Unfitting; {
	case !fits && opaque[event] == "":
		t.Errorf("%s: %d bytes of %x are left, %v", event, len(c.Rest()), r.Payload[:min(len(r.Payload), 40)], err)
		fallthrough
	case !fits:
		n.opaque++
	case after != before:
		n.other++
	default:
		n.exact++
	}
}
