package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestRuntimeIDs: which events of one trace of EventPipe go by their names.
func TestRuntimeIDs(t *testing.T) {
	one := []etw.FieldDesc{{Name: "V", Type: etw.InInt32}}
	const method = etw.SessionKeywords | 4
	event := func(id uint16, version uint8, keywords uint64, name string) *etw.EventDesc {
		return &etw.EventDesc{ID: id, Version: version, Keywords: keywords, Name: name, Named: true, Fields: one}
	}
	for _, tt := range []struct {
		what    string
		events  []*etw.EventDesc
		want    string // id, version, keywords, name
		guessed bool
	}{
		{"Write", []*etw.EventDesc{event(22, 0, 0, "A"), event(30, 0, 2, "B")}, "1.0/0=A 2.0/2=B", false},
		{"a source that declares the id 1", []*etw.EventDesc{event(1, 0, method, "A"), event(7, 0, method, "B"), event(8, 0, 0, "C")}, "1.0/4 2.0/0=C 7.0/4", false},
		{"a source that declares a version", []*etw.EventDesc{event(5, 2, method, "A"), event(7, 0, method, "B")}, "5.2/4 7.0/4", false},
		{"messages of a source", []*etw.EventDesc{event(0, 0, 1<<64-1, "EventSourceMessage"), event(7, 0, method, "B")}, "0.0/18446744073709551615 7.0/4", false},
		{"a source of any kind", []*etw.EventDesc{event(5, 0, method, "A"), event(7, 0, method, "B")}, "1.0/4=A 2.0/4=B", true},
		{"a version without .NET", []*etw.EventDesc{event(7, 1, 0, "A")}, "7.1/0", false},
	} {
		p := &traced{desc: &etw.ProviderDesc{Name: "P"}, events: make(map[tracedKey]*etw.EventDesc)}
		for _, e := range tt.events {
			p.events[tracedKey{id: e.ID, version: e.Version, name: e.Name}] = e
		}
		events, said := p.identify()
		p.withoutSession(events)
		if source := strings.HasPrefix(tt.what, "a source") || tt.what == "messages of a source"; p.desc.EventSource != source {
			t.Errorf("%s: it is said to be an EventSource: %t", tt.what, p.desc.EventSource)
		}
		var got []string
		for _, e := range events {
			s := fmt.Sprintf("%d.%d/%d", e.ID, e.Version, e.Keywords)
			if e.name != "" {
				s += "=" + e.name
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || p.guessed() != tt.guessed || len(said.faults)+len(said.notes) > 0 {
			t.Errorf("%s: guessed %v, remarks %q (-want +got)\n%s", tt.what, p.guessed(), said, diff)
		}
	}
}

// TestSharedLayouts: events of one name and several layouts are one, even where one id
// is that of both in two traces.
func TestSharedLayouts(t *testing.T) {
	name := etw.FieldDesc{Name: "Name", Type: etw.InUnicodeString}
	payload := func(last string, typ etw.InType) []etw.FieldDesc {
		return []etw.FieldDesc{{Name: "Payload", Type: etw.InStruct, Fields: []etw.FieldDesc{name, {Name: last, Type: typ}}}}
	}
	c := &collector{providers: make(map[etw.GUID]*traced), seen: make(map[*etw.EventDesc]bool)}
	for i, fields := range [][]etw.FieldDesc{payload("Mean", etw.InDouble), payload("Increment", etw.InDouble), payload("Mean", etw.InDouble)} {
		d := &etw.EventDesc{ID: 4 + uint16(i/2), Name: "EventCounters", Named: true, Fields: fields}
		c.record(&etw.Record{Provider: etw.GUID{1}, ID: d.ID, ProviderName: "P", Schema: d})
	}
	m := c.manifest()
	if len(c.faults) > 0 || len(c.notes) != 1 || !slices.Equal(c.named, []string{"P"}) || len(c.guessed) > 0 {
		t.Errorf("faults %q, notes %q, named %q, guessed %q", c.faults, c.notes, c.named, c.guessed)
	}
	if len(m.Providers[0].Events) != 1 {
		t.Fatalf("there are %d events", len(m.Providers[0].Events))
	}
	e := m.Providers[0].Events[0]
	var got []string
	for _, f := range e.Template.Fields {
		got = append(got, f.Name)
		for _, member := range f.Fields {
			got = append(got, f.Name+"."+member.Name)
		}
	}
	if diff := cmp.Diff([]string{"Payload", "Payload.Name", "Rest"}, got); diff != "" || e.TraceName != "EventCounters" {
		t.Errorf("named %q (-want +got)\n%s", e.TraceName, diff)
	}
}

// TestNextRecording: the import of one trace finds the events of another one of the same
// program, and is the same to compat.
func TestNextRecording(t *testing.T) {
	path := corpus.File(t, "dotnet10", "eventsource.nettrace")
	next := corpus.File(t, "dotnet10", "netperf-eventsource.netperf")
	var manifests []*manifest.Manifest
	for _, p := range []string{path, next} {
		in, err := importPath(t, p)
		if err != nil {
			t.Fatal(err)
		}
		m := testio.Parse(t, manifest.Parse, p, in.text(), manifest.Options{})
		manifests = append(manifests, m)
	}
	for _, c := range manifest.Compare(manifests[0], manifests[1]) {
		if c.Rule != "provider" { // those that the other program did not have on
			t.Error(c)
		}
	}
	checkDecodes(t, next, manifests[0])
}

// TestCountersOfTwo: counters have one type in each provider, whatever ids they had.
func TestCountersOfTwo(t *testing.T) {
	paths := []string{corpus.File(t, "dotnet10", "counters.nettrace"), corpus.File(t, "dotnet10", "eventsource-web.nettrace.gz")}
	tr := testio.Open(t, trace.OpenAll, paths)
	defer tr.Close()
	in, err := importTraces(context.Background(), tr, slices.Clone(paths)...)
	if err != nil {
		t.Fatal(err)
	}
	m := testio.Parse(t, manifest.Parse, "counters.man", in.text(), manifest.Options{})
	sources := 0
	for i, p := range m.Providers { // what is written is what handlers ask by
		if p.EventSource != in.manifest.Providers[i].EventSource {
			t.Errorf("read again, %s is an EventSource: %t", p.Name, p.EventSource)
		}
		if p.EventSource {
			sources++
		}
	}
	if sources == 0 || sources == len(m.Providers) {
		t.Errorf("%d of %d providers are EventSources", sources, len(m.Providers))
	}
	providers := 0
	for _, p := range in.manifest.Providers {
		for _, k := range p.Keywords {
			if k.Mask&etw.SessionKeywords != 0 {
				t.Errorf("%s has the keyword %s of .NET", p.Name, k.Name)
			}
		}
		n := 0
		for _, e := range p.Events {
			if strings.HasPrefix(e.Symbol, "EventCounters") {
				if n++; e.TraceName != "EventCounters" {
					t.Errorf("%s: %s goes by its id %d", p.Name, e.Symbol, e.ID)
				}
			}
		}
		if n > 1 {
			t.Errorf("%s has %d events of counters", p.Name, n)
		}
		providers += n
	}
	// Events with arrays of bytes have no description in a trace.
	faults := slices.DeleteFunc(slices.Clone(in.faults), func(f string) bool {
		return strings.HasSuffix(f, `event "DumpBuffer" (4) is left out: the trace has no description of its fields`)
	})
	if providers == 0 || len(faults) > 0 {
		t.Errorf("%d providers have counters; faults %q", providers, faults)
	}
}
