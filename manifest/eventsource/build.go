package eventsource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A builder makes a source of a class step by step, in the order in which .NET does: which
// of two things of one value keeps its name, and the first complaint, depend on it.
type builder struct {
	*class
	s         *Source
	semantics Semantics
	resources map[string]string // the texts of a resource, or nil

	blobs    map[string][]int // by event: which of its fields are sizes of binary data
	maps     map[string]bool
	channels map[int64]int
	byID     map[int64]*Event // what events are checked against; nil where they are not
	byTask   map[taskOpcode][]*Event
	names    map[string]bool
}

// errDead ends the work on a source that is dead at run time.
var errDead = errors.New("dead")

// build makes a source of a class.
func (c *class) build(file string, id identity, semantics Semantics) *Source {
	b := &builder{class: c, semantics: semantics, blobs: make(map[string][]int), maps: make(map[string]bool),
		channels: make(map[int64]int), names: make(map[string]bool)}
	b.s = &Source{Name: id.name, GUID: id.guid, file: file, strings: make(map[string]string),
		Tasks: make(map[int64]string), Opcodes: make(map[int64]string), Keywords: make(map[uint64]string)}
	if semantics != None {
		b.byID, b.byTask = make(map[int64]*Event), make(map[taskOpcode][]*Event)
		b.check(&Event{})
	}
	err := b.run()
	if err != nil && err != errDead {
		b.exception(err.Error())
	}
	if b.s.Dead != "" {
		b.s.Events = nil
	}
	return b.s
}

// complain notes a fault of a class. A fatal one ends the work, unless all complaints are
// collected.
func (b *builder) complain(fatal bool, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	switch {
	case b.semantics == Strict:
		b.s.Complaints = append(b.s.Complaints, msg)
	case fatal:
		b.s.Dead = msg
		return errDead
	}
	return nil
}

// exception notes that .NET fails with something other than a complaint.
func (b *builder) exception(msg string) {
	switch {
	case b.semantics != Strict:
		b.s.Dead = msg
	case len(b.s.Complaints) == 0:
		b.s.Complaints = []string{"Unexpected error: " + msg}
	}
}

// run does everything in order.
func (b *builder) run() error {
	if name, ok := b.text("LocalizationResources"); ok {
		texts, err := b.readResource(name + ".resources")
		if err != nil {
			return err
		}
		b.resources = texts
	}
	e := &Event{Name: messageEvent, Task: messageTask}
	if err := b.start(e, nil); err != nil {
		return err
	}
	b.addField(e, Field{Name: "message", InType: "win:UnicodeString"})
	b.end(e)
	if b.semantics == Strict {
		if !b.direct {
			b.complain(false, "Event source types must derive from EventSource.")
		}
		if b.Flags&ecma335.TypeSealed == 0 {
			b.complain(false, "Event source types must be sealed or abstract.")
		}
	}
	if err := b.constants(); err != nil {
		return err
	}
	if err := b.events(); err != nil {
		return err
	}
	b.texts()
	return nil
}

// A kind of constants that a class declares in a nested class of this name.
var kinds = []struct{ class, field string }{
	{"Keywords", "EventKeywords"}, {"Tasks", "EventTask"}, {"Opcodes", "EventOpcode"},
}

// A failure is an error of .NET where it does not complain, in its words.
type failure string

func (f failure) Error() string { return string(f) }

// errState is the error where a field has no constant.
const errState failure = "Operation is not valid due to the current state of the object."

// constants reads the keywords, tasks and opcodes that a class declares.
func (b *builder) constants() error {
	for _, kind := range kinds {
		nested, ok := b.nested(kind.class, true)
		if !ok {
			continue
		}
		for _, f := range nested.fields() {
			if f.Flags&ecma335.FieldStatic == 0 {
				continue
			}
			if err := b.constant(kind.class, f); err != nil {
				return err
			}
		}
	}
	for i := range 4 {
		if err := b.addKeyword(fmt.Sprintf("Session%d", 3-i), 1<<(44+i)); err != nil {
			return err
		}
	}
	return nil
}

// constant reads one field.
func (b *builder) constant(class string, f ecma335.FieldRow) error {
	t, _ := ecma335.FieldSignature(f.Signature)
	full := b.nameOf(t.Unmodified().Token)
	for _, kind := range kinds {
		if !isTracing(full, kind.field) {
			continue
		}
		if kind.class != class {
			return b.complain(false, "The type of %s is not expected in %s.", kind.field, class)
		}
		c, _ := b.Constant(f.Token)
		v, ok := c.Int()
		if !ok {
			return errState
		}
		switch class {
		case "Keywords":
			return b.addKeyword(f.Name, uint64(v))
		case "Tasks":
			return b.addNumber("Task", b.s.Tasks, f.Name, v, v > 0 && v < 65535, "1-65535")
		}
		return b.addNumber("Opcode", b.s.Opcodes, f.Name, v, v > 10 && v < 239, "11-238")
	}
	return nil
}

func (b *builder) addKeyword(name string, v uint64) error {
	if v&(v-1) != 0 {
		if err := b.complain(true, "Value 0x%x for keyword %s needs to be a power of 2.", v, name); err != nil {
			return err
		}
	}
	if b.semantics == Strict {
		if v >= 1<<44 && !strings.HasPrefix(name, "Session") {
			b.complain(false, "Keyword %s has a value of 0x%x which is outside the legal range (0-0x0000080000000000).", name, v)
		}
		if before, taken := b.s.Keywords[v]; taken && before != name {
			b.complain(false, "Keywords %s and %s are defined with the same value (0x%x).", name, before, v)
		}
	}
	b.s.Keywords[v] = name
	return nil
}

// addNumber adds a task or an opcode, whose legal values are as .NET names them.
func (b *builder) addNumber(kind string, names map[int64]string, name string, v int64, legal bool, values string) error {
	if b.semantics == Strict {
		if !legal {
			b.complain(false, "%s %s has a value of %d which is outside the legal range (%s).", kind, name, v, values)
		}
		if before, taken := names[v]; taken && before != name {
			b.complain(false, "%ss %s and %s are defined with the same value (%d).", kind, name, before, v)
		}
	}
	names[v] = name
	return nil
}
