package eventsource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The bits of EventSourceSettings that choose the form of events.
const (
	formatBits     = 0xc
	manifestFormat = 0x4
)

// A given is the arguments that reach a constructor of EventSource. Absent ones are nil.
type given struct {
	name, guid, settings *value
	guessed              bool
}

// constructed returns the identity of a class at run time, which its constructor gives to
// EventSource. Notes name the parts that could not be found.
func (c *class) constructed(id identity, opts Options, about *Source) identity {
	found, sure := c.given()
	g := given{}
	if len(found) > 0 {
		g = found[0]
	}
	for _, other := range found[min(1, len(found)):] {
		sure = sure && g.agrees(other)
	}
	switch {
	case opts.Name != "":
		id.name, id.guid = opts.Name, nameGUID(opts.Name)
	case !sure:
		about.Warnings = append(about.Warnings, "what its constructor gives to EventSource cannot be told from the code: the name is that of its attribute; if it is another one, give it with --name")
		g = given{}
	case g.name != nil && g.name.kind == text:
		if id.name = g.name.s; g.guessed {
			about.Notes = append(about.Notes, fmt.Sprintf("the name %q goes through code that cannot be followed; if it is another one, give it with --name", id.name))
		}
		id.guid = nameGUID(id.name)
	case g.name != nil:
		about.Warnings = append(about.Warnings, fmt.Sprintf("its name is computed at run time; %q is that of its attribute: give the right one with --name", id.name))
	}
	if g.guid != nil && g.guid.kind == guidValue && opts.Name == "" {
		id.guid = g.guid.guid
	}
	switch {
	case opts.SelfDescribing:
		id.selfDescribing = true
	case g.settings == nil:
		id.selfDescribing = g.name != nil && g.guid == nil
	case g.settings.kind == integer:
		id.selfDescribing = g.settings.n&formatBits != manifestFormat
	default:
		about.Warnings = append(about.Warnings, "whether it describes its own events is decided at run time; it is taken not to: see --self-describing")
	}
	return id
}

// agrees reports whether two ways to make an object make the same source.
func (g given) agrees(other given) bool {
	same := func(a, b *value) bool { return a == nil && b == nil || a != nil && b != nil && a.same(*b) }
	return same(g.name, other.name) && same(g.guid, other.guid) && same(g.settings, other.settings)
}

// A maker follows the code that makes an object of a class.
type maker struct {
	found   []given
	statics map[ecma335.Token]value // of the class whose code it is
	guessed bool
	sure    bool
}

// given returns the arguments that reach EventSource, for each way in which an object is
// made. The static constructor tells how; where it does not, the constructor without
// parameters is taken, or all of them.
func (c *class) given() ([]given, bool) {
	m := &maker{sure: true}
	made := m.made(c)
	if len(made) == 0 {
		constructors := c.named(".ctor")
		if i := slices.IndexFunc(constructors, func(r ecma335.MethodRow) bool { return len(params(r)) == 0 }); i >= 0 {
			constructors = constructors[i : i+1]
		}
		for _, r := range constructors {
			made = append(made, construction{r, make([]value, len(params(r)))})
		}
	}
	for _, x := range made {
		m.construct(c.typ, x.constructor, x.args, 0)
	}
	return m.found, m.sure && len(m.found) > 0
}

// params returns the parameters of a method.
func params(r ecma335.MethodRow) []ecma335.Type {
	sig, ok := ecma335.MethodSignature(r.Signature)
	if !ok {
		return nil
	}
	return sig.Params
}

// A construction is a call of a constructor of the class.
type construction struct {
	constructor ecma335.MethodRow
	args        []value
}

// made returns the constructions that the static constructor of a class does.
func (m *maker) made(c *class) []construction {
	var all []construction
	m.statics = m.static(c.typ, 0, func(call *call) {
		if call.new && call.method.Table() == ecma335.MethodDef && call.parent == c.Token {
			all = append(all, construction{c.Method(call.method.Row()), call.args})
		}
	})
	return all
}

// static follows the static constructor of a type, and returns the values of its
// static fields. Fields that get more than one have none.
func (m *maker) static(t typ, depth int, seen func(*call)) map[ecma335.Token]value {
	values := make(map[ecma335.Token]value)
	for _, r := range t.named(".cctor") {
		in := m.interpreter(t.assembly, depth, values)
		known := in.call
		in.call = func(c *call) (value, bool) {
			if seen != nil {
				seen(c)
			}
			return known(c)
		}
		in.store = func(field ecma335.Token, v value) {
			if old, ok := values[field]; ok && !old.same(v) {
				v = value{}
			}
			values[field] = v
		}
		if !in.run(r, nil) {
			return map[ecma335.Token]value{}
		}
	}
	return values
}

// interpreter returns one that knows constant strings and GUIDs, static fields, and
// static methods of the same assembly.
func (m *maker) interpreter(a *assembly, depth int, statics map[ecma335.Token]value) *interpreter {
	in := &interpreter{assembly: a, store: func(ecma335.Token, value) {}}
	in.load = func(field ecma335.Token) value {
		if v, ok := statics[field]; ok {
			return v
		}
		return m.field(a, field, depth)
	}
	in.call = func(c *call) (value, bool) { return m.result(a, c, depth), false }
	return in
}

// field returns the value of a static field of another class.
func (m *maker) field(a *assembly, field ecma335.Token, depth int) value {
	switch field.Table() {
	case ecma335.MemberRef:
		row := a.Member(field.Row())
		if a.nameOf(row.Parent) == "System.String" && row.Name == "Empty" {
			return value{kind: text}
		}
	case ecma335.Field:
		owner := a.Owner(ecma335.TypeDef, ecma335.TypeDefFields, field.Row())
		if depth < mostNested && owner != 0 {
			return m.static(a.typ(owner), depth+1, nil)[field]
		}
	}
	return value{}
}

// result returns the result of a call, if that can be told.
func (m *maker) result(a *assembly, c *call, depth int) value {
	parent := a.nameOf(c.parent)
	switch {
	case c.new && parent == "System.Guid":
		return newGUID(c.args)
	case parent == "System.String" && c.name == "Concat":
		return concat(c.args)
	case c.new || c.sig.HasThis() || c.method.Table() != ecma335.MethodDef:
		return value{}
	}
	var results []value
	if depth < mostNested {
		in := m.interpreter(a, depth+1, nil)
		in.done = func(v value) { results = append(results, v) }
		if in.run(a.Method(c.method.Row()), slices.Clone(c.args)) && len(results) > 0 {
			same := true
			for _, r := range results {
				same = same && r.same(results[0])
			}
			if same {
				return results[0]
			}
		}
	}
	// Code that changes a name does so rarely.
	if len(c.args) == 1 && c.args[0].kind == text && c.sig.Return.Unmodified().Kind == ecma335.String {
		m.guessed = true
		return c.args[0]
	}
	return value{}
}

// concat joins texts, if all are known.
func concat(args []value) value {
	var out strings.Builder
	for _, a := range args {
		switch a.kind {
		case text:
			out.WriteString(a.s)
		case null:
		default:
			return value{}
		}
	}
	return value{kind: text, s: out.String()}
}

// newGUID makes a GUID of a text or of eleven numbers.
func newGUID(args []value) value {
	if len(args) == 1 && args[0].kind == text {
		guid, ok := parseGUID(args[0].s)
		if ok {
			return value{kind: guidValue, guid: guid}
		}
	}
	widths := []int{4, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}
	if len(args) != len(widths) {
		return value{}
	}
	var b []byte
	for i, a := range args {
		if a.kind != integer {
			return value{}
		}
		for n := range widths[i] {
			b = append(b, byte(a.n>>(8*n)))
		}
	}
	return value{kind: guidValue, guid: etw.GUID(b)}
}

// construct follows a constructor to that of EventSource, by way of other
// constructors and base classes.
func (m *maker) construct(t typ, r ecma335.MethodRow, args []value, depth int) {
	if depth++; depth > deepestScope {
		m.sure = false
		return
	}
	statics := m.statics
	if depth > 1 {
		statics = m.static(t, 0, nil)
	}
	in := m.interpreter(t.assembly, 0, statics)
	known := in.call
	in.call = func(c *call) (value, bool) {
		if c.name != ".ctor" || c.new || c.this.kind != this {
			return known(c)
		}
		m.base(t, c, depth)
		return value{}, true
	}
	if !in.run(r, append([]value{{kind: this}}, args...)) {
		m.sure = false
	}
}

// base follows the call of another constructor for the same object.
func (m *maker) base(t typ, c *call, depth int) {
	name := t.nameOf(c.parent)
	if isTracing(name, "EventSource") {
		m.found = append(m.found, m.givenBy(t, c))
		return
	}
	if c.method.Table() == ecma335.MethodDef {
		m.construct(t.typ(c.parent.Row()), t.Method(c.method.Row()), c.args, depth)
		return
	}
	base, ok := t.resolve(c.parent)
	if !ok {
		m.sure = false
		return
	}
	for _, r := range base.named(".ctor") {
		if len(params(r)) == len(c.args) && sameParams(t.assembly, c.sig.Params, base.assembly, params(r)) {
			m.construct(base, r, c.args, depth)
			return
		}
	}
	m.sure = false
}

// sameParams reports whether two lists of types of two assemblies look the same.
func sameParams(a *assembly, x []ecma335.Type, b *assembly, y []ecma335.Type) bool {
	for i := range x {
		p, q := x[i].Unmodified(), y[i].Unmodified()
		if p.Kind != q.Kind || p.Token != 0 && a.nameOf(p.Token) != b.nameOf(q.Token) {
			return false
		}
	}
	return true
}

// givenBy sorts the arguments of EventSource's constructor by their types.
func (m *maker) givenBy(t typ, c *call) given {
	g := given{guessed: m.guessed}
	for i, p := range c.sig.Params {
		v := &c.args[i]
		p = p.Unmodified()
		full := t.nameOf(p.Token)
		switch {
		case p.Kind == ecma335.String:
			g.name = v
		case full == "System.Guid":
			g.guid = v
		case isTracing(full, "EventSourceSettings"):
			g.settings = v
		}
	}
	return g
}
