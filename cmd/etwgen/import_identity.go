package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A traced is a provider with the events that a trace describes.
type traced struct {
	desc   *etw.ProviderDesc
	events map[tracedKey]*etw.EventDesc
}

// A tracedKey is the identity of an event in a trace.
type tracedKey struct {
	id      uint16
	version uint8
	name    string // where the trace names each event
	noID    bool   // there is nothing but the name
	shape   int    // counts the layouts that the trace has of all that
}

// A tracedEvent is an event of a manifest under construction. It has the name by
// which records identify it, where its id does not.
type tracedEvent struct {
	*etw.EventDesc
	name string
}

// identify decides the identity of each event, and returns all in the order of a manifest.
// Programs are written for ids, so that an id counts, where it is that of one event alone,
// and a declared one. Events of TraceLogging have none; an event that .NET counts and writes
// by name has one that is free, or that of another event, and in the next trace another one.
// Those go by their names, with an id that only the manifest has.
func (t *traced) identify() (events []tracedEvent, said remarks) {
	keys := slices.Collect(maps.Keys(t.events))
	order.Sort(keys, func(a, b tracedKey) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version), cmp.Compare(a.id, b.id), cmp.Compare(a.shape, b.shape))
	})
	byName := t.namedEvents(keys)
	taken := make(map[uint16]bool)
	for _, k := range keys {
		switch {
		case byName[k.name]:
			continue
		case k.shape > 0:
			said.faults = append(said.faults, fmt.Sprintf("%s: event %d version %d has several layouts, and the first is kept", t.desc.Name, k.id, k.version))
			continue
		case k.name != "" && t.events[tracedKey{id: k.id, version: k.version}] != nil:
			continue // the same event, as another kind of trace describes it
		}
		taken[k.id] = true
		events = append(events, tracedEvent{EventDesc: t.events[k]})
	}
	named, more := t.numberNamed(keys, byName, taken)
	events, said = append(events, named...), remarks{append(said.faults, more.faults...), more.notes}
	order.Sort(events, func(a, b tracedEvent) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	return events, said
}

// Remarks are notes on an import beside its manifest.
type remarks struct{ faults, notes []string }

// numberNamed gives the events that go by names the ids that are not taken, the same
// for all versions of one, and makes one event of all layouts that share a name.
func (t *traced) numberNamed(keys []tracedKey, byName map[string]bool, taken map[uint16]bool) (events []tracedEvent, said remarks) {
	ids := make(map[string]uint16)
	next := uint16(0)
	for len(keys) > 0 {
		k := keys[0]
		n := slices.IndexFunc(keys, func(other tracedKey) bool { return other.name != k.name || other.version != k.version })
		if n < 0 {
			n = len(keys)
		}
		group := keys[:n]
		keys = keys[n:]
		if !byName[k.name] {
			continue
		}
		if ids[k.name] == 0 {
			for next++; taken[next] && next < math.MaxUint16; next++ {
			}
			if next == math.MaxUint16 {
				said.faults = append(said.faults, fmt.Sprintf("%s: there are more events than ids; %q and others are left out", t.desc.Name, k.name))
				break
			}
			ids[k.name] = next
		}
		e := *t.events[k]
		e.ID = ids[k.name]
		for _, other := range group[1:] {
			if !t.same(k, other) {
				e.Fields = t.shared(group)
				said.notes = append(said.notes, fmt.Sprintf("%s: event %q has several layouts under one name; the fields with which all begin are kept, and the others are one opaque field", t.desc.Name, k.name))
				break
			}
		}
		events = append(events, tracedEvent{&e, k.name})
	}
	return events, said
}

// namedEvents returns the names of the events that ids do not identify: those that
// have none, or one that may be chosen at run time, those whose id another one has,
// too, and those that have one layout under several ids.
func (t *traced) namedEvents(keys []tracedKey) map[string]bool {
	byName := t.numberedAtRunTime()
	first := make(map[tracedKey]tracedKey) // by id and version
	ids := make(map[tracedKey][]tracedKey) // by name and version
	for _, k := range keys {               // those without a name are the first
		id := tracedKey{id: k.id, version: k.version}
		other, taken := first[id]
		switch {
		case k.name != "" && (k.noID || !isASCII(k.name)):
			byName[k.name] = true
		case !taken:
			first[id] = k
		case other.name != k.name && (other.name != "" || !t.same(other, k)):
			byName[k.name] = true
			if other.name != "" {
				byName[other.name] = true
			}
		}
		name := tracedKey{name: k.name, version: k.version}
		ids[name] = append(ids[name], k)
	}
	for k, list := range ids {
		if k.name != "" && len(list) > 1 && !slices.ContainsFunc(list, func(other tracedKey) bool { return !t.same(list[0], other) }) {
			byName[k.name] = true
		}
	}
	return byName
}

// same reports whether two descriptions are of one layout.
func (t *traced) same(a, b tracedKey) bool {
	return slices.EqualFunc(t.events[a].Fields, t.events[b].Fields, sameLayout)
}

// isASCII reports whether the symbol of a name has all its letters.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 0x7f })
}
