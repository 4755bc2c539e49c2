package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
)

// manifests makes manifests with hostile names, and damages real ones.
type manifests struct {
	*campaign
	check *checker
	real  [][]byte
	// Their outcomes.
	accepted, refused, packages, clashes int
}

// one makes a manifest and generates packages from it.
func (m *manifests) one(r *rand.Rand) {
	var text []byte
	if len(m.real) > 0 && r.IntN(2) == 0 {
		text = mutateText(r, m.real[r.IntN(len(m.real))])
	} else {
		text = hostileProvider(r).manifest()
		if r.IntN(8) == 0 {
			text = mutateText(r, text)
		}
	}
	m.mutant = text
	tests := r.IntN(2) == 0
	for _, lenient := range []bool{false, true} {
		m.generate(text, lenient, tests)
	}
}

// generate parses a manifest and generates a package for each provider. Names may
// clash in strict mode; nothing else may go wrong.
func (m *manifests) generate(text []byte, lenient, tests bool) {
	parsed, _, err := manifest.Parse("hostile.man", text, manifest.Options{Lenient: lenient})
	if err != nil {
		m.refused++
		if parsed != nil {
			m.find("model", "a model in spite of an error, lenient %t: %v", lenient, err)
		}
		return
	}
	m.accepted++
	parsed.Describe()
	for i := range parsed.Providers {
		opts := gen.Options{Package: "p", Provider: fmt.Sprintf("#%d", i+1), Lenient: lenient, Tests: tests}
		files, err := gen.Generate(parsed, opts)
		if err != nil {
			m.clashes++
			if lenient {
				m.find("clash", "lenient mode does not settle it: %v", err)
			}
			continue
		}
		m.packages++
		if err := m.check.files(files); err != nil {
			m.find("compile", "lenient %t, tests %t: %v", lenient, tests, err)
		}
		if err := injected(files); err != nil {
			m.find("injection", "lenient %t: %v", lenient, err)
		}
		if _, err := gen.Reference(parsed, opts); err != nil && lenient {
			m.find("reference", "%v", err)
		}
	}
}

// hostileProvider makes up a provider whose names are hostile, mostly: with some
// that are not more manifests are accepted.
func hostileProvider(r *rand.Rand) *provider {
	nasty := r.IntN(3)
	name := func(fallback string) string {
		if r.IntN(4) <= nasty {
			return hostileName(r)
		}
		return fmt.Sprintf("%s%d", fallback, r.IntN(30))
	}
	p := &provider{name: name("Provider"), attrs: " symbol=" + quoted(name("SYMBOL"))}
	if r.IntN(2) == 0 {
		p.attrs += " message=" + quoted(hostileName(r))
	}
	var b strings.Builder
	for i, group := range []string{"channel", "level", "task", "opcode", "keyword"} {
		fmt.Fprintf(&b, "<%ss>", group)
		for j := range r.IntN(4) {
			value := fmt.Sprint(16 + j)
			if group == "keyword" {
				value = fmt.Sprintf("0x%x", 1<<j)
			}
			extra := ""
			if group == "channel" {
				extra = ` type="Admin" chid="C` + fmt.Sprint(j) + `"`
			}
			fmt.Fprintf(&b, "<%s name=%s value=\"%s\" symbol=%s message=%s%s/>", group, quoted(name("N")), value, quoted(name("S"+fmt.Sprint(i))), quoted(hostileName(r)), extra)
		}
		fmt.Fprintf(&b, "</%ss>\n", group)
	}
	p.elements = b.String()
	for range r.IntN(3) {
		m := mapping{name: name("Map"), flags: r.IntN(2) == 0}
		for j := range 1 + r.IntN(4) {
			m.entries = append(m.entries, entry{1 << j, name("Entry")})
		}
		p.maps = append(p.maps, m)
	}
	id, version := 0, 0
	for range 1 + r.IntN(5) {
		if id == 0 || r.IntN(3) > 0 {
			id, version = id+1, 0
		} else {
			version++
		}
		p.events = append(p.events, event{
			id: id, version: version, symbol: name("Event"),
			more:   " message=" + quoted(hostileName(r)),
			fields: hostileFields(r, p.maps, name, true),
		})
	}
	return p
}

// hostileFields makes up the fields of a template or of a struct.
func hostileFields(r *rand.Rand, maps []mapping, name func(string) string, top bool) []field {
	var fields []field
	for range 1 + r.IntN(5) {
		f := field{name: name("Field"), in: anyType(r)}
		switch {
		case top && r.IntN(5) == 0:
			f.in, f.fields = "", hostileFields(r, maps, name, false)
		case f.in == "Binary":
			f.length = size{n: 1 + r.IntN(9)}
		case f.in == "UInt32" && len(maps) > 0:
			f.mapped = &maps[r.IntN(len(maps))]
		}
		if r.IntN(4) == 0 {
			f.count = size{n: 1 + r.IntN(3)}
			if len(fields) > 0 && r.IntN(2) == 0 {
				f.count = size{of: fields[r.IntN(len(fields))].name}
			}
		}
		fields = append(fields, f)
	}
	return fields
}
