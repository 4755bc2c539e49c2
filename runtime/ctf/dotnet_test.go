package ctf

import (
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

var runtimes = map[string]*etw.Provider{
	"DotNETRuntime": clr.Provider, "DotNETRuntimePrivate": private.Provider,
	"DotNETRuntimeRundown": rundown.Provider, "DotNETRuntimeStress": stress.Provider,
}

// The table has each event of the providers of .NET, by its symbol.
func TestRuntimeEvents(t *testing.T) {
	for name, want := range runtimes {
		p := provider(name)
		if p == nil || p.desc.Name != want.Desc.Name || p.desc.GUID != want.Desc.GUID {
			t.Errorf("%s is %v, and not %v", name, p, want.Desc)
			continue
		}
		for _, d := range want.Events {
			if d.Name == noPayload && d.Version == 2 {
				continue
			}
			if e, ok := p.event(d.Name); !ok || e.id != d.ID || e.version != d.Version {
				t.Errorf("%s is %+v, %t; the manifest has %d and version %d", d.Name, e, ok, d.ID, d.Version)
			}
		}
		if e, ok := p.event("GCNothing_V1"); ok {
			t.Errorf("an event that there is not is %+v", e)
		}
	}
}

// Events of .NET have the payload that the manifest says: as declared in the metadata of a real
// trace, and as read from it, to the last byte.
func TestRuntimePayloads(t *testing.T) {
	registry := etw.NewRegistry(clr.Provider, private.Provider, rundown.Provider, stress.Provider)
	declared, read := 0, 0
	for dir, f := range folders(t, corpus.File(t, "recordings", "ctf", "clr-only.trace.zip")) {
		r := f.reader(t)
		for _, s := range r.model.streams {
			for id := range s.events {
				c, err := r.model.class(s, id)
				if err != nil {
					t.Fatal(err)
				}
				if d := registry.Lookup(etw.Key{Provider: c.provider.GUID, ID: c.event.id, Version: c.event.version}); c.runtime != nil {
					declared++
					if d == nil {
						t.Errorf("%s has no description", c.name)
						continue
					}
					comparePayload(t, c, d)
				}
			}
		}
		var e etw.Dynamic
		for rec := range testio.Records(t, r.Records()) {
			d := registry.Of(rec)
			if d == nil {
				continue
			}
			if n, err := e.Decode(d, rec.Payload, rec.PointerSize); err != nil || n != len(rec.Payload) {
				t.Fatalf("%s: %s: %d of %d bytes, %v", dir, d.Name, n, len(rec.Payload), err)
			}
			read++
		}
	}
	t.Logf("%d kinds of events, %d events", declared, read)
	if declared < 168 || read < 10000 {
		t.Errorf("of %d kinds of events and %d events the payload is that of the manifest", declared, read)
	}
}

// comparePayload compares the parts of the payload of a kind of events with its description.
func comparePayload(t *testing.T, c *class, d *etw.EventDesc) {
	t.Helper()
	var parts []*node
	for _, n := range c.fields.nodes {
		if !n.hidden {
			parts = append(parts, n)
		}
	}
	if len(parts) == 1 && parts[0].name == "__data__" { // the payload whole
		return
	}
	if len(parts) != len(d.Fields) {
		t.Errorf("%s has %d parts, and the description %d", d.Name, len(parts), len(d.Fields))
		return
	}
	for i, n := range parts {
		f := &d.Fields[i]
		same := n.name == f.Name
		switch n.kind {
		case kindInteger, kindFloat:
			same = same && f.Type.Size(etw.Ptr64)*8 == n.size
		case kindString:
			same = same && (f.Type == etw.InUnicodeString && n.wide || f.Type == etw.InAnsiString && !n.wide)
		}
		if !same {
			t.Errorf("%s: part %d is %s, of kind %d and %d bits, and not %s %s", d.Name, i, n.name, n.kind, n.size, f.Name, f.Type)
		}
	}
}
