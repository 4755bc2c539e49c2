package wevt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A namer gives names that are not taken yet.
type namer map[string]int // how often a name was asked for

// unused returns a name, with a number behind it if it is taken.
func (n namer) unused(name string) string {
	for {
		n[name]++
		if n[name] == 1 {
			return name
		}
		if numbered := name + "_" + strconv.Itoa(n[name]); n[numbered] == 0 {
			n[numbered] = 1
			return numbered
		}
	}
}

// stringNames gives ids to the strings of a message table: an id belongs to a
// string, which several parts may share.
type stringNames struct {
	ids   map[uint32]string
	names namer
}

// text returns the text of a message and the id of its string, which is the name
// that is asked for unless another string has that.
func (d *decoder) text(id uint32, name string) (text, stringID string) {
	if id == noMessage {
		return "", ""
	}
	if stringID = d.strings.ids[id]; stringID == "" {
		stringID = d.strings.names.unused(name)
		for i, t := range d.tables {
			if s, ok := t[id]; ok {
				d.m.Cultures[i].Strings[stringID] = s
			}
		}
		d.strings.ids[id] = stringID
	}
	for _, c := range d.m.Cultures {
		if s, ok := c.Strings[stringID]; ok {
			return s, stringID
		}
	}
	return "", ""
}

func hexName(v uint32) string { return fmt.Sprintf("0x%x", v) }

// eventName returns the source of an event's name: its task and opcode, or its id.
func eventName(e *manifest.Event) string {
	task, opcode := "", ""
	if e.Task != nil {
		task = e.Task.Name
	}
	if e.Opcode != nil && e.Opcode.Value != etw.OpcodeInfo {
		opcode = strings.TrimPrefix(e.Opcode.Name, "win:")
	}
	if strings.HasPrefix(opcode, task) {
		task = ""
	}
	if task+opcode == "" {
		return "Event" + strconv.Itoa(int(e.ID))
	}
	return manifest.Symbol(task + opcode)
}

// inventNames gives events and templates names, which the binary form has lost. An
// event is called by its task and opcode; where another id has the same, also by
// its id.
func inventNames(p *manifest.Provider) {
	owner := make(map[string]uint32)
	names := make(namer)
	for _, e := range p.Events {
		name := eventName(e)
		if first, again := owner[name]; again && first != e.ID {
			name += "_" + strconv.Itoa(int(e.ID))
		}
		owner[name] = e.ID
		if e.Version > 0 {
			name += "_V" + strconv.Itoa(int(e.Version))
		}
		e.Symbol = names.unused(name)
		if e.Template != nil {
			e.Template.ID = cmp.Or(e.Template.ID, e.Symbol+"Args")
		}
	}
	for i, t := range p.Templates {
		t.ID = cmp.Or(t.ID, names.unused("Unused"+strconv.Itoa(i+1)))
	}
}
