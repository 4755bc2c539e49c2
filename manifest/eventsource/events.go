package eventsource

import (
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// The errors of .NET.
const (
	errStop failure = "An event with stop suffix must follow a corresponding event with a start suffix."
	errID   failure = "The ID parameter must be in the range 1 through 65535. (Parameter 'id')"
)

// The opcodes that names of events stand for.
const (
	opcodeInfo  = 0
	opcodeStart = 1
	opcodeStop  = 2

	informational = 4
	highestID     = 65535
)

// A method is one that may be an event.
type method struct {
	ecma335.MethodRow
	sig       *ecma335.MethodSig
	attribute *ecma335.Attribute // [Event], or nil
	names     []string           // of parameters
	related   bool               // the first parameter is the id of another activity, and no field
}

// events makes events of the methods of a class. A method without [Event] has its
// place among the events for an id.
func (b *builder) events() error {
	id := int64(1)
	for _, row := range b.methods() {
		m, ok := b.method(row)
		if !ok {
			continue
		}
		e := &Event{ID: id, Name: m.Name, Level: informational}
		opcodeGiven := false
		if m.attribute != nil {
			opcodeGiven = e.read(m.attribute)
			if e.ID <= 0 {
				if err := b.complain(true, "Event IDs must be positive integers."); err != nil {
					return err
				}
				continue
			}
		}
		if strings.Contains(m.Name, ".") {
			b.complain(false, "Event method %s (with ID %d) is an explicit interface method implementation. Re-write method as implicit implementation.", m.Name, e.ID)
		}
		id++
		if err := b.infer(e, opcodeGiven); err != nil {
			return err
		}
		if err := b.event(e, m); err != nil {
			return err
		}
	}
	return nil
}

// method returns a method, and whether it is an event.
func (b *builder) method(row ecma335.MethodRow) (*method, bool) {
	if row.Flags&(ecma335.MethodStatic|ecma335.MethodRTSpecialName) != 0 {
		return nil, false
	}
	sig, ok := ecma335.MethodSignature(row.Signature)
	if !ok {
		return nil, false
	}
	m := &method{MethodRow: row, sig: sig, names: b.ParamNames(row.Row(), len(sig.Params))}
	for _, name := range m.names {
		b.world.charge(len(name))
	}
	m.attribute, ok = b.tracing(row.Token, "EventAttribute")
	if !ok {
		m.attribute = nil
		if sig.Return.Unmodified().Kind != ecma335.Void || row.Flags&ecma335.MethodVirtual != 0 {
			return nil, false
		}
		if _, ok := b.tracing(row.Token, "NonEventAttribute"); ok {
			return nil, false
		}
	}
	if len(sig.Params) > 0 && strings.EqualFold(m.names[0], "relatedActivityId") {
		first := sig.Params[0].Unmodified()
		m.related = first.Kind == ecma335.ValueType && b.nameOf(first.Token) == "System.Guid"
	}
	return m, true
}

// fields returns the parameters that are fields, and their names.
func (m *method) fields() ([]ecma335.Type, []string) {
	if m.related {
		return m.sig.Params[1:], m.names[1:]
	}
	return m.sig.Params, m.names
}

// read reads [Event], and reports whether it gives an opcode.
func (e *Event) read(a *ecma335.Attribute) (opcodeGiven bool) {
	if len(a.Fixed) > 0 {
		e.ID, _ = a.Fixed[0].(int64)
	}
	number := func(name string, to *int64) bool {
		v, given := a.Get(name)
		switch v := v.(type) {
		case int64:
			*to = v
		case uint64:
			*to = int64(v)
		}
		return given
	}
	number("Version", &e.Version)
	number("Level", &e.Level)
	number("Task", &e.Task)
	number("Channel", &e.Channel)
	e.Channel &= 0xff
	var mask int64
	number("Keywords", &mask)
	e.Mask = uint64(mask)
	return number("Opcode", &e.Opcode)
}

// infer gives an event the parts that its name and id imply where [Event] does not: a task,
// and with names that end with Start or Stop an opcode.
func (b *builder) infer(e *Event, opcodeGiven bool) error {
	if e.Opcode != opcodeInfo {
		return nil
	}
	noTask := e.Task == 0
	if noTask {
		e.Task = messageTask - e.ID
	}
	if !opcodeGiven {
		switch {
		case strings.HasSuffix(e.Name, "Start"):
			e.Opcode = opcodeStart
		case strings.HasSuffix(e.Name, "Stop"):
			e.Opcode = opcodeStop
		}
	}
	switch {
	case !noTask:
	case e.Opcode == opcodeStart:
		return b.addNumber("Task", b.s.Tasks, strings.TrimSuffix(e.Name, "Start"), e.Task, e.Task > 0 && e.Task < 65535, "1-65535")
	case e.Opcode == opcodeStop:
		start := b.byID[e.ID-1]
		if start != nil && start.Opcode == opcodeStart && start.Name == strings.TrimSuffix(e.Name, "Stop")+"Start" {
			e.Task = start.Task
		} else if b.semantics == Strict {
			return errStop
		}
	}
	return nil
}

// event enters an event with its fields.
func (b *builder) event(e *Event, m *method) error {
	var message any
	if m.attribute != nil {
		message, _ = m.attribute.Get("Message")
	}
	if err := b.start(e, message); err != nil {
		return err
	}
	types, names := m.fields()
	for i, t := range types {
		if err := b.parameter(e, m, t, names[i]); err != nil {
			return err
		}
	}
	b.end(e)
	e.method = m
	e.Accident = m.attribute == nil && !b.writes(m, e.ID)
	if b.byID == nil {
		return nil
	}
	if err := b.checkEvent(e, m); err != nil {
		return err
	}
	if e.ID > highestID {
		return errID
	}
	b.check(e)
	return nil
}

// check enters an event among those that later ones are checked against.
func (b *builder) check(e *Event) {
	b.byID[e.ID] = e
	key := taskOpcode{e.Task & 0xffff, e.Opcode & 0xff}
	b.byTask[key] = append(b.byTask[key], e)
}

// checkEvent checks an event as a running source does.
func (b *builder) checkEvent(e *Event, m *method) error {
	if id, ok := b.passedID(m); ok && id != e.ID {
		if err := b.complain(true, "Event %s was assigned event ID %d but %d was passed to WriteEvent.", e.Name, e.ID, id); err != nil {
			return err
		}
	}
	if b.byID[e.ID] != nil {
		if err := b.complain(true, "Event %s has ID %d which is already in use.", e.Name, e.ID); err != nil {
			return err
		}
	}
	if b.semantics == Strict {
		b.checkTask(e)
	}
	if b.names[e.Name] {
		if err := b.complain(true, "Event name %s used more than once.  If you wish to overload a method, the overloaded method should have a NonEvent attribute.", e.Name); err != nil {
			return err
		}
	}
	b.names[e.Name] = true
	return nil
}
