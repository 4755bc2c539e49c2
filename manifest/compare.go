package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Severity says whom a change harms.
type Severity uint8

// The severities.
const (
	Harmless Severity = iota // what people see differs
	Doubtful                 // sessions, queries or source code may have to change
	Breaking                 // payloads or records are taken for what they are not
)

// String returns note, warning or error.
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[min(s, Breaking)] }

// A Change is a difference between two versions of a manifest.
type Change struct {
	Pos      Pos // in the new one, or where it is gone in the old one
	Severity Severity
	Rule     string // a short name for its kind, such as layout
	Msg      string
}

// String returns the change as file:line:col: severity: message (rule).
func (c Change) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", c.Pos, c.Severity, c.Msg, c.Rule)
}

// Compare returns the changes from an old version of a manifest to a new one, as far as it
// concerns those who have recorded traces, started sessions or written programs by the old
// one, and the additions, which harm none of them.
func Compare(old, new *Manifest) []Change {
	c := &comparer{}
	left := slices.Clone(new.Providers)
	for _, p := range old.Providers {
		// Dumps have several providers with one GUID.
		i := slices.IndexFunc(left, func(q *Provider) bool { return q.GUID == p.GUID && q.Name == p.Name })
		if i < 0 {
			i = slices.IndexFunc(left, func(q *Provider) bool { return q.GUID == p.GUID })
		}
		if i < 0 {
			c.add(p.Pos, Breaking, "provider", "provider %s %s is gone: nothing decodes what it has logged", quote(p.Name), p.GUID)
			continue
		}
		now := left[i]
		left = slices.Delete(left, i, i+1)
		c.provider(p, now)
	}
	for _, p := range left {
		c.add(p.Pos, Harmless, "new", "provider %s %s is new", quote(p.Name), p.GUID)
	}
	return c.changes
}

// A comparer collects changes.
type comparer struct{ changes []Change }

func (c *comparer) add(at Pos, s Severity, rule, format string, args ...any) {
	c.changes = append(c.changes, Change{at, s, rule, fmt.Sprintf(format, args...)})
}

func (c *comparer) provider(old, now *Provider) {
	if old.Name != now.Name {
		c.add(now.Pos, Breaking, "name", "provider %s is called %s now: .NET and sessions choose providers by name", quote(old.Name), quote(now.Name))
	}
	if old.Symbol != now.Symbol && old.Symbol != "" {
		c.add(now.Pos, Doubtful, "symbol", "provider %s has the symbol %s in place of %s: source code has to change", quote(now.Name), quote(now.Symbol), quote(old.Symbol))
	}
	c.keywords(old, now)
	c.tasks(old, now)
	c.maps(old, now)
	events := make(map[eventID]*Event)
	for _, e := range now.Events {
		if events[idOf(e)] == nil { // to which records are dispatched
			events[idOf(e)] = e
		}
	}
	before := make(map[eventID]bool)
	for _, e := range old.Events {
		if before[idOf(e)] {
			continue
		}
		before[idOf(e)] = true
		if other := events[idOf(e)]; other != nil {
			c.event(e, other)
		} else {
			c.add(e.Pos, Breaking, "event", "%s is gone: nothing decodes what was logged of it", title(e))
		}
	}
	for _, e := range now.Events {
		if !before[idOf(e)] {
			c.newVersion(old, e)
		}
	}
}

// An eventID is the identity of an event in a record.
type eventID struct {
	class   etw.GUID // of a classic event
	id      uint32
	name    string // of one that has it in place of an id
	version uint8
}

func idOf(e *Event) eventID {
	if e.Classic && e.Task != nil && e.Opcode != nil {
		return eventID{class: e.Task.EventGUID, id: uint32(e.Opcode.Value), version: e.Version}
	}
	if e.TraceName != "" {
		return eventID{name: e.TraceName, version: e.Version}
	}
	return eventID{id: e.ID, version: e.Version}
}

// title returns the name of an event in messages.
func title(e *Event) string {
	if e.TraceName != "" { // the id is any
		return fmt.Sprintf("event %s version %d", quote(e.TraceName), e.Version)
	}
	if e.Symbol == "" {
		return fmt.Sprintf("event %d version %d", e.ID, e.Version)
	}
	return fmt.Sprintf("event %d version %d (%s)", e.ID, e.Version, e.Symbol)
}

// keywords compares the bits by which sessions choose events.
func (c *comparer) keywords(old, now *Provider) {
	names := make(map[string]*Keyword)
	masks := make(map[uint64]*Keyword)
	for _, k := range now.Keywords {
		names[k.Name], masks[k.Mask] = k, k
	}
	for _, k := range old.Keywords {
		switch same, bit := names[k.Name], masks[k.Mask]; {
		case same != nil && same.Mask != k.Mask:
			c.add(same.Pos, Breaking, "keyword", "keyword %s is 0x%x in place of 0x%x: sessions of old programs choose other events", quote(k.Name), same.Mask, k.Mask)
		case same == nil && bit != nil:
			c.add(bit.Pos, Doubtful, "keyword", "keyword 0x%x is called %s in place of %s", k.Mask, quote(bit.Name), quote(k.Name))
		case same == nil:
			c.add(k.Pos, Doubtful, "keyword", "keyword %s is gone: sessions that ask for it get nothing", quote(k.Name))
		}
	}
}

// tasks compares the names by which consumers know tasks and opcodes.
func (c *comparer) tasks(old, now *Provider) {
	tasks := make(map[uint16]*Task)
	for _, t := range now.Tasks {
		tasks[t.Value] = t
	}
	c.opcodes(old.Opcodes, now.Opcodes)
	for _, t := range old.Tasks {
		other := tasks[t.Value]
		if other == nil {
			continue // who uses it is gone, or has another one
		}
		if other.Name != t.Name {
			c.add(other.Pos, Doubtful, "task", "task %d is called %s in place of %s", t.Value, quote(other.Name), quote(t.Name))
		}
		c.opcodes(t.Opcodes, other.Opcodes)
	}
}

func (c *comparer) opcodes(old, now []*Opcode) {
	opcodes := make(map[etw.Opcode]*Opcode)
	for _, o := range now {
		opcodes[o.Value] = o
	}
	for _, o := range old {
		if other := opcodes[o.Value]; other != nil && other.Name != o.Name {
			c.add(other.Pos, Doubtful, "opcode", "opcode %d is called %s in place of %s", o.Value, quote(other.Name), quote(o.Name))
		}
	}
}

// maps compares the names of values.
func (c *comparer) maps(old, now *Provider) {
	names := make(map[string]*Map)
	for _, m := range now.Maps {
		names[m.Name] = m
	}
	for _, m := range old.Maps {
		other := names[m.Name]
		if other == nil {
			c.add(m.Pos, Doubtful, "map", "map %s is gone: source code has to change", quote(m.Name))
			continue
		}
		if m.Flags != other.Flags {
			c.add(other.Pos, Doubtful, "map", "map %s has values in place of bits, or bits in place of values", quote(m.Name))
		}
		values := make(map[uint32]*MapEntry)
		for _, e := range other.Entries {
			values[e.Value] = e
		}
		for _, e := range m.Entries {
			switch v := values[e.Value]; {
			case v == nil:
				c.add(other.Pos, Doubtful, "map", "map %s has no name for 0x%x any more; it was %s", quote(m.Name), e.Value, quote(e.Message))
			case strings.TrimSpace(v.Message) != strings.TrimSpace(e.Message):
				c.add(v.Pos, Doubtful, "map", "value 0x%x of map %s means %s in place of %s", e.Value, quote(m.Name), quote(v.Message), quote(e.Message))
			}
		}
	}
}

// event compares versions of the same event.
func (c *comparer) event(old, now *Event) {
	what := title(old)
	if old.Symbol != now.Symbol {
		c.add(now.Pos, Doubtful, "symbol", "%s is called %s now: source code has to change", what, quote(now.Symbol))
	}
	c.layout(now.Pos, what, fieldsOf(old), fieldsOf(now))
	if a, b := levelOf(old), levelOf(now); a != b {
		c.add(now.Pos, Doubtful, "level", "%s has level %d in place of %d: sessions get it that did not, or do not that did", what, b, a)
	}
	if a, b := old.Mask(), now.Mask(); a != b {
		c.add(now.Pos, Doubtful, "keywords", "%s has keywords 0x%x in place of 0x%x: sessions get it that did not, or do not that did", what, b, a)
	}
	if a, b := channelOf(old), channelOf(now); a != b {
		c.add(now.Pos, Doubtful, "channel", "%s goes to channel %s in place of %s: queries of the old one do not find it", what, quote(b), quote(a))
	}
	if a, b := opcodeOf(old), opcodeOf(now); a != b {
		c.add(now.Pos, Doubtful, "opcode", "%s has opcode %d in place of %d: who pairs events by opcode does not find it", what, b, a)
	}
	if a, b := taskOf(old), taskOf(now); a != b {
		c.add(now.Pos, Doubtful, "task", "%s has task %d in place of %d", what, b, a)
	}
	if old.Message != now.Message {
		c.add(now.Pos, Harmless, "message", "the message of %s is another one", what)
	}
}

// newVersion looks at an event that was not there before. A new version of one has to add fields
// at its end alone: programs that know the version before read a newer one by that.
func (c *comparer) newVersion(old *Provider, e *Event) {
	var before *Event
	for _, o := range old.Events {
		same := idOf(o)
		same.version = e.Version
		if same == idOf(e) && o.Version < e.Version && (before == nil || o.Version > before.Version) {
			before = o
		}
	}
	if before == nil {
		c.add(e.Pos, Harmless, "new", "%s is new", title(e))
		return
	}
	a, b := forms(fieldsOf(before)), forms(fieldsOf(e))
	if len(b) >= len(a) && slices.Equal(a, b[:len(a)]) {
		c.add(e.Pos, Harmless, "new", "%s is new, and begins with the fields of version %d", title(e), before.Version)
	} else {
		c.add(e.Pos, Doubtful, "extends", "%s does not begin with the fields of version %d: programs that know only that one misread it", title(e), before.Version)
	}
}

// layout compares the fields of a payload, one by one.
func (c *comparer) layout(at Pos, what string, old, now []*Field) {
	oldForms, newForms := forms(old), forms(now)
	for i := range min(len(old), len(now)) {
		a, b := old[i], now[i]
		if oldForms[i] != newForms[i] {
			c.add(b.Pos, Breaking, "layout", "field %s of %s is %s in place of %s %s: give the event a new version", quote(b.Name), what, shape(b), quote(a.Name), shape(a))
			return
		}
		if a.Name != b.Name {
			c.add(b.Pos, Doubtful, "field", "field %s of %s is called %s now: source code and queries have to change", quote(a.Name), what, quote(b.Name))
		}
		if outOf(a) != outOf(b) {
			c.add(b.Pos, Harmless, "outType", "field %s of %s is shown as %s in place of %s", quote(b.Name), what, outOf(b), outOf(a))
		}
		switch {
		case a.Map != nil && b.Map == nil:
			c.add(b.Pos, Doubtful, "map", "field %s of %s has no map any more: source code has to change", quote(b.Name), what)
		case a.Map == nil && b.Map != nil:
			c.add(b.Pos, Doubtful, "map", "field %s of %s has a map now: source code has to change", quote(b.Name), what)
		case a.Map != nil && a.Map.Name != b.Map.Name:
			c.add(b.Pos, Doubtful, "map", "field %s of %s has another map: source code has to change", quote(b.Name), what)
		}
	}
	switch {
	case len(now) > len(old):
		c.add(now[len(old)].Pos, Breaking, "layout", "%s has a new field %s without a new version: payloads in old traces are too short", what, quote(now[len(old)].Name))
	case len(now) < len(old):
		c.add(at, Breaking, "layout", "%s has lost field %s without a new version: programs that know the old layout find payloads too short", what, quote(old[len(now)].Name))
	}
}

// forms returns the form of each field in a payload, members included, so that two lists
// that are equal are read alike. Outer are the fields around those of a struct.
func forms(fields []*Field, outer ...[]*Field) []string {
	scopes := append([][]*Field{fields}, outer...)
	where := func(s Size) string {
		if s.Field == nil {
			return fmt.Sprint(s.Kind, s.Const)
		}
		return fmt.Sprint(s.Kind, s.Up, slices.Index(scopes[s.Up], s.Field))
	}
	return each.Of(fields, func(f *Field) string {
		return fmt.Sprint(f.Type, f.When, where(f.Count), where(f.Length), forms(f.Fields, scopes...))
	})
}

// shape returns a field's form in a payload for messages.
func shape(f *Field) string {
	s := TypeName(f.Type)
	if f.Type == etw.InStruct {
		s = fmt.Sprintf("struct of %d fields", len(f.Fields))
	}
	if n := cmp.Or(size(f.Count), toRest(f.Count)); n != "" {
		s += " count " + n
	}
	if n := cmp.Or(size(f.Length), toRest(f.Length)); n != "" {
		s += " length " + n
	}
	return s
}

// The parts of an event, or 0 or "" for none.

func fieldsOf(e *Event) []*Field {
	if e.Template == nil {
		return nil
	}
	return e.Template.Fields
}

func levelOf(e *Event) etw.Level {
	if e.Level == nil {
		return 0
	}
	return e.Level.Value
}

func opcodeOf(e *Event) etw.Opcode {
	if e.Opcode == nil {
		return 0
	}
	return e.Opcode.Value
}

func taskOf(e *Event) uint16 {
	if e.Task == nil {
		return 0
	}
	return e.Task.Value
}

func channelOf(e *Event) string {
	if e.Channel == nil {
		return ""
	}
	return e.Channel.Name
}

func outOf(f *Field) etw.OutType { return cmp.Or(f.OutType, DefaultOut(f.Type)) }
