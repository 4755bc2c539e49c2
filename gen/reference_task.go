package gen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// taskPage describes the events of a task.
func (ref *reference) taskPage(t *taskPage) File {
	w := newPage(t.title())
	about := fmt.Sprintf("Events of %s", link(ref.m.Name, "README.md"))
	if t.m != nil {
		w.para(text(cmp.Or(t.m.Doc, t.m.Message)))
		about = fmt.Sprintf("Task %d of %s", t.m.Value, link(ref.m.Name, "README.md"))
		if t.m.EventGUID != (etw.GUID{}) {
			about += ", class " + code1(t.m.EventGUID.String())
		}
	}
	w.para(about + ".")
	w.row("id", "event", "level", "keywords", "when it is written")
	w.rule(5)
	for _, versions := range t.ids {
		newest := versions[len(versions)-1]
		w.row(fmt.Sprint(newest.number()), link(title(versions), "#"+anchor(eventHeading(versions))),
			levelName(newest.m), keywordNames(newest.m), text(commonDoc(versions)))
	}
	w.blank()
	p := &eventPage{page: w, ref: ref, seen: make(map[*enum]bool)}
	for _, versions := range t.ids {
		p.event(versions)
	}
	p.values()
	return w.file(ref.name + "/" + t.stem + ".md")
}

// An eventPage collects the enumerations that its events use.
type eventPage struct {
	*page
	ref   *reference
	enums []*enum
	seen  map[*enum]bool
}

// event describes the versions of an id.
func (p *eventPage) event(versions []*event) {
	p.heading(2, eventHeading(versions))
	p.para(text(commonDoc(versions)))
	p.row("version", "symbol", "Go type", "level", "opcode", "keywords", "bytes", "remarks")
	p.rule(8)
	for _, ev := range versions {
		opcode := ""
		if o := ev.m.Opcode; o != nil {
			opcode = fmt.Sprintf("%s (%d)", code1(o.Name), o.Value)
		}
		p.row(fmt.Sprint(ev.m.Version), code1(ev.m.Symbol), code1(p.ref.name+"."+ev.goName), levelName(ev.m), opcode,
			keywordNames(ev.m), payloadBytes(ev), text(strings.TrimSpace(strings.TrimPrefix(ev.m.Doc, commonDoc(versions)))))
	}
	p.blank()
	if a := p.ref.anys[versions[0]]; a != nil {
		p.para(fmt.Sprintf("Any version: %s.", code1(p.ref.name+"."+a.goName)))
	}
	for _, chain := range chains(versions) {
		p.fields(chain, len(versions) > 1)
	}
}

// chains splits the versions of an id where one does not extend the one before.
func chains(versions []*event) [][]*event {
	var out [][]*event
	for _, ev := range versions {
		if n := len(out); n > 0 && ev.extends != nil && ev.extends == out[n-1][len(out[n-1])-1] {
			out[n-1] = append(out[n-1], ev)
			continue
		}
		out = append(out, []*event{ev})
	}
	return out
}

// fields describes the fields of versions each of which extends the one before.
func (p *eventPage) fields(chain []*event, several bool) {
	newest := chain[len(chain)-1]
	if len(newest.fields()) == 0 {
		if several {
			p.para(fmt.Sprintf("No fields in %s.", versionsText(chain)))
		} else {
			p.para("No fields.")
		}
		return
	}
	if several {
		p.para(fmt.Sprintf("Fields of %s:", versionsText(chain)))
	}
	p.row("offset", "field", "type", "Go type", "meaning")
	p.rule(5)
	known := chain[0]
	var at place
	for i, f := range newest.fields() {
		for len(known.fields()) <= i {
			known = chain[slices.Index(chain, known)+1]
		}
		// The first version may describe a field that the newest does not.
		meaning := text(cmp.Or(f.m.Doc, known.fields()[i].m.Doc))
		if known != chain[0] {
			meaning += fmt.Sprintf(" Since version %d.", known.m.Version)
		}
		p.field("", f, at.String(), meaning)
		at.pass(f.kind)
	}
	p.blank()
}

// field describes a field and the members of its struct.
func (p *eventPage) field(path string, f *field, offset, meaning string) {
	name := path + f.m.Name
	p.row(offset, code1(name), code1(layoutName(f.m)), p.goType(f), strings.TrimSpace(meaning))
	s := f.kind.members()
	if s == nil {
		return
	}
	if s.view != "" {
		name += "[]"
	}
	var at place
	for _, member := range s.fields {
		p.field(name+".", member, at.within(), text(member.m.Doc))
		at.pass(member.kind)
	}
}

// goType returns the Go type of a field, with a link to its values if it is an
// enumeration.
func (p *eventPage) goType(f *field) string {
	name := code1(f.kind.goType().String())
	e := f.kind.enum()
	if e == nil {
		return name
	}
	if !p.seen[e] {
		p.seen[e] = true
		p.enums = append(p.enums, e)
	}
	return "[" + name + "](#" + anchor(e.goName) + ")"
}

// values describes the enumerations that the events of the page use.
func (p *eventPage) values() {
	if len(p.enums) == 0 {
		return
	}
	p.heading(2, "Values")
	slices.SortFunc(p.enums, func(a, b *enum) int { return cmp.Compare(a.goName, b.goName) })
	for _, e := range p.enums {
		p.heading(3, e.goName)
		p.para(text(e.m.Doc))
		if e.m.Flags {
			p.para("Its values are bits that combine.")
		}
		p.row("value", "Go constant", "name", "meaning")
		p.rule(4)
		for _, entry := range e.entries {
			p.row(code1(fmt.Sprintf("%#x", entry.m.Value)), code1(p.ref.name+"."+entry.goName), text(entry.m.Message), text(entry.m.Doc))
		}
		p.blank()
	}
}

// A place is an offset in a payload, as long as it is known.
type place struct {
	extent
	lost bool
}

// pass moves the place behind a field.
func (at *place) pass(k kind) {
	x, exact := k.least()
	at.extent = at.extent.add(x)
	at.lost = at.lost || !exact
}

func (at place) String() string {
	if at.lost {
		return "varies"
	}
	return bytesOf(at.extent)
}

// within returns the place as an offset in an element.
func (at place) within() string {
	if at.lost {
		return at.String()
	}
	return "+" + at.String()
}

// bytesOf returns a number of bytes, for 4 and for 8 byte pointers if they
// differ.
func bytesOf(x extent) string {
	if x.narrow == x.wide {
		return fmt.Sprint(x.wide)
	}
	return fmt.Sprintf("%d/%d", x.narrow, x.wide)
}

// payloadBytes returns the size of a payload.
func payloadBytes(ev *event) string {
	if ev.layout == nil {
		return "0"
	}
	x, exact := ev.layout.least()
	if exact {
		return bytesOf(x)
	}
	return bytesOf(x) + "+"
}

// layoutName returns the type of a field as the manifest has it.
func layoutName(m *manifest.Field) string {
	name := strings.TrimPrefix(manifest.TypeName(m.Type), "win:")
	if s := sizeName(m.Length); s != "" {
		name += "(" + s + ")"
	}
	if s := sizeName(m.Count); s != "" {
		name += "[" + s + "]"
	}
	switch {
	case m.When.Left > 0:
		name += "?"
	case m.When.Ptr != 0:
		name += fmt.Sprintf(" with %d-byte pointers", m.When.Ptr)
	}
	return name
}

func sizeName(s manifest.Size) string {
	switch s.Kind {
	case etw.SizeConst:
		return fmt.Sprint(s.Const)
	case etw.SizeField:
		return s.Field.Name
	case etw.SizeRest:
		return "*"
	}
	return ""
}

// eventHeading is the heading of an event's section.
func eventHeading(versions []*event) string {
	return fmt.Sprintf("%d %s", versions[0].number(), title(versions))
}

// title returns the name that the versions of an id share: that of the newest,
// since names get better.
func title(versions []*event) string {
	name := versions[len(versions)-1].m.Symbol
	if name == "" {
		name = versions[0].displayName()
	}
	if i := strings.LastIndex(name, "_V"); i > 0 && isVersionSuffix(name[i+1:]) {
		name = name[:i]
	}
	return name
}

// displayName returns the name that programs show for an event without a symbol.
func (ev *event) displayName() string {
	task, opcode := "", ""
	if ev.m.Task != nil {
		task = ev.m.Task.Name
	}
	if ev.m.Opcode != nil {
		opcode = strings.TrimPrefix(ev.m.Opcode.Name, "win:")
	}
	if task == "" {
		return ev.goName
	}
	return etw.EventName("", task, opcode, ev.key.Kind, ev.key.ID)
}

// versionsText names versions in a sentence.
func versionsText(versions []*event) string {
	if len(versions) == 1 {
		return "version " + versionList(versions)
	}
	return "versions " + versionList(versions)
}

func versionList(versions []*event) string {
	first, last := versions[0].m.Version, versions[len(versions)-1].m.Version
	if len(versions) > 2 && int(last)-int(first) == len(versions)-1 {
		return fmt.Sprintf("%d to %d", first, last)
	}
	list := each.Of(versions, func(ev *event) string { return fmt.Sprint(ev.m.Version) })
	return joinAnd(list)
}

// commonDoc returns the sentences that the documentation of all versions starts
// with. The rest of each is about that version.
func commonDoc(versions []*event) string {
	common := versions[0].m.Doc
	for _, ev := range versions[1:] {
		for !strings.HasPrefix(ev.m.Doc+" ", common+" ") {
			i := strings.LastIndex(strings.TrimSuffix(common, "."), ". ")
			if i < 0 {
				return ""
			}
			common = common[:i+1]
		}
	}
	return common
}

func levelName(e *manifest.Event) string {
	if e.Level == nil {
		return ""
	}
	text := fmt.Sprintf("%s (%d)", strings.TrimPrefix(e.Level.Name, "win:"), e.Level.Value)
	if e.SessionLevel != nil {
		text += fmt.Sprintf(", for sessions from %s (%d) on", strings.TrimPrefix(e.SessionLevel.Name, "win:"), e.SessionLevel.Value)
	}
	return text
}

func keywordNames(e *manifest.Event) string {
	if len(e.Keywords) == 0 {
		return ""
	}
	names := each.Of(e.Keywords, func(k *manifest.Keyword) string { return code1(k.Name) })
	return fmt.Sprintf("%s = %s", strings.Join(names, " "), code1(fmt.Sprintf("%#x", e.Mask())))
}
