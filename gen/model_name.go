package gen

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// How the nodes of the model get their names: by the rules of name.go, and as the
// claims of claim.go allow.

// eventKey returns the key by which --rename names an event: its symbol, or
// where that names several or none, with the id and version.
func (b *builder) eventKey(ev *event) string {
	if ev.m.Symbol != "" && b.symbols[ev.m.Symbol] == 1 {
		return ev.m.Symbol
	}
	return fmt.Sprintf("%s@%d.%d", ev.m.Symbol, ev.m.ID, ev.m.Version)
}

// nameEvents settles the names of events.
func (b *builder) nameEvents() {
	type versionless struct {
		kind   etw.Kind
		class  etw.GUID
		id     uint32
		symbol string
	}
	seen := make(map[versionless]bool)
	for _, ev := range b.events {
		b.symbols[ev.m.Symbol]++
	}
	for _, ev := range b.events {
		name := b.eventName(ev)
		// Versions that share a name are told apart by their number.
		at := versionless{ev.key.Kind, ev.key.Provider, ev.number(), name}
		if seen[at] && ev.m.Version > 0 {
			name = fmt.Sprintf("%sV%d", name, ev.m.Version)
		} else {
			seen[at] = true
		}
		ev.goName = b.names.pkg.claim(claim{
			what: "event " + eventTitle(ev.m), key: b.eventKey(ev), pos: ev.m.Pos, goName: ev.m.GoName, name: name,
		})
		ev.desc = b.names.local(unexportedName(ev.goName))
	}
	for _, l := range b.layouts {
		if len(l.events) > 1 {
			l.goName = b.names.local(b.layoutName(l))
		}
	}
}

// eventName returns the name of an event by the rules. Dumps make symbols of the titles of
// task and opcode: parts that do not read as a name are left out.
func (b *builder) eventName(ev *event) string {
	symbol := eventTitle(ev.m)
	if b.opts.Lenient {
		if isSentence(symbol) {
			return numberedName(ev)
		}
		symbol = withoutRepetition(ev.m, symbol)
	}
	return limited(exportedName(symbol), fmt.Sprint(ev.m.ID))
}

// numberedName returns a name of the task and the id of an event.
func numberedName(ev *event) string {
	const longest = 30
	name := fmt.Sprintf("Event%d", ev.m.ID)
	if t := ev.m.Task; t != nil && t.Name != "None" && !isSentence(t.Name) {
		if task := exportedName(t.Name); len(task) <= longest {
			name = task + name
		}
	}
	return name
}

// withoutRepetition returns a symbol made of task and opcode with their common end and start
// only once: that of LiveDumpAPI and APIStart is LiveDumpAPIStart.
func withoutRepetition(e *manifest.Event, symbol string) string {
	if e.Task == nil || e.Opcode == nil {
		return symbol
	}
	task, opcode := e.Task.Name, upperFirst(e.Opcode.Name)
	rest, ok := strings.CutPrefix(symbol, task+opcode)
	if !ok {
		return symbol
	}
	const shortest = 3
	for n := min(len(task), len(opcode)) - 1; n >= shortest; n-- {
		end := task[len(task)-n:]
		if c := end[0]; 'A' <= c && c <= 'Z' && strings.HasPrefix(opcode, end) {
			return task + opcode[n:] + rest
		}
	}
	return symbol
}

// layoutName returns the name of the type that events of one template share.
func (b *builder) layoutName(l *layout) string {
	name := exportedName(l.template.ID)
	if isSentence(name) || len(name) > maxName {
		name = l.events[0].goName
	}
	return unexportedName(name + "Layout")
}

// eventTitle returns the symbol of an event, or else that of its task and opcode.
func eventTitle(e *manifest.Event) string {
	if e.Symbol != "" {
		return e.Symbol
	}
	var parts []string
	if e.Task != nil {
		parts = append(parts, e.Task.Name)
	}
	if e.Opcode != nil {
		parts = append(parts, strings.TrimPrefix(e.Opcode.Name, "win:"))
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("Event%d", e.ID))
	}
	return strings.Join(parts, " ")
}

// nameStructs settles the names of structs.
func (b *builder) nameStructs() {
	for _, s := range b.structs {
		user := s.layout.events[0]
		claimName := func(name string) string {
			return b.names.pkg.claim(claim{
				what: fmt.Sprintf("struct %s of event %s", s.field.m.Name, eventTitle(user.m)),
				key:  b.eventKey(user), pos: s.field.m.Pos, name: name, derived: true,
			})
		}
		number := fmt.Sprint(s.field.index)
		name := limited(user.goName+exportedName(s.field.goName), number)
		if s.field.m.Count.Kind == etw.SizeNone {
			s.goName = claimName(name)
			continue
		}
		one := limited(user.goName+singular(exportedName(s.field.goName)), number)
		if one == name {
			name += "List"
		}
		s.goName, s.view = claimName(one), claimName(name)
		claimName("Make" + s.view)
	}
}

// nameEnums settles the names of the types of maps and of their constants.
func (b *builder) nameEnums() {
	for i, e := range b.enums {
		name, given := limited(mapName(e.m.Name), ""), e.m.GoName
		if b.names.pkg.has(name) {
			name = limited(exportedName(e.m.Name), "") // an event has the short name
		}
		if b.m.EventSource && b.names.pkg.has(name) {
			name = appendWord(name, "Value") // and this one
		}
		if e.narrow = i > 0 && b.enums[i-1].m == e.m; e.narrow {
			widest := b.enums[i-1]
			for j := i; b.enums[j].narrow; j-- {
				widest = b.enums[j-1]
			}
			name, given = appendWord(widest.goName, fmt.Sprint(e.bits)), ""
		}
		e.goName = b.names.pkg.claim(claim{
			what: "map " + e.m.Name, key: "map:" + e.m.Name, pos: e.m.Pos, goName: given, name: name, derived: e.narrow,
		})
		e.desc = b.names.local(unexportedName(strings.TrimSuffix(e.goName, "Map") + "Map"))
	}
	for _, e := range b.enums {
		b.nameEntries(e)
	}
}

// nameEntries settles the names of the constants of an enum. Of values that share
// a text all but the first get their number, too.
func (b *builder) nameEntries(e *enum) {
	texts := each.Of(e.m.Entries, func(entry *manifest.MapEntry) string { return entryText(e.m.Name, entry.StringID, entry.Message) })
	names := entryNames(texts)
	seen := make(map[string]bool)
	for i, entry := range e.m.Entries {
		if e.bits < 32 && entry.Value>>e.bits != 0 {
			continue // no field of this size can have the value
		}
		number := fmt.Sprintf("%#x", entry.Value)
		name := appendWord(e.goName, limited(names[i], number))
		switch {
		case entry.Symbol != "" && !e.narrow:
			name = limited(exportedName(entry.Symbol), number)
		case name == e.goName || seen[name]:
			name = appendWord(name, number)
		}
		seen[name] = true
		given := entry.GoName
		if e.narrow {
			given = "" // the widest type has it
		}
		goName := b.names.pkg.claim(claim{
			what: fmt.Sprintf("value %#x of map %s", entry.Value, e.m.Name),
			key:  fmt.Sprintf("entry:%s.%#x", e.m.Name, entry.Value),
			pos:  entry.Pos, goName: given, name: name, derived: e.narrow,
		})
		e.entries = append(e.entries, enumEntry{entry, goName})
	}
}

// nameTypes settles the names of the single declarations of a package: the types of keywords
// and of tasks, the interfaces of accessors and the variables of classes. Whatever the
// manifest names like one keeps its name.
func (b *builder) nameTypes() {
	b.keyword, b.task = b.names.pkg.keep("Keyword"), b.names.pkg.keep("Task")
	for _, ev := range b.events {
		if t := ev.m.Task; t != nil && !t.EventGUID.IsZero() && b.classes[t.EventGUID] == "" {
			b.classes[t.EventGUID] = b.names.local("class" + exportedName(t.Name))
		}
	}
	for _, l := range b.layouts {
		for _, f := range l.fields {
			if f.getter == "" {
				continue
			}
			a := b.accessors[f.getter]
			if a == nil {
				a = &accessor{getter: f.getter, field: f.goName, doc: f.m.Doc, goType: f.kind.goType()}
				a.goName = b.names.pkg.keep("With" + f.goName)
				b.accessors[f.getter] = a
			}
			f.accessor = a
			a.differs = a.differs || a.goType != f.kind.goType()
		}
	}
}

// The names of the test functions, where nothing else has them.
const (
	testRoundTrip = "TestEventsRoundTrip"
	testTruncate  = "TestEventsTruncate"
	testClone     = "TestEventsClone"
	testVersions  = "TestEventsVersions"
	testAllocs    = "TestEventsAllocs"
	testFuzz      = "FuzzEvents"
	testGolden    = "TestEventsGolden"
	testFresh     = "TestEventsFresh"
)

// nameTests settles the names of the test functions. Types that are named like
// one keep their name, whether there are tests or not.
func (b *builder) nameTests() {
	b.tests = make(map[string]string)
	for _, name := range []string{testRoundTrip, testTruncate, testClone, testVersions, testAllocs, testFuzz, testFresh, testGolden} {
		b.tests[name] = b.names.pkg.free(name)
	}
	b.free = b.names.pkg.free
}
