package eventsource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A written is a call of WriteEvent.
type written struct {
	id    int64         // -1 if it is not known
	known bool          // what follows is, too
	parts []writtenPart // what is written, in order
}

// A writtenPart is one argument of WriteEvent.
type writtenPart struct {
	inType string // "" if it is the field's own
	arg    int    // which parameter of the method it is; -1 if it is no parameter, or unknown
	item   bool   // of an array, which self-describing sources write by the field's type
}

// walk follows the code of an event method, and reports the calls of WriteEvent. It
// returns whether all of the code was followed.
func (c *class) walk(m *method, found func(written)) bool {
	args := []value{{kind: this}}
	for i := range m.sig.Params {
		args = append(args, value{kind: argument, n: int64(i)})
	}
	in := &interpreter{assembly: c.assembly,
		load:  func(ecma335.Token) value { return value{} },
		store: func(ecma335.Token, value) {}}
	in.call = func(call *call) (value, bool) {
		if strings.HasPrefix(call.name, "WriteEvent") && call.this.kind == this && len(call.args) > 0 {
			found(c.written(call))
		}
		return c.primitive(call), false
	}
	return in.run(m.MethodRow, args)
}

// primitive returns the value that a conversion makes an EventSourcePrimitive of, the element
// of an array for WriteEvent. It is written as the type that it is converted from.
func (c *class) primitive(call *call) value {
	if call.name != "op_Implicit" || len(call.args) != 1 || !isTracing(c.nameOf(call.parent), "EventSource+EventSourcePrimitive") {
		return value{}
	}
	v := call.args[0]
	if v.boxed == 0 { // enumerations come in boxes
		v.as = simpleTypes[call.sig.Params[0].Unmodified().Kind]
	}
	return v
}

// overloads has the types that WriteEvent's own overloads have for parameters, and their
// payloads.
var overloads = map[ecma335.ElementType]string{
	ecma335.I4: "win:Int32", ecma335.I8: "win:Int64", ecma335.String: "win:UnicodeString",
}

// written returns the payload of a call of WriteEvent, if it is one of EventSource's own.
func (c *class) written(call *call) written {
	w := written{id: -1}
	if call.args[0].kind == integer {
		w.id = call.args[0].n
	}
	if call.name != "WriteEvent" || !isTracing(c.nameOf(call.parent), "EventSource") {
		return w
	}
	w.known = true
	for i, p := range call.sig.Params[1:] {
		v := call.args[i+1]
		part := writtenPart{arg: -1}
		if v.kind == argument {
			part.arg = int(v.n)
		}
		switch p = p.Unmodified(); {
		case overloads[p.Kind] != "":
			part.inType = overloads[p.Kind]
		case p.Kind == ecma335.SZArray && p.Elem.Unmodified().Kind == ecma335.U1:
			part.inType = "win:Binary"
		case p.Kind == ecma335.SZArray && v.kind == array:
			w.parts = append(w.parts, c.elements(*v.array)...)
			continue
		default:
			w.known = false
		}
		w.parts = append(w.parts, part)
	}
	return w
}

// elements returns the payload of the elements of an array that is passed to WriteEvent:
// that of their types.
func (c *class) elements(elems []value) []writtenPart {
	var parts []writtenPart
	for _, v := range elems {
		part := writtenPart{inType: v.as, arg: -1, item: true}
		if v.kind == argument {
			part.arg = int(v.n)
		}
		if v.boxed != 0 {
			part.inType = c.boxedType(v.boxed)
		}
		parts = append(parts, part)
	}
	return parts
}

// boxedType returns the payload of a boxed value. It is "" if unknown.
func (c *class) boxedType(t ecma335.Token) string {
	full := c.nameOf(t)
	if inType := namedTypes[full]; inType != "" {
		return inType
	}
	if name, ok := strings.CutPrefix(full, "System."); ok {
		for kind, plain := range plainNames {
			if plain == name {
				return simpleTypes[kind]
			}
		}
	}
	if e, ok := c.resolve(t); ok && e.nameOf(e.Extends) == "System.Enum" {
		for _, f := range e.fields() {
			if f.Flags&ecma335.FieldStatic == 0 {
				sig, _ := ecma335.FieldSignature(f.Signature)
				inType := simpleTypes[sig.Unmodified().Kind]
				if sizes[inType] < 4 {
					return "win:UInt32" // small ones are written as integers
				}
				return inType
			}
		}
	}
	return ""
}

// sizes has the bytes of each type that has as many always.
var sizes = map[string]int{
	"win:Boolean": 4, "win:Int8": 1, "win:UInt8": 1, "win:Int16": 2, "win:UInt16": 2,
	"win:Int32": 4, "win:UInt32": 4, "win:Int64": 8, "win:UInt64": 8,
	"win:Float": 4, "win:Double": 8, "win:Pointer": 8, "win:FILETIME": 8, "win:GUID": 16,
}

// sameBytes reports whether two types write the same bytes.
func sameBytes(a, b string) bool { return a == b || sizes[a] != 0 && sizes[a] == sizes[b] }

// checkLayout compares the payload of an event method with its fields.
func (c *class) checkLayout(e *Event, s *Source) {
	if e.method == nil || s.Dead != "" {
		return
	}
	var lists []string
	complete := c.walk(e.method, func(w written) {
		if w.id != e.ID {
			return
		}
		if !w.known {
			lists = append(lists, "")
			return
		}
		for i := range w.parts {
			if p := &w.parts[i]; p.item && s.SelfDescribing {
				p.inType = ""
			}
		}
		lists = append(lists, e.layout(w.parts, s.SelfDescribing))
	})
	if !complete || len(lists) == 0 || lists[0] == "" {
		return
	}
	for _, l := range lists {
		if l != lists[0] {
			return // two ways to write it; the manifest is right for one at least
		}
	}
	e.Written = lists[0]
}

// layout returns the payload in the form of attribute etwgen:fields, or "" if it is that of
// the fields. In a self-describing source no field is the size of another.
func (e *Event) layout(parts []writtenPart, selfDescribing bool) string {
	fields := e.values()
	skip := 0
	if e.method.related {
		skip = 1
	}
	if len(parts) == 0 && len(fields) > 0 {
		return "none"
	}
	used := make([]bool, len(fields))
	wrong := len(parts) != len(fields)
	var words []string
	for i, p := range parts {
		at := p.arg - skip
		if at < 0 || at >= len(fields) || used[at] {
			at = i
		}
		if at >= len(fields) || used[at] {
			at = slices.Index(used, false)
		}
		if at < 0 {
			wrong = true
			words = append(words, fmt.Sprintf("arg%d=%s", i+1, p.inType))
			continue
		}
		used[at] = true
		f := fields[at]
		word := f.Name
		if p.inType != "" && !sameBytes(p.inType, f.InType) {
			wrong = true
			if f.Map != "" {
				p.inType = strings.Replace(p.inType, "win:Int", "win:UInt", 1) // as maps must be
			}
			word += "=" + p.inType
		}
		wrong = wrong || at != i
		if f.Length != "" && p.inType == "win:Binary" && !selfDescribing {
			word = f.Length + " " + f.Name
		}
		words = append(words, word)
	}
	if !wrong {
		return ""
	}
	return strings.Join(words, " ")
}

// values returns the fields that are parameters, without those that are sizes of
// others.
func (e *Event) values() []Field {
	var all []Field
	for i, f := range e.Fields {
		if i+1 < len(e.Fields) && e.Fields[i+1].Length == f.Name && f.InType == "win:UInt32" && f.Name == e.Fields[i+1].Name+"Size" {
			continue
		}
		all = append(all, f)
	}
	return all
}
