package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// testVersions holds the types for all versions of an event against those of the
// single versions.
func testVersions(c *campaign, cfg config) error {
	return testGenerated(c, 30, 200, chainedProvider)
}

// chainedProvider makes up events that have several versions.
func chainedProvider(r *rand.Rand, chains int) *provider {
	p := &provider{name: "Hostile", attrs: ` symbol="HOSTILE"`, maps: sampleMaps}
	for i := range chains {
		fields := randomFields(r, "F", nil, false)
		version := 0
		for j := range 2 + r.IntN(4) {
			p.events = append(p.events, event{id: i + 1, version: version, symbol: fmt.Sprintf("Ev%d_V%d", i+1, version), fields: fields})
			version += 1 + r.IntN(3)
			for range 1 + r.IntN(3) {
				fields = nextVersion(r, fields, fmt.Sprintf("N%dx", j))
			}
		}
	}
	return p
}

// nextVersion changes a template as its next version might: a field is added, removed,
// moved, or of another type, or so is a member of a struct. References keep pointing to
// definitions.
func nextVersion(r *rand.Rand, fields []field, prefix string) []field {
	next := slices.Clone(fields)
	i := r.IntN(len(next))
	f := &next[i]
	switch r.IntN(8) {
	case 0, 1:
		return append(next, randomFields(r, fmt.Sprintf("%s%dy", prefix, len(next)), counters(next), false)...)
	case 2:
		if len(next) > 1 {
			next = slices.Delete(next, i, i+1)
		}
	case 3:
		j := r.IntN(len(next))
		next[i], next[j] = next[j], next[i]
	case 4:
		if f.fields == nil && integerBits[f.in] != 0 && f.mapped == nil {
			f.in, f.out = widened(r, f.in), ""
		}
	case 5:
		if f.fields != nil {
			f.fields = nextVersion(r, f.fields, prefix+"m")
			f.fields = withoutStructs(f.fields)
		} else {
			f.retype(r)
		}
	case 6:
		f.count = size{}
		if r.IntN(2) == 0 {
			f.count = size{n: 1 + r.IntN(3)}
		}
	case 7: // a map comes or goes
		if f.fields == nil && (f.in == "UInt8" || f.in == "UInt16" || f.in == "UInt32") && f.out == "" {
			f.mapped = nil
			if r.IntN(2) == 0 {
				f.mapped = &sampleMaps[r.IntN(2)]
			}
		}
	}
	return settled(next, nil)
}

// retype gives a field another type.
func (f *field) retype(r *rand.Rand) {
	f.in, f.out, f.mapped, f.length = anyType(r), "", nil, size{}
	if f.in == "Binary" {
		f.length = size{n: 1 + r.IntN(4)}
	}
}

// counters are the fields that counts may name.
func counters(fields []field) []string {
	var names []string
	for _, f := range fields {
		if isCounter(f) {
			names = append(names, f.name)
		}
	}
	return names
}

func isCounter(f field) bool {
	switch f.in {
	case "UInt8", "UInt16", "UInt32", "HexInt32":
		return len(f.name) > len(counterPrefix) && f.name[:len(counterPrefix)] == counterPrefix && !f.count.given() && f.mapped == nil
	}
	return false
}

// settled replaces references to things that do not come before them by constants.
func settled(fields []field, outer []string) []field {
	known := slices.Clone(outer)
	for i := range fields {
		f := &fields[i]
		for _, s := range []*size{&f.count, &f.length} {
			if s.of != "" && !slices.Contains(known, s.of) {
				*s = size{n: 2}
			}
		}
		if f.fields != nil {
			f.fields = settled(slices.Clone(f.fields), known)
		}
		if isCounter(*f) {
			known = append(known, f.name)
		}
	}
	return fields
}

// withoutStructs leaves out structs, which cannot be members of one.
func withoutStructs(fields []field) []field {
	flat := slices.DeleteFunc(fields, func(f field) bool { return f.fields != nil })
	if len(flat) == 0 {
		flat = []field{{name: "Rest", in: "UInt8"}}
	}
	return flat
}

// widened returns an integer type that may replace one.
func widened(r *rand.Rand, in string) string {
	wider := map[string][]string{
		"Int8": {"Int16", "Int32", "Int64", "UInt8"}, "UInt8": {"UInt16", "UInt32", "UInt64", "Int8"},
		"Int16": {"Int32", "Int64", "Int8"}, "UInt16": {"UInt32", "UInt64", "UInt8", "Pointer"},
		"Int32": {"Int64", "Int16"}, "UInt32": {"UInt64", "Pointer", "HexInt32", "UInt16"}, "HexInt32": {"UInt32", "HexInt64"},
		"Int64": {"Int32", "Pointer"}, "UInt64": {"Pointer", "HexInt64", "UInt32"}, "HexInt64": {"UInt64"}, "Pointer": {"UInt64", "UInt32"},
	}[in]
	return wider[r.IntN(len(wider))]
}
