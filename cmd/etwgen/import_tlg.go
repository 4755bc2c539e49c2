package main

import (
	"fmt"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/runtime/etw"
)

// lostInCode is the comment of an imported manifest.
const lostInCode = `
     Events of TraceLogging have names in place of ids; ids, symbols and tids here are
     made up. Their keywords have no names, and they have no messages.`

// maxOwned bounds how many events a manifest gets, each with every provider that may write it.
const maxOwned = 1 << 18

// importTraceLogging makes a manifest of the events of TraceLogging in a program or library.
func importTraceLogging(path string, data []byte, lenient bool) (*imported, error) {
	f, err := tlg.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(f.Damage) > 0 && !lenient {
		return nil, fmt.Errorf("%s: %w; --lenient keeps the readable part", path, f.Damage[0])
	}
	total := 0
	for _, e := range f.Events {
		total += len(e.Owners)
	}
	if total > maxOwned {
		return nil, fmt.Errorf("%s: each of its %d events may be of one of %d providers, which is too much for a manifest", path, len(f.Events), len(f.Providers))
	}
	c := &collector{providers: make(map[etw.GUID]*traced), seen: make(map[*etw.EventDesc]bool)}
	for _, e := range f.Events {
		for _, p := range e.Owners {
			d := *e.Desc
			d.Channel = traceLogging
			c.record(&etw.Record{
				Kind: etw.KindManifest, File: path, Provider: p.ID(), ProviderName: p.Name, Channel: traceLogging,
				Level: d.Level, Opcode: d.Opcode, Keywords: d.Keywords, Schema: &d,
			})
		}
	}
	out := &imported{manifest: c.manifest(), faults: c.faults, notes: c.notes}
	for _, err := range f.Damage {
		out.faults = append(out.faults, fmt.Sprintf("%s: %v", path, err))
	}
	out.comment = "Imported from " + sourceName(path) + "." + lostInCode + unsure(f)
	for _, p := range f.Providers {
		if c.providers[p.ID()] == nil {
			out.notes = append(out.notes, fmt.Sprintf("%s: no event of provider %q is known, which is left out", path, p.Name))
		}
		if p.GUID.IsZero() {
			out.notes = append(out.notes, fmt.Sprintf("%s: provider %q has no GUID in this form, and gets the one that is made of its name", path, p.Name))
		}
	}
	if len(out.manifest.Providers) == 0 {
		return nil, fmt.Errorf("%s: %w", path, tlg.ErrNone)
	}
	return out, nil
}

// unsure says in a manifest which events stand with several providers, since the file does not
// tell which of them writes them.
func unsure(f *tlg.File) string {
	s := ""
	for _, g := range f.Groups() {
		if len(g.Owners) < 2 {
			continue
		}
		s += fmt.Sprintf("\n     Each of these has %d events that one of them writes, it is not known which:", len(g.Events))
		for _, p := range g.Owners {
			s += "\n       " + p.Name
		}
	}
	return s
}
