package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestIdentify: the identity of an event of a trace.
func TestIdentify(t *testing.T) {
	one := []etw.FieldDesc{{Name: "V", Type: etw.InInt32}}
	two := []etw.FieldDesc{{Name: "V", Type: etw.InInt64}}
	for _, tt := range []struct {
		what   string
		events map[tracedKey][]etw.FieldDesc
		want   string // id, version and name, if it goes by that
		faults int    // or notes
	}{
		{"ids without names", map[tracedKey][]etw.FieldDesc{{id: 7}: one, {id: 7, version: 1}: two, {id: 3}: one}, "3.0 7.0 7.1", 0},
		{"ids with names", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 3, name: "B"}: two}, "3.0 7.0", 0},
		{"no ids", map[tracedKey][]etw.FieldDesc{{name: "B", noID: true}: one, {name: "A", noID: true}: one, {id: 1}: one}, "1.0 2.0=A 3.0=B", 0},
		{"one event under two ids", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 8, name: "A"}: one}, "1.0=A", 0},
		{"two events of one name", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 8, name: "A"}: two}, "7.0 8.0", 0},
		{"two events under one id", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 7, name: "B"}: one, {id: 1, name: "C"}: one}, "1.0 2.0=A 3.0=B", 0},
		{"versions stay together", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 7, name: "B"}: one, {id: 9, version: 1, name: "A"}: two}, "1.0=A 1.1=A 2.0=B", 0},
		{"two kinds of traces", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 7}: one}, "7.0", 0},
		{"an id taken by name", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: two, {id: 7}: one}, "1.0=A 7.0", 0},
		{"a name no symbol has", map[tracedKey][]etw.FieldDesc{{id: 7, name: "Größe"}: one}, "1.0=Größe", 0},
		{"layouts under one name", map[tracedKey][]etw.FieldDesc{{id: 7, name: "A"}: one, {id: 8, name: "A"}: two, {id: 8, name: "B"}: one}, "1.0=A 2.0=B", 1},
	} {
		p := &traced{desc: &etw.ProviderDesc{Name: "P"}, events: make(map[tracedKey]*etw.EventDesc)}
		for k, fields := range tt.events {
			p.events[k] = &etw.EventDesc{ID: k.id, Version: k.version, Name: k.name, Fields: fields}
		}
		events, said := p.identify()
		var got []string
		for _, e := range events {
			s := fmt.Sprintf("%d.%d", e.ID, e.Version)
			if e.name != "" {
				s += "=" + e.name
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || len(said.faults)+len(said.notes) != tt.faults {
			t.Errorf("%s: remarks %q (-want +got)\n%s", tt.what, said, diff)
		}
	}
}
