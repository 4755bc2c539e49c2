package gen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// tasksDoc is the documentation of the constants of tasks.
const tasksDoc = "Tasks."

// addConstants adds the constants of keywords, levels, tasks, opcodes and
// channels.
func (b *builder) addConstants() {
	m := b.m
	// A text that does not read as a name gives way to the number.
	name := func(prefix, s string, value uint64) string {
		if b.opts.Lenient && isSentence(s) {
			s = fmt.Sprint(value)
		}
		return appendWord(prefix, limited(namePart(s), fmt.Sprint(value)))
	}
	keywords := b.group("Keywords, one bit each.", id(b.keyword), true)
	for _, k := range b.keywords() {
		short := k.Name
		if s := strings.TrimSuffix(short, "Keyword"); s != "" {
			short = s
		}
		keywords.add(k, "keyword", k.Name, k.Pos, k.GoName, name("Keyword", short, k.Mask), k.Mask, k.Doc, k.Message)
	}
	levels := b.group("Levels beside those that Windows defines.", rt("Level"), false)
	for _, l := range m.Levels {
		levels.add(l, "level", l.Name, l.Pos, l.GoName, name("Level", l.Name, uint64(l.Value)), uint64(l.Value), l.Doc, l.Message)
	}
	tasks := b.group(tasksDoc, id(b.task), false)
	opcodes := b.group("Opcodes beside those that Windows defines, those of a task with its name.", rt("Opcode"), false)
	for _, o := range m.Opcodes {
		opcodes.add(o, "opcode", o.Name, o.Pos, o.GoName, name("Opcode", o.Name, uint64(o.Value)), uint64(o.Value), o.Doc, o.Message)
	}
	for _, t := range m.Tasks {
		if b.automatic(t) {
			continue
		}
		tasks.add(t, "task", t.Name, t.Pos, t.GoName, name("Task", t.Name, uint64(t.Value)), uint64(t.Value), t.Doc, t.Message)
		for _, o := range t.Opcodes {
			opcodes.add(o, "opcode", t.Name+"."+o.Name, o.Pos, o.GoName,
				name(name("Opcode", t.Name, uint64(t.Value)), o.Name, uint64(o.Value)), uint64(o.Value), o.Doc, o.Message)
		}
	}
	channels := b.group("Channels.", jen.Uint8(), false)
	for _, c := range m.Channels {
		// The name is that of the provider, a slash and the counted thing.
		short := c.Name[strings.LastIndexByte(c.Name, '/')+1:]
		channels.add(c, "channel", c.Name, c.Pos, "", name("Channel", short, uint64(c.Value)), uint64(c.Value), "", c.Message)
	}
}

// A groupBuilder adds constants of one kind.
type groupBuilder struct {
	*constGroup
	b *builder
}

func (b *builder) group(doc string, goType *jen.Statement, hex bool) groupBuilder {
	g := &constGroup{doc: doc, goType: goType, hex: hex}
	b.consts = append(b.consts, g)
	return groupBuilder{g, b}
}

func (g groupBuilder) add(node any, kind, name string, pos manifest.Pos, given, byRule string, value uint64, doc, message string) {
	goName := g.b.names.pkg.claim(claim{
		what: kind + " " + name, key: kind + ":" + name, pos: pos, goName: given, name: byRule,
	})
	if doc == "" && saysMore(message, nil, name, name[strings.LastIndexByte(name, '.')+1:]) {
		doc = plainMessage(message, nil)
	}
	if letters(goName) != letters(kind+name) && letters(goName) != letters(name) {
		doc = strings.TrimSpace(fmt.Sprintf("%s is %s. %s", goName, name, doc))
	}
	g.b.goNames[node] = goName
	g.consts = append(g.consts, constant{goName: goName, value: value, doc: doc})
}
