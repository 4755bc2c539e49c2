package manifest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxEventID is the largest id of the header of an event.
const maxEventID = 0xffff

// An eventKey is the identity of an event within a provider.
type eventKey struct {
	id      uint32
	version uint8
}

// A namedKey is the identity of an event whose id means nothing.
type namedKey struct {
	name    string
	version uint8
}

// event reads an event.
func (p *providerParser) event(n *node) {
	e := &Event{Pos: p.pos(n.at)}
	e.ID = uint32(p.number(n, "value", "event", 32))
	what := fmt.Sprintf("event %d", e.ID)
	if !n.hasNumber("value", 32) {
		what = "the event"
	}
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
	p.checkTwins(n, what, e)
	p.checkAdmin(n, what, e)
	p.checkInserts(n, e)
	if p.prov.Classic {
		p.checkClassic(n, what, e)
	} else if n.hasNumber("value", 32) && (n.attr("version") == "" || n.hasNumber("version", 8)) {
		p.checkKey(n, e)
	}
	p.traceName(n, what, e)
	p.sessionLevel(n, what, e)
	p.override(n, what, e)
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
		p.reinterpret(n, what, "level", name, "which is taken as a number")
		return &Level{Name: name, Value: etw.Level(v)}
	}
	p.undefined(n, what, "level", n.attr("level"), takenForZero, maps.Keys(p.levels), maps.Keys(standardLevels))
	return nil
}

// takenForZero is the value in lenient mode of a name that nothing declares.
const takenForZero = "its value is taken to be 0"

// reinterpret warns, in lenient mode, that a name is read as something else than
// it says.
func (p *providerParser) reinterpret(n *node, what, kind, name, as string) {
	c := cause{p.prov, kind, name, "event"}
	if !p.seen(c) {
		p.causes[c] = p.warn(n, "%s has "+kind+" %s, %s", what, quote(name), as)
	}
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
		p.reinterpret(n, what, "task", name, "which is taken as a number")
		return &Task{Name: name, Value: uint16(v)}
	}
	p.undefined(n, what, "task", n.attr("task"), takenForZero, maps.Keys(p.tasks), maps.Keys(standardTasks))
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
	if t == nil && n.attr("task") != "" && !p.opts.Lenient {
		return nil // the task is not declared, and perhaps the opcode with it
	}
	if o := p.anywhere[name]; o != nil {
		p.opcodeOfAnother(n, what, o)
		return o
	}
	if p.opts.Lenient {
		if o := standardOpcodes[withoutSuffix(name)]; o != nil {
			p.reinterpret(n, what, "opcode", name, "which is taken as "+o.Name)
			return o
		}
		if v, ok := parseNumber(name, 8); ok {
			p.reinterpret(n, what, "opcode", name, "which is taken as a number")
			return &Opcode{Name: name, Value: etw.Opcode(v)}
		}
	}
	p.undefined(n, what, "opcode", n.attr("opcode"), takenForZero, maps.Keys(p.local[t]), maps.Keys(p.opcodes), maps.Keys(standardOpcodes))
	return nil
}

// opcodeOfAnother reports that an event has an opcode that only another task
// declares.
func (p *providerParser) opcodeOfAnother(n *node, what string, o *Opcode) {
	c := cause{p.prov, "opcode of a task", o.Name, "event"}
	if p.seen(c) {
		return
	}
	p.causes[c] = p.strictly(n, "%s has opcode %s, which belongs to task %s%s", what, quote(o.Name), quote(o.Task.Name),
		p.mode("; name that task, or declare the opcode in the task of the event", ": its value is taken from there"))
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
		switch {
		case k != nil:
		case strings.ContainsAny(word, ",;|"):
			p.fail(n, "%s has keywords %s; separate keywords with spaces", what, quote(n.attr("keywords")))
			return list
		default:
			p.undefined(n, what, "keyword", word, "", maps.Keys(p.keywords), maps.Keys(standardKeywords))
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
		p.undefined(n, what, "channel", name, takenForZero, maps.Keys(p.channels), maps.Keys(p.channelNames))
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
		p.undefined(n, what, "template", name, "", maps.Keys(p.templates))
	}
	return t
}

// checkSymbol checks that a symbol is a C identifier: the message compiler writes
// it into a header.
func (p *parser) checkSymbol(n *node, what, symbol string) {
	if p.opts.Lenient {
		return // dumps make symbols of names for people
	}
	if symbol != "" && Symbol(symbol) != symbol {
		p.fail(n, "symbol %s of %s is not a C identifier; use letters, digits and _, and begin with a letter", quote(symbol), what)
	}
}

// checkTwins checks that no other event has the same symbol.
func (p *providerParser) checkTwins(n *node, what string, e *Event) {
	if e.Symbol == "" || p.opts.Lenient {
		return
	}
	if first := p.symbols[e.Symbol]; first != nil {
		p.warn(n, "symbol %s of %s is also that of the event at %s, and a type or a macro in C is for one; change the symbol of one",
			quote(e.Symbol), what, first.Pos)
		return
	}
	p.symbols[e.Symbol] = e
}

// Symbol returns a name as an identifier of C, as symbols are: with _ for characters that it
// cannot have, and before a digit at the beginning.
func Symbol(name string) string {
	id := strings.Map(func(r rune) rune {
		if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if id == "" || '0' <= id[0] && id[0] <= '9' {
		return "_" + id
	}
	return id
}

// checkAdmin checks the event log's rules for events in an Admin channel.
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

// checkKey checks that no other event has the same id and version.
func (p *providerParser) checkKey(n *node, e *Event) {
	if e.ID > maxEventID {
		p.strictly(n, "event %d has an id above 65535, which does not fit in the header of an event%s", e.ID,
			p.mode("; use a lower one", ": nothing is dispatched to it"))
		e.Undispatched = "its id is more than 65535"
		return
	}
	key := eventKey{e.ID, e.Version}
	if first := p.events[key]; first != nil {
		e.Undispatched = fmt.Sprintf("the event in line %d has the same id and version", first.Pos.Line)
		consequence := ": nothing is dispatched to this one"
		if first.Template != e.Template {
			consequence = " with another template: this one is dispatched only by its opcode"
		}
		p.strictly(n, "event %d version %d is already declared at %s%s", e.ID, e.Version, first.Pos,
			p.mode("; change the value or version of one", consequence))
		return
	}
	p.events[key] = e
	if p.opts.Lenient {
		return
	}
	// Nothing else tells the events of two providers with the same GUID apart.
	if other := p.byGUID[p.prov.GUID]; other != nil && other != p {
		if first := other.events[key]; first != nil {
			p.fail(n, "event %d version %d is also declared at %s, by a provider with the same guid; change the value or version of one", e.ID, e.Version, first.Pos)
		}
	}
}

// traceName reads the name by which records identify an event.
func (p *providerParser) traceName(n *node, what string, e *Event) {
	name, ok := n.extension("named")
	switch {
	case !ok:
		return
	case name == "":
		p.fail(n, "etwgen:named of %s is empty; write the name that traces have", what)
		return
	case p.prov.Classic:
		p.fail(n, "%s is classic and has an etwgen:named; records of classic events have no names", what)
		return
	}
	e.TraceName = name
	key := namedKey{name, e.Version}
	if first := p.named[key]; first != nil {
		p.fail(n, "etwgen:named %s of %s is also that of the event at %s; change the name or the version of one", quote(name), what, first.Pos)
		return
	}
	p.named[key] = e
}

// sessionLevel reads the level that a session needs for an event.
func (p *providerParser) sessionLevel(n *node, what string, e *Event) {
	name, ok := n.extension("level")
	if !ok {
		return
	}
	l := p.levels[name]
	if l == nil {
		l = standardLevels[name]
	}
	switch {
	case l == nil:
		p.fail(n, "etwgen:level of %s is %s; write win:Critical to win:Verbose, or a level of the provider", what, quote(name))
	case e.Level != nil && l.Value <= e.Level.Value:
		p.fail(n, "etwgen:level %s of %s is not above its level; leave it out", quote(name), what)
	default:
		e.SessionLevel = l
	}
}

// mode returns the ending of a message that fits the mode.
func (p *parser) mode(strict, lenient string) string {
	if p.opts.Lenient {
		return lenient
	}
	return strict
}

// checkProviderName checks the documented rules for names of providers.
func (p *parser) checkProviderName(n *node, name string) {
	if len(name) > 255 {
		p.strictly(n, "the name of the provider is longer than 255 characters; shorten it")
	}
	if i := strings.IndexAny(name, "<>&\"|\\:'?*"); i >= 0 {
		p.doubt(n, "the name of provider %s has a character %q, which Windows does not allow; remove it", quote(name), name[i])
	}
}
