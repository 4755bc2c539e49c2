package manifest

import (
	"fmt"
	"strings"
)

// maxEventID is what fits in the header of an event.
const maxEventID = 0xffff

// An eventKey is what identifies an event within a provider.
type eventKey struct {
	id      uint32
	version uint8
}

// event reads an event.
func (p *providerParser) event(n *node) {
	e := &Event{Pos: p.pos(n.at)}
	e.ID = uint32(p.number(n, "value", "event", 32))
	what := fmt.Sprintf("event %d", e.ID)
	e.Version = uint8(p.optional(n, "version", what, 8))
	e.Symbol = n.attr("symbol")
	e.Level = p.eventLevel(n, what)
	e.Task = p.eventTask(n, what)
	e.Opcode = p.eventOpcode(n, what, e.Task)
	e.Keywords = p.eventKeywords(n, what)
	e.Channel = p.eventChannel(n, what)
	e.Template = p.eventTemplate(n, what)
	e.Message, e.MessageID = p.message(n)
	e.Doc, e.GoName = p.docName(n)
	p.checkSymbol(n, what, e.Symbol)
	p.checkAdmin(n, what, e)
	fields := 0
	if e.Template != nil {
		fields = e.Template.Declared
	}
	p.checkInserts(n, e, fields)
	if _, ok := parseNumber(n.attr("value"), 32); ok {
		p.checkKey(n, e)
	}
	p.prov.Events = append(p.prov.Events, e)
}

// reference returns the name in an attribute that refers to a declaration.
func (p *parser) reference(n *node, attr string) string {
	name := n.attr(attr)
	if name == "" {
		return ""
	}
	return p.qname(n, name)
}

// eventLevel finds the level of an event.
func (p *providerParser) eventLevel(n *node, what string) *Level {
	name := p.reference(n, "level")
	if name == "" {
		return nil
	}
	if l := p.levels[name]; l != nil {
		return l
	}
	if l := standardLevels[name]; l != nil {
		return l
	}
	if name == "win:Always" {
		if !p.opts.Lenient {
			p.fail(n, `%s has level "win:Always"; write win:LogAlways`, what)
		}
		return standardLevels["win:LogAlways"]
	}
	if v, ok := parseNumber(name, 8); ok && p.opts.Lenient {
		p.warn(n, "%s has level %s, which is taken for the value", what, quote(name))
		return &Level{Name: name, Value: uint8(v)}
	}
	p.undefined(n, what, "level", name, nearest(p.parser, name, standardLevels))
	return nil
}

// undefined reports a reference that leads nowhere. In lenient mode what it
// refers to has the value 0.
func (p *providerParser) undefined(n *node, what, kind, name, near string) {
	if p.opts.Lenient {
		p.warn(n, "%s has %s %s, which is not declared: its value is taken to be 0", what, kind, quote(name))
		return
	}
	remedy := "declare it in <" + kind + "s>"
	if near != "" {
		remedy = "did you mean " + near + "?"
	}
	p.fail(n, "%s has %s %s, which is not declared; %s", what, kind, quote(name), remedy)
}

// eventTask finds the task of an event.
func (p *providerParser) eventTask(n *node, what string) *Task {
	name := p.reference(n, "task")
	if name == "" {
		return nil
	}
	if t := p.tasks[name]; t != nil {
		return t
	}
	if t := standardTasks[name]; t != nil {
		return t
	}
	if v, ok := parseNumber(name, 16); ok && p.opts.Lenient {
		p.warn(n, "%s has task %s, which is taken for the value", what, quote(name))
		return &Task{Name: name, Value: uint16(v)}
	}
	p.undefined(n, what, "task", name, "")
	return nil
}

// eventOpcode finds the opcode of an event: one of its task, of the provider,
// or of Windows.
func (p *providerParser) eventOpcode(n *node, what string, t *Task) *Opcode {
	name := p.reference(n, "opcode")
	if name == "" {
		return nil
	}
	if o := p.local[t][name]; o != nil {
		return o
	}
	if o := p.opcodes[name]; o != nil {
		return o
	}
	if o := standardOpcodes[name]; o != nil {
		return o
	}
	other := p.anywhere[name]
	if !p.opts.Lenient {
		if other != nil {
			p.fail(n, "%s has opcode %s, which belongs to task %s; name that task, or declare the opcode in the task of the event", what, quote(name), quote(other.Task.Name))
			return nil
		}
		p.undefined(n, what, "opcode", name, nearest(p.parser, name, standardOpcodes))
		return nil
	}
	if other != nil {
		p.warn(n, "%s has opcode %s, which belongs to task %s: its value is taken from there", what, quote(name), quote(other.Task.Name))
		return other
	}
	if o := standardOpcodes[withoutSuffix(name)]; o != nil {
		p.warn(n, "%s has opcode %s, which is taken for %s", what, quote(name), o.Name)
		return o
	}
	if v, ok := parseNumber(name, 8); ok {
		p.warn(n, "%s has opcode %s, which is taken for the value", what, quote(name))
		return &Opcode{Name: name, Value: uint8(v)}
	}
	p.undefined(n, what, "opcode", name, "")
	return nil
}

// eventKeywords finds the keywords of an event.
func (p *providerParser) eventKeywords(n *node, what string) []*Keyword {
	var list []*Keyword
	for word := range strings.FieldsSeq(n.attr("keywords")) {
		name := p.qname(n, word)
		k := p.keywords[name]
		if k == nil {
			k = standardKeywords[name]
		}
		if k == nil {
			p.fail(n, "%s has keyword %s, which is not declared; declare it in <keywords>", what, quote(word))
			continue
		}
		list = append(list, k)
	}
	return list
}

// eventChannel finds the channel of an event.
func (p *providerParser) eventChannel(n *node, what string) *Channel {
	name := n.attr("channel")
	if name == "" {
		return nil
	}
	c := p.channels[name]
	if c == nil {
		c = p.channelNames[name]
	}
	if c == nil {
		p.undefined(n, what, "channel", name, "")
	}
	return c
}

// eventTemplate finds the template of an event.
func (p *providerParser) eventTemplate(n *node, what string) *Template {
	name := n.attr("template")
	if name == "" {
		return nil
	}
	t := p.templates[name]
	if t == nil {
		p.fail(n, "%s has template %s, which is not declared; declare it in <templates>", what, quote(name))
	}
	return t
}

// checkSymbol checks that a symbol is a name in C, where the message compiler
// puts it.
func (p *parser) checkSymbol(n *node, what, symbol string) {
	if p.opts.Lenient {
		return // dumps make symbols of names for people
	}
	for i := range len(symbol) {
		c := symbol[i]
		if c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9' {
			continue
		}
		p.fail(n, "symbol %s of %s is not a name in C; begin with a letter and go on with letters, digits and _", quote(symbol), what)
		return
	}
}

// checkAdmin checks what the event log asks of events in a channel for
// administrators.
func (p *parser) checkAdmin(n *node, what string, e *Event) {
	if p.opts.Lenient || e.Channel == nil || !strings.EqualFold(e.Channel.Type, "Admin") {
		return
	}
	if _, ok := n.lookup("message"); !ok {
		p.fail(n, "%s goes to the Admin channel %s without a message; add one", what, quote(e.Channel.Name))
	}
	switch {
	case e.Level == nil && n.attr("level") != "": // reported already
	case e.Level == nil || !e.Level.isStandard() || e.Level.Value < 1 || e.Level.Value > 4:
		p.fail(n, "%s goes to the Admin channel %s; its level must be win:Critical, win:Error, win:Warning or win:Informational", what, quote(e.Channel.Name))
	}
}

// isStandard reports whether Windows defines l.
func (l *Level) isStandard() bool { return !l.Pos.IsValid() }

// checkKey checks that the id and the version of an event lead to it alone.
func (p *providerParser) checkKey(n *node, e *Event) {
	if e.ID > maxEventID {
		p.strictly(n, "event %d has an id of more than 65535, which does not fit in the header of an event%s", e.ID,
			p.mode("; take a lower one", ": nothing is dispatched to it"))
		e.Undispatched = "its id is more than 65535"
		return
	}
	key := eventKey{e.ID, e.Version}
	if first := p.events[key]; first != nil {
		e.Undispatched = fmt.Sprintf("the event in line %d has the same id and version", first.Pos.Line)
		consequence := ": nothing is dispatched to this one"
		if first.Template != e.Template {
			consequence = " but another template: nothing is dispatched to this one but by its opcode"
		}
		p.strictly(n, "event %d version %d is declared twice, first at %s%s", e.ID, e.Version, first.Pos,
			p.mode("; give one another value or version", consequence))
		return
	}
	p.events[key] = e
	if p.opts.Lenient {
		return
	}
	// A second provider with the same GUID is told apart by nothing else.
	if other := p.byGUID[p.prov.GUID]; other != nil && other != p {
		if first := other.events[key]; first != nil {
			p.fail(n, "event %d version %d is declared at %s too, by a provider with the same guid; give one another value or version", e.ID, e.Version, first.Pos)
		}
	}
}

// mode returns the end of a message for the mode.
func (p *parser) mode(strict, lenient string) string {
	if p.opts.Lenient {
		return lenient
	}
	return strict
}

// checkProviderName checks what the documentation says about names of
// providers.
func (p *parser) checkProviderName(n *node, name string) {
	if len(name) > 255 {
		p.strictly(n, "the name of the provider is longer than 255 characters; shorten it")
	}
	if i := strings.IndexAny(name, "<>&\"|\\:'?*"); i >= 0 {
		p.doubt(n, "the name of provider %s has a character %q, which Windows does not allow; remove it", quote(name), name[i])
	}
}
