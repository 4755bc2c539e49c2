package wevt

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// messageIDs gives messages their ids. An id belongs to a string: whoever uses it first, in
// the order of the compiler, decides on it.
type messageIDs struct {
	byPart   map[any]uint32
	byString map[string]uint32
	taken    map[uint32]bool
	strings  []usedString
}

// A usedString is a string of a message table.
type usedString struct {
	id       uint32
	stringID string // "" if the text is the same in all languages
	text     string
}

// of returns the id of a part's message.
func (m *messageIDs) of(part any) uint32 {
	if id, ok := m.byPart[part]; ok {
		return id
	}
	return noMessage
}

// add gives a part's message the wanted id, if its string is new, and reports
// whether it is.
func (m *messageIDs) add(part any, want uint32, stringID, text string) bool {
	if stringID == "" && text == "" {
		return false
	}
	key := "id " + stringID
	if stringID == "" {
		key = "text " + text
	}
	id, used := m.byString[key]
	if !used {
		for id = want; m.taken[id]; {
			id++
		}
		m.byString[key] = id
		m.taken[id] = true
		m.strings = append(m.strings, usedString{id, stringID, text})
	}
	m.byPart[part] = id
	return !used
}

// number gives ids to all messages of a provider, kind by kind.
func (e *providerEncoder) number() {
	p, m, base := e.p, e.messages, e.index<<providerShift
	channel := uint32(messageOfChannel)
	if m.add(p, base|messageOfProvider, p.MessageID, p.Message) {
		channel++
	}
	for _, c := range p.Channels {
		if m.add(c, base|channel, c.MessageID, c.Message) {
			channel++
		}
	}
	values, bitCount := uint32(messageOfValue), uint32(messageOfBit)
	for _, valueMap := range p.Maps {
		next := &values
		if valueMap.Flags {
			next = &bitCount
		}
		for _, entry := range valueMap.Entries {
			if m.add(entry, base|(*next+1), entry.StringID, entry.Message) {
				*next++
			}
		}
	}
	e.numberOpcodes(base)
	for _, l := range p.Levels {
		m.add(l, base|messageOfLevel|uint32(l.Value), l.MessageID, l.Message)
	}
	for _, ev := range p.Events {
		if l := ev.Level; l != nil && isStandard(l.Name) {
			m.add(l, base|messageOfLevel|uint32(l.Value), "", cmp.Or(l.Message, standardText(l.Name)))
		}
	}
	for _, t := range p.Tasks {
		m.add(t, base|messageOfTask|uint32(t.Value), t.MessageID, t.Message)
	}
	for _, k := range p.Keywords {
		m.add(k, base|messageOfKeyword+uint32(bits.TrailingZeros64(k.Mask))+1, k.MessageID, k.Message)
	}
	for _, ev := range p.Events {
		m.add(ev, base|messageOfEvent+uint32(ev.Version)<<16+ev.ID, ev.MessageID, ev.Message)
	}
}

// numberOpcodes gives ids to the messages of opcodes, those of Windows with them.
func (e *providerEncoder) numberOpcodes(base uint32) {
	add := func(o *manifest.Opcode, stringID, text string) {
		e.messages.add(o, base|messageOfOpcode+uint32(taskOf(o))<<16+uint32(o.Value), stringID, text)
	}
	for _, o := range e.p.Opcodes {
		add(o, o.MessageID, o.Message)
	}
	for _, t := range e.p.Tasks {
		for _, o := range t.Opcodes {
			add(o, o.MessageID, o.Message)
		}
	}
	for _, ev := range e.p.Events {
		if o := ev.Opcode; o != nil && isStandard(o.Name) {
			add(o, "", cmp.Or(o.Message, standardText(o.Name)))
		}
	}
}

// standardText returns the text of a level or an opcode that Windows defines.
func standardText(name string) string {
	name = strings.TrimPrefix(name, "win:")
	switch name {
	case etw.LevelInformational.String():
		return "Information"
	case etw.LevelLogAlways.String():
		return "Log Always"
	}
	return name
}

// tables returns a message table for each language of a manifest. Where one lacks
// a string it has the text of the first that has it.
func (m *messageIDs) tables(from *manifest.Manifest) (map[Language][]byte, error) {
	cultures := from.Cultures
	if len(cultures) == 0 {
		cultures = []*manifest.Culture{{Name: English.String()}}
	}
	tables := make(map[Language][]byte)
	for _, c := range cultures {
		l, ok := ParseLanguage(c.Name)
		if !ok {
			return nil, manifest.ErrorList{{Pos: c.Pos, Msg: fmt.Sprintf("culture %q has no known number; write it as a number such as 0x409", c.Name)}}
		}
		table := make(messageTable)
		for _, s := range m.strings {
			text, has := c.Strings[s.stringID]
			if !has || s.stringID == "" {
				text = s.text
			}
			table[s.id] = text
		}
		var err error
		if tables[l], err = table.encode(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return tables, nil
}
