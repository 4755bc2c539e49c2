package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// declarations reads all that the events and templates of a provider refer to.
func (p *providerParser) declarations(n *node) {
	next, channels := uint8(firstChannel), 0
	for s := range n.children("channels") {
		for c := range s.children("channel", "importChannel") {
			p.channel(c, &next)
			if channels++; channels == maxChannels+1 {
				p.doubt(c, "provider %s has more than %d channels, which Microsoft's compiler does not take; leave some out", quote(p.prov.Name), maxChannels)
			}
		}
	}
	for s := range n.children("levels") {
		for l := range s.children("level") {
			p.level(l)
		}
	}
	for s := range n.children("keywords") {
		for k := range s.children("keyword") {
			p.keyword(k)
		}
	}
	for s := range n.children("opcodes") {
		p.globalOpcodes(s)
	}
	for s := range n.children("tasks") {
		p.taskList(s)
	}
	for s := range n.children("maps", "valueMap", "bitMap") {
		if s.el.Tag != "maps" {
			p.doubt(s, "%s outside <maps>; move it into <maps>", s.el.Tag)
			p.valueMap(s)
			continue
		}
		for m := range s.children("valueMap", "bitMap") {
			p.valueMap(m)
		}
	}
}

// again reports an error if a name is taken, and returns whether it is.
func again[T any](p *providerParser, n *node, what, name string, named map[string]T, at func(T) Pos) bool {
	if name == "" {
		return false // that there is none is reported already
	}
	first, taken := named[name]
	if taken {
		p.fail(n, "%s %s is already declared at %s; rename one of them", what, quote(name), at(first))
	}
	return taken
}

// keyword reads a keyword.
func (p *providerParser) keyword(n *node) {
	k := &Keyword{Pos: p.pos(n.at), Name: p.required(n, "name"), Symbol: n.attr("symbol")}
	what := "keyword " + quote(k.Name)
	k.Mask = p.number(n, "mask", what, 64)
	k.Message, k.MessageID = p.message(n)
	k.Doc, k.GoName = p.docName(n)
	switch costly, ok := n.extension("costly"); {
	case !ok:
	case costly == "true":
		k.Costly = true
	default:
		p.fail(n, "etwgen:costly of keyword %s is %s; it is true, or not there", quote(k.Name), quote(costly))
	}
	if mask, ok := parseNumber(n.attr("mask"), 64); ok {
		switch {
		case mask == 0:
			p.strictly(n, "mask 0 of %s has no bit set; set one", what)
		case mask&(mask-1) != 0:
			p.strictly(n, "mask 0x%x of %s has more than one bit set; declare a keyword for each bit", mask, what)
		case mask >= 1<<keywordBits:
			p.strictly(n, "mask 0x%x of %s is one of the bits from %d on, which are reserved; use a lower one", mask, what, keywordBits)
		}
	}
	name := p.qname(n, k.Name)
	if again(p, n, "keyword", name, p.keywords, func(k *Keyword) Pos { return k.Pos }) {
		return
	}
	if i := slices.IndexFunc(p.prov.Keywords, func(o *Keyword) bool { return o.Mask == k.Mask }); i >= 0 {
		p.doubt(n, "mask 0x%x of %s is also that of the keyword at %s, and sessions cannot tell them apart; give it another bit", k.Mask, what, p.prov.Keywords[i].Pos)
	}
	p.keywords[name] = k
	p.prov.Keywords = append(p.prov.Keywords, k)
}

// level reads a level.
func (p *providerParser) level(n *node) {
	l := &Level{Pos: p.pos(n.at), Name: p.required(n, "name"), Symbol: n.attr("symbol")}
	what := "level " + quote(l.Name)
	l.Value = etw.Level(p.number(n, "value", what, 8))
	l.Message, l.MessageID = p.message(n)
	l.Doc, l.GoName = p.docName(n)
	if l.Value < 16 {
		say := p.doubt
		if p.opts.Lenient {
			say = p.note
		}
		say(n, "value %d of %s is reserved; levels of a provider range from 16 to 255", l.Value, what)
	}
	name := p.qname(n, l.Name)
	if again(p, n, "level", name, p.levels, func(l *Level) Pos { return l.Pos }) {
		return
	}
	p.levels[name] = l
	p.prov.Levels = append(p.prov.Levels, l)
}

// taskList reads <tasks>. Some dumps have the opcodes of a task after it instead
// of inside it.
func (p *providerParser) taskList(n *node) {
	var last *Task
	for c := range n.children("task", "opcodes") {
		if c.el.Tag == "task" {
			last = p.task(c)
			continue
		}
		// The opcodes are read even where this is an error, because references to
		// them are right.
		if last == nil {
			p.fail(c, "opcodes outside a task; move them into the task they belong to")
			p.globalOpcodes(c)
			continue
		}
		p.strictly(c, "opcodes after task %s instead of inside it%s", quote(last.Name),
			p.mode("; move them into the task", " are taken as its own"))
		p.localOpcodes(c, last)
	}
}

// task reads a task.
func (p *providerParser) task(n *node) *Task {
	t := &Task{Pos: p.pos(n.at), Name: p.required(n, "name"), Symbol: n.attr("symbol")}
	what := "task " + quote(t.Name)
	t.Value = uint16(p.number(n, "value", what, 16))
	t.Message, t.MessageID = p.message(n)
	t.Doc, t.GoName = p.docName(n)
	if t.Value == 0 || t.Value > 239 {
		p.note(n, "value %d of %s is outside the documented range of 1 to 239", t.Value, what)
	}
	if guid, ok := n.lookup("eventGUID"); ok {
		var err error
		if t.EventGUID, err = etw.ParseGUID(guid); err != nil {
			p.fail(n, "eventGUID %s of %s is %s", quote(guid), what, notGUID)
		}
	}
	p.local[t] = make(map[string]*Opcode)
	for c := range n.children("opcodes") {
		p.localOpcodes(c, t)
	}
	name := p.qname(n, t.Name)
	if !again(p, n, "task", name, p.tasks, func(t *Task) Pos { return t.Pos }) {
		if i := slices.IndexFunc(p.prov.Tasks, func(o *Task) bool { return o.Value == t.Value }); i >= 0 {
			p.doubt(n, "value %d of %s is also that of the task at %s, and events cannot tell them apart; give it another one", t.Value, what, p.prov.Tasks[i].Pos)
		}
		p.tasks[name] = t
		p.prov.Tasks = append(p.prov.Tasks, t)
	}
	return t
}

// globalOpcodes reads the opcodes that all tasks of the provider have.
func (p *providerParser) globalOpcodes(n *node) {
	for o := range n.children("opcode") {
		p.prov.Opcodes = p.opcode(o, nil, p.opcodes, p.prov.Opcodes)
	}
}

// localOpcodes reads the opcodes of a task.
func (p *providerParser) localOpcodes(n *node, t *Task) {
	for o := range n.children("opcode") {
		t.Opcodes = p.opcode(o, t, p.local[t], t.Opcodes)
	}
}

// opcode reads an opcode, and adds it to the list of its task or, with no task,
// of the provider.
func (p *providerParser) opcode(n *node, t *Task, named map[string]*Opcode, list []*Opcode) []*Opcode {
	o := &Opcode{Pos: p.pos(n.at), Name: p.required(n, "name"), Symbol: n.attr("symbol"), Task: t}
	what := "opcode " + quote(o.Name)
	o.Value = etw.Opcode(p.number(n, "value", what, 8))
	o.Message, o.MessageID = p.message(n)
	o.Doc, o.GoName = p.docName(n)
	p.checkOpcodeValue(n, o, what)
	name := p.qname(n, o.Name)
	if first, taken := named[name]; taken && name != "" {
		p.strictly(n, "opcode %s is already declared at %s, and that one is used; rename one of them", quote(o.Name), first.Pos)
		return list
	}
	named[name] = o
	if _, taken := p.anywhere[name]; !taken && t != nil {
		p.anywhere[name] = o
	}
	return append(list, o)
}

// checkOpcodeValue warns about the values of opcodes that Windows reserves for itself.
// Everything that reads such an event takes the value in Windows' sense. It is not an error,
// because the documentation does not say that the message compiler refuses it. Classes of
// classic events each have their own opcodes.
func (p *providerParser) checkOpcodeValue(n *node, o *Opcode, what string) {
	if 10 <= o.Value && o.Value <= 239 || p.prov.Classic || p.opts.Lenient && !p.opts.Notes || !n.hasNumber("value", 8) {
		return
	}
	taken := ""
	for _, standard := range standardOpcodes {
		if standard.Value == o.Value {
			taken = " for " + standard.Name
		}
	}
	p.warn(n, "value %d of %s is reserved%s; use one from 10 to 239", o.Value, what, taken)
}

// valueMap reads a valueMap or a bitMap.
func (p *providerParser) valueMap(n *node) {
	m := &Map{Pos: p.pos(n.at), Name: p.required(n, "name"), Symbol: n.attr("symbol"), Flags: n.el.Tag == "bitMap"}
	m.Doc, m.GoName = p.docName(n)
	values := make(map[uint32]*MapEntry)
	for c := range n.children("map") {
		p.mapEntry(c, m, values)
	}
	if len(m.Entries) == 0 {
		p.doubt(n, "map %s has no entries; add them, or remove the map", quote(m.Name))
	}
	name := p.qname(n, m.Name)
	if again(p, n, "map", name, p.maps, func(m *Map) Pos { return m.Pos }) {
		return
	}
	p.maps[name] = m
	p.prov.Maps = append(p.prov.Maps, m)
}

// mapEntry reads an entry of a map.
func (p *providerParser) mapEntry(n *node, m *Map, values map[uint32]*MapEntry) {
	e := &MapEntry{Pos: p.pos(n.at), Symbol: n.attr("symbol")}
	what := "an entry of map " + quote(m.Name)
	e.Value = p.mapValue(n, what)
	e.Message, e.StringID = p.message(n)
	e.Doc, e.GoName = p.docName(n)
	if n.attr("message") == "" && e.Symbol == "" {
		p.doubt(n, "%s has no message; add one", what)
	}
	if m.Flags && e.Value&(e.Value-1) != 0 {
		p.doubt(n, "value 0x%x of %s has more than one bit set; add an entry for each bit", e.Value, what)
	}
	if first, taken := values[e.Value]; taken {
		p.doubt(n, "map %s has value 0x%x twice, first at %s; remove one", quote(m.Name), e.Value, first.Pos)
	} else {
		values[e.Value] = e
	}
	m.Entries = append(m.Entries, e)
}

// mapValue reads the value of an entry of a map. EventSource writes the negative
// ones of an enum with 64 bits.
func (p *providerParser) mapValue(n *node, what string) uint32 {
	text := n.attr("value")
	if v, ok := parseNumber(text, 64); ok && int64(v) < 0 && int64(v) == int64(int32(v)) {
		p.note(n, "value %s of %s is negative and taken as %#x", text, what, uint32(v))
		return uint32(v)
	}
	return uint32(p.number(n, "value", what, 32))
}

// The values of channels. Windows defines some, and the message compiler numbers
// the others, beginning with firstChannel.
const firstChannel = 16

// maxChannels is how many channels a provider may have, those that it imports among them.
const maxChannels = 8

var windowsChannels = map[string]uint8{
	"TraceClassic": 0, "System": 8, "Application": 9, "Security": 10, "TraceLogging": 11, "ProviderMetadata": 12,
}

var channelTypes = []string{"Admin", "Operational", "Analytic", "Debug"}

// channel reads a channel or an importChannel. next is the value for the next
// channel that gives none.
func (p *providerParser) channel(n *node, next *uint8) {
	c := &Channel{
		Pos:      p.pos(n.at),
		Name:     p.required(n, "name"),
		ID:       n.attr("chid"),
		Symbol:   n.attr("symbol"),
		Type:     n.attr("type"),
		Imported: n.el.Tag == "importChannel",

		Isolation: n.attr("isolation"),
		Access:    n.attr("access"),
	}
	what := "channel " + quote(c.Name)
	c.Message, c.MessageID = p.message(n)
	switch _, given := n.lookup("type"); {
	case !given && !c.Imported:
		p.doubt(n, "%s has no type; choose Admin, Operational, Analytic or Debug", what)
	case given && !slices.ContainsFunc(channelTypes, func(t string) bool { return strings.EqualFold(t, c.Type) }):
		p.strictly(n, "type %s of %s does not exist; choose Admin, Operational, Analytic or Debug", quote(c.Type), what)
	}
	switch enabled := n.attr("enabled"); enabled {
	case "true", "1":
		c.Enabled = true
	case "false", "0", "":
	default:
		p.fail(n, "enabled %s of %s is not a boolean; write true or false", quote(enabled), what)
	}
	standard, isStandard := windowsChannels[c.Name]
	switch _, given := n.lookup("value"); {
	case given:
		c.Value = uint8(p.optional(n, "value", what, 8))
	case c.Imported && isStandard:
		c.Value = standard
	case *next == 0:
		p.fail(n, "no value from %[2]d to 255 is left for %[1]s; give it one with value=", what, firstChannel)
	default:
		c.Value = *next
		*next++
	}
	key := cmp.Or(c.ID, c.Name)
	if again(p, n, "channel", key, p.channels, func(c *Channel) Pos { return c.Pos }) {
		return
	}
	p.channels[key] = c
	if _, taken := p.channelNames[c.Name]; !taken {
		p.channelNames[c.Name] = c
	}
	p.prov.Channels = append(p.prov.Channels, c)
}
