package eventsource

import (
	"fmt"
	"strings"
)

// The standard opcodes, which need no declaration.
var standardOpcodes = map[int64]string{
	1: "win:Start", 2: "win:Stop", 3: "win:DC_Start", 4: "win:DC_Stop", 5: "win:Extension",
	6: "win:Reply", 7: "win:Resume", 8: "win:Suspend", 9: "win:Send", 240: "win:Receive",
}

// The channels of Windows, of which the first two are enabled by default.
var channelNames = []string{"Admin", "Operational", "Analytic", "Debug"}

const (
	firstChannel   = 16
	mostChannels   = 8
	reservedMasks  = 0xf << 60 // of channels
	lastUndeclared = 1 << 48   // from here on, a keyword needs no declaration
)

// start begins an event: it looks its keywords, opcode, task and channel up.
func (b *builder) start(e *Event, message any) error {
	var err error
	if e.hasMessage, err = b.message("event", e.Name, message); err != nil {
		return err
	}
	if err := b.keywordsOf(e); err != nil {
		return err
	}
	if e.Opcode != opcodeInfo {
		name, ok := standardOpcodes[e.Opcode]
		if !ok {
			name, ok = b.s.Opcodes[e.Opcode]
		}
		if !ok {
			if err := b.complain(true, "Use of undefined opcode value %d for event %s.", e.Opcode, e.Name); err != nil {
				return err
			}
		}
		e.opcode = name
	}
	if e.Task != 0 {
		if _, ok := b.s.Tasks[e.Task]; !ok {
			b.s.Tasks[e.Task] = e.Name
		}
		e.task = b.s.Tasks[e.Task]
	}
	if e.Channel != 0 {
		return b.channelOf(e, message)
	}
	return nil
}

// keywordsOf names the keywords of an event.
func (b *builder) keywordsOf(e *Event) error {
	for left := e.Mask &^ reservedMasks; left != 0; left &= left - 1 {
		bit := left & -left
		name, ok := b.s.Keywords[bit]
		if !ok && bit < lastUndeclared {
			if err := b.complain(true, "Use of undefined keyword value 0x%x for event %s.", bit, e.Name); err != nil {
				return err
			}
		}
		if name != "" {
			e.keywords = append(e.keywords, name)
		}
	}
	return nil
}

// channelOf names the channel of an event, and adds it to those of the source.
func (b *builder) channelOf(e *Event, message any) error {
	at, ok := b.channels[e.Channel]
	if !ok {
		name := fmt.Sprint(e.Channel)
		c := Channel{Value: e.Channel}
		if e.Channel < firstChannel {
			b.complain(false, "Use of undefined channel value %d for event %s.", e.Channel, e.Name)
			b.complain(false, "Channel %s has a value of %d which is outside the legal range (16-254).", name, e.Channel)
		}
		switch i := int(e.Channel - firstChannel); {
		case i >= len(channelNames):
			name = "Channel" + name
		case i >= 0:
			name, c.Type = channelNames[i], channelNames[i]
		}
		if len(b.s.Channels) == mostChannels {
			b.complain(false, "Attempt to define more than the maximum limit of %d channels for a provider.", mostChannels)
		}
		c.Name = name
		at = len(b.s.Channels)
		b.channels[e.Channel] = at
		b.s.Channels = append(b.s.Channels, c)
	}
	e.chanID = b.s.Channels[at].Name
	if text, ok := b.resources["event_"+e.Name]; ok && message == nil {
		message = text
	}
	if e.Channel == firstChannel && message == nil {
		b.complain(false, "Event %s specifies an Admin channel %s. It must specify a Message property.", e.Name, e.chanID)
	}
	return nil
}

// end ends an event. Its text can be translated now, since its fields are known.
func (b *builder) end(e *Event) {
	key := "event_" + e.Name
	if text, ok := b.s.strings[key]; ok {
		b.s.strings[key] = b.translate(text, e.Name)
	}
	b.s.Events = append(b.s.Events, e)
}

// message enters a text, which a resource may have another one for, and reports
// whether there is any.
func (b *builder) message(kind, name string, text any) (bool, error) {
	key := kind + "_" + name
	if b.resources != nil {
		if localized, ok := b.resources[key]; ok {
			text = localized
		}
	}
	s, ok := text.(string)
	if !ok {
		return false, nil
	}
	if before, taken := b.s.strings[key]; taken && before != s {
		return true, b.complain(true, "Multiple definitions for string \"%s\".", key)
	}
	b.s.strings[key] = s
	return true, nil
}

// texts enters the texts of everything but events, and puts the resource's in the
// place of those that the code has.
func (b *builder) texts() {
	for i := range b.s.Channels {
		b.s.Channels[i].message, _ = b.message("channel", b.s.Channels[i].Name, nil)
	}
	for _, name := range b.s.Tasks {
		b.message("task", name, name)
	}
	for _, m := range b.s.Maps {
		for _, e := range m.Entries {
			b.message("map", m.Name+"."+e.Name, e.Name)
		}
	}
	for _, name := range b.s.Opcodes {
		b.message("opcode", name, name)
	}
	for _, name := range b.s.Keywords {
		b.message("keyword", name, name)
	}
	for key := range b.s.strings {
		text, ok := b.resources[key]
		if !ok {
			continue
		}
		if event, ok := strings.CutPrefix(key, "event_"); ok {
			text = b.translate(text, event)
		}
		b.s.strings[key] = text
	}
}

// levelName returns a level as a manifest has it.
func levelName(v int64) string {
	names := []string{"LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose"}
	switch {
	case v >= 0 && v < int64(len(names)):
		return "win:" + names[v]
	case v < firstOwnLevel:
		return fmt.Sprintf("win:%d", v)
	}
	return fmt.Sprint(v)
}

const firstOwnLevel = 16
