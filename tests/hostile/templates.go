package main

import (
	"fmt"
	"math/rand/v2"
)

// counterPrefix begins the names of fields whose values are small, so that counts
// and lengths may name them.
const counterPrefix = "Num"

// maps are those of every provider that is made up for payloads.
var sampleMaps = []mapping{
	{name: "Values", entries: []entry{{0, "zero"}, {1, "one"}, {200, "two hundred"}}},
	{name: "Bits", flags: true, entries: []entry{{1, "a"}, {2, "b"}, {4, "c \"quoted\""}}},
}

// randomFields makes up a template, or with outer the members of a struct. outer
// are the counters around it.
func randomFields(r *rand.Rand, prefix string, outer []string, inStruct bool) []field {
	var fields []field
	counters := outer
	for i := range 1 + r.IntN(8) {
		f := field{name: fmt.Sprintf("%s%d", prefix, i)}
		reference := func(most int) size {
			if len(counters) > 0 && r.IntN(10) < 7 {
				return size{of: counters[r.IntN(len(counters))]}
			}
			return size{n: 1 + r.IntN(most)}
		}
		switch k := r.IntN(20); {
		case k < 4:
			f.name = counterPrefix + f.name
			f.in = []string{"UInt8", "UInt16", "UInt32", "HexInt32"}[r.IntN(4)]
			counters = append(counters[:len(counters):len(counters)], f.name)
		case k < 7 && !inStruct:
			f.fields = randomFields(r, f.name+"m", counters, true)
			if r.IntN(5) > 0 {
				f.count = reference(3)
			}
		case k < 10:
			f.in = []string{"Binary", "UnicodeString", "AnsiString"}[r.IntN(3)]
			f.length = reference(5)
			if r.IntN(5) < 2 {
				f.count = reference(3)
			}
		case k < 12:
			f.in = []string{"UInt8", "UInt16", "UInt32"}[r.IntN(3)]
			f.mapped = &sampleMaps[r.IntN(2)]
			if r.IntN(3) == 0 {
				f.count = reference(3)
			}
		default:
			f.in = anyType(r)
			f.out = anyOut(r, f.in)
			if f.in == "Binary" {
				f.length = reference(5)
			}
			if r.IntN(5) < 2 {
				f.count = reference(3)
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// randomProvider makes up events of one version each.
func randomProvider(r *rand.Rand, events int) *provider {
	p := &provider{name: "Hostile", attrs: ` symbol="HOSTILE"`, maps: sampleMaps}
	for i := range events {
		p.events = append(p.events, event{id: i + 1, symbol: fmt.Sprintf("Ev%d", i+1), fields: randomFields(r, "F", nil, false)})
	}
	return p
}
