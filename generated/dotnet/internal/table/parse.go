package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Types are the types of fields, and how manifests call them.
var Types = map[string]string{
	"string": "win:UnicodeString", "bool": "win:Boolean", "bytes": "win:Binary", "guid": "win:GUID", "time": "win:FILETIME",
	"int8": "win:Int8", "uint8": "win:UInt8", "int16": "win:Int16", "uint16": "win:UInt16", "int32": "win:Int32",
	"uint32": "win:UInt32", "int64": "win:Int64", "uint64": "win:UInt64", "float": "win:Float", "double": "win:Double",
	"pointer": "win:Pointer",
}

// Levels are the standard levels, by value.
var Levels = []string{"LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose"}

// Opcodes are the standard opcodes.
var Opcodes = []Value{
	{Name: "Info"}, {Name: "Start", Value: 1}, {Name: "Stop", Value: 2}, {Name: "DC_Start", Value: 3}, {Name: "DC_Stop", Value: 4},
	{Name: "Extension", Value: 5}, {Name: "Reply", Value: 6}, {Name: "Resume", Value: 7}, {Name: "Suspend", Value: 8},
	{Name: "Send", Value: 9}, {Name: "Receive", Value: 240},
}

// ownTask is the task of event 0, from which tasks of single events count down.
const ownTask = 65534

// A parser reads one source.
type parser struct {
	Source
	doc *string // of what was read last
}

// Read returns the source. All have an event 0 which no code of theirs declares.
func (e *Entry) Read() (*Source, error) {
	p := new(parser)
	p.Events = []Event{{Name: "EventSourceMessage", Fields: []Field{{Name: "message", Type: "string"}}}}
	p.infer(&p.Events[0])
	p.Events[0].Doc = "EventSourceMessage says that something is wrong with the source itself, such as an event that it could not write."
	for i, line := range strings.Split(strings.TrimSuffix(e.section, "\n"), "\n") {
		if i == 0 {
			line = "source " + line
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("sources.txt:%d: %w", e.line+i+1, err)
		}
	}
	return &p.Source, nil
}

// line reads one line.
func (p *parser) line(line string) error {
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || words[0][0] == '#':
		return nil
	case line[0] == ' ':
		return p.text(strings.TrimSpace(line))
	case len(words) < 2:
		return fmt.Errorf("%q has no name", words[0])
	}
	name, rest := words[1], words[2:]
	switch words[0] {
	case "source":
		if len(rest) < 2 {
			return fmt.Errorf("source %s has no GUID and package", name)
		}
		p.Name, p.GUID, p.Package, p.doc = name, rest[0], rest[1], &p.Doc
		p.SelfDescribing = slices.Contains(rest, "self-describing")
	case "keyword":
		return p.value(&p.Keywords, name, rest)
	case "opcode":
		return p.value(&p.Opcodes, name, rest)
	case "task":
		return p.value(&p.Tasks, name, rest)
	case "map", "bits":
		return p.mapped(name, rest, words[0] == "bits")
	case "writes":
		return p.written(words[1:])
	default:
		return p.event(words[0], name, rest)
	}
	return nil
}

// text reads a meaning: the thing before, or a field of it.
func (p *parser) text(line string) error {
	doc := p.doc
	if name, ok := strings.CutPrefix(line, "."); ok && len(p.Events) > 0 {
		name, line, _ = strings.Cut(name, " ")
		fields := p.Events[len(p.Events)-1].Fields
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no field %s", name)
		}
		doc = &fields[i].Doc
	}
	if doc == nil {
		return fmt.Errorf("%q belongs to nothing", line)
	}
	if *doc != "" {
		*doc += " "
	}
	*doc += line
	return nil
}

// value reads a number with a name.
func (p *parser) value(list *[]Value, name string, rest []string) error {
	if len(rest) != 1 {
		return fmt.Errorf("%s wants one number", name)
	}
	v, err := strconv.ParseUint(rest[0], 0, 64)
	*list = append(*list, Value{Name: name, Value: v})
	p.doc = &(*list)[len(*list)-1].Doc
	return err
}

// mapped reads names of values.
func (p *parser) mapped(name string, rest []string, bits bool) error {
	m := Map{Name: name, Bits: bits}
	for _, word := range rest {
		number, name, _ := strings.Cut(word, "=")
		v, err := strconv.ParseInt(number, 0, 64)
		if err != nil || name == "" || v < -1<<31 || v >= 1<<32 {
			return fmt.Errorf("%q is no value with a name", word)
		}
		m.Values = append(m.Values, Value{Name: name, Value: uint64(v) & 0xffffffff})
	}
	p.Maps = append(p.Maps, m)
	p.doc = &p.Maps[len(p.Maps)-1].Doc
	return nil
}

// written reads the fields that the last event writes.
func (p *parser) written(words []string) (err error) {
	if len(p.Events) == 0 {
		return fmt.Errorf("there is no event before")
	}
	e := &p.Events[len(p.Events)-1]
	if e.Wrong = true; slices.Equal(words, []string{"nothing"}) {
		return nil
	}
	e.Written, err = p.fields(words)
	return err
}

// event reads an event.
func (p *parser) event(id, name string, words []string) error {
	id, version, _ := strings.Cut(id+".0", ".")
	version, _, _ = strings.Cut(version, ".")
	n, err := strconv.ParseUint(id, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is no event", id)
	}
	v, err := strconv.ParseUint(version, 10, 8)
	if err != nil {
		return fmt.Errorf("%q is no version", version)
	}
	e := Event{ID: uint16(n), Version: uint8(v), Name: name, Level: 4}
	p.infer(&e)
	fields := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, ":") })
	if fields < 0 {
		fields = len(words)
	}
	for _, word := range words[:fields] {
		if err := p.header(&e, word); err != nil {
			return err
		}
	}
	if e.Fields, err = p.fields(words[fields:]); err != nil {
		return err
	}
	p.Events = append(p.Events, e)
	p.doc = &p.Events[len(p.Events)-1].Doc
	return nil
}

// infer sets the task and the opcode that .NET gives to an event which has none.
func (p *parser) infer(e *Event) {
	e.Opcode = Opcodes[0]
	e.Task = Value{Name: e.Name, Value: ownTask - uint64(e.ID)}
	if name, ok := strings.CutSuffix(e.Name, "Start"); ok {
		e.Opcode, e.Task.Name = Opcodes[1], name
	} else if name, ok := strings.CutSuffix(e.Name, "Stop"); ok {
		e.Opcode = Opcodes[2]
		for i := range p.Events {
			if start := &p.Events[i]; start.ID == e.ID-1 && start.Name == name+"Start" {
				e.Task = start.Task
			}
		}
	}
}

// header reads one of the words between the name of an event and its fields.
func (p *parser) header(e *Event, word string) error {
	if level := slices.Index(Levels, word); level >= 0 {
		e.Level = uint8(level)
		return nil
	}
	list := map[byte][]Value{'+': p.Keywords, '@': p.Tasks, '/': append(slices.Clone(Opcodes), p.Opcodes...)}[word[0]]
	if word == "@" {
		e.Task = Value{}
		return nil
	}
	i := slices.IndexFunc(list, func(v Value) bool { return v.Name == word[1:] })
	if i < 0 {
		return fmt.Errorf("%q is neither a level nor +KEYWORD, @TASK or /OPCODE", word)
	}
	switch word[0] {
	case '+':
		e.Keywords = append(e.Keywords, list[i])
	case '@':
		e.Task = list[i]
	case '/':
		e.Opcode = list[i]
	}
	return nil
}

// fields reads fields.
func (p *parser) fields(words []string) ([]Field, error) {
	var list []Field
	for _, word := range words {
		name, typ, _ := strings.Cut(word, ":")
		f := Field{Name: name, Type: typ}
		if members, ok := strings.CutSuffix(typ, "}"); ok {
			f.Type = ""
			members, f.Counted = strings.CutPrefix(members, "[]")
			var err error
			if f.Fields, err = p.fields(strings.Split(strings.TrimPrefix(members, "{"), ",")); err != nil {
				return nil, err
			}
		} else if Types[typ] == "" && !slices.ContainsFunc(p.Maps, func(m Map) bool { return m.Name == typ }) {
			return nil, fmt.Errorf("field %q has no type that is known", word)
		}
		list = append(list, f)
	}
	return list, nil
}
