package evtx

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A name is a template's description of a value: the name of the field, and its type where
// the record has a null.
type name struct {
	text string
	typ  uint8
}

// namesOf returns the names of the values of a template, by their index: of <Data Name="x">%1
// it is x, of <x>%1 the element, of <x y="%1"> the attribute.
func namesOf(list []node) []name {
	var names []name
	set := func(n *node, text string) {
		if n.kind != isSubstitution || int(n.index) >= maxFields {
			return
		}
		for len(names) <= int(n.index) {
			names = append(names, name{})
		}
		if names[n.index].text == "" {
			names[n.index] = name{text, n.value.typ}
		}
	}
	var visit func([]node)
	visit = func(list []node) {
		for i := range list {
			e := &list[i]
			for j := range e.attrs {
				for k := range e.attrs[j].children {
					set(&e.attrs[j].children[k], e.attrs[j].name)
				}
			}
			text := elementName(e)
			for j := range e.children {
				set(&e.children[j], text)
			}
			visit(e.children)
		}
	}
	visit(list)
	return names
}

// maxFields bounds the fields of an event.
const maxFields = 4096

// elementName is the name of a field that an element has.
func elementName(e *node) string {
	for i := range e.attrs {
		a := &e.attrs[i]
		if a.name == "Name" && len(a.children) == 1 && a.children[0].kind == isText {
			return string(appendUTF16(nil, a.children[0].value.data))
		}
	}
	return e.name
}

// A field is a value that becomes one of a payload.
type field struct {
	name  string
	value value
	typ   uint8 // as which a null is written
}

// A builder makes payloads and their descriptions.
type builder struct {
	payload []byte
	fields  []etw.FieldDesc
	list    []field
	ptr     etw.PtrSize
}

// build makes the payload of the parts of a record beside System.
func (b *builder) build(data []located) error {
	b.payload, b.fields, b.list, b.ptr = b.payload[:0], b.fields[:0], b.list[:0], etw.Ptr64
	for i := range data {
		if err := b.collect(&data[i]); err != nil {
			return err
		}
	}
	for i, f := range b.list {
		b.add(f, i == len(b.list)-1)
	}
	return nil
}

// collect takes the fields of an element: the values of the template that it is of, or else its
// contents.
func (b *builder) collect(l *located) error {
	if l.inner && len(l.in.of.values) > 0 {
		t := l.in.of.names
		for i, v := range l.in.of.values {
			f := field{value: v}
			if i < len(t) {
				f.name, f.typ = t[i].text, t[i].typ
			}
			if v.typ == typeXML {
				text, err := l.in.xml(v)
				if err != nil {
					return err
				}
				f.value = text
			}
			if len(b.list) < maxFields {
				b.list = append(b.list, f)
			}
		}
		return nil
	}
	if l.n.name == "EventData" {
		return b.leaves(&l.in, l.n.children)
	}
	text, err := l.in.element(nil, l.n)
	if err == nil {
		b.list = append(b.list, field{name: l.n.name, value: value{typeText, etw.MakeUTF16(string(text))}})
	}
	return err
}

// leaves takes a field of each element. One that contains others is taken as text.
func (b *builder) leaves(c *context, list []node) error {
	return c.resolve(list, func(c *context, n *node) error {
		if n.kind != isElement || len(b.list) >= maxFields {
			return nil
		}
		f := field{name: elementName(n), value: c.single(n.children), typ: typeText}
		for i := range n.children {
			if n.children[i].kind == isElement || n.children[i].kind == isInstance {
				text, err := c.element(nil, n)
				if err != nil {
					return err
				}
				f.value = value{typeText, etw.MakeUTF16(string(text))}
				break
			}
		}
		b.list = append(b.list, f)
		return nil
	})
}

// written returns the type and the bytes of a field. For null they are zeros.
func (f *field) written() (t uint8, data []byte) {
	t, data = f.value.typ, f.value.data
	if t != typeNull && (len(data) > 0 || fixed(t, 0) == 0) {
		return t, data
	}
	if t == typeNull {
		t = f.typ
	}
	if etw.InType(t) == etw.InSID {
		return t, zeros[:8]
	}
	return t, zeros[:fixed(t, 0)]
}

// add appends a field to the payload as ETW has it, and its description. The last one may take
// the rest.
func (b *builder) add(f field, last bool) {
	t, data := f.written()
	d := etw.FieldDesc{Name: f.name, Type: etw.InType(t &^ typeArray)}
	array := t&typeArray != 0
	switch n := fixed(t&^typeArray, len(data)); {
	case d.Type == etw.InUnicodeString && len(data)%2 == 0:
		b.text(&d, data, 2, array, last)
		return
	case d.Type == etw.InAnsiString:
		b.text(&d, data, 1, array, last)
		return
	case n > 0 && !array && len(data) == n:
		if d.Type == etw.InPointer && n == 4 {
			b.ptr = etw.Ptr32
		}
	case n > 0 && array && len(data)%n == 0:
		d.Count = size(len(data)/n, last)
	case d.Type == etw.InSID && !array && isSID(data):
	default:
		d.Type, d.Length = etw.InBinary, size(len(data), last)
	}
	b.fields = append(b.fields, d)
	b.payload = append(b.payload, data...)
}

var zeros [16]byte

// size is a number, or the rest: so that records which differ in it alone have one
// description.
func size(n int, last bool) etw.Size {
	if last {
		return etw.Size{Kind: etw.SizeRest}
	}
	return etw.Size{Kind: etw.SizeConst, N: uint32(n)}
}

func isSID(data []byte) bool { return len(data) >= 8 && len(data) == 8+4*int(data[1]) }

// text appends texts of characters of unit bytes, each with a NUL at its end. A text with NULs
// within has a length, which another field says to who has the manifest.
func (b *builder) text(d *etw.FieldDesc, data []byte, unit int, array, last bool) {
	nuls, ends := 0, false
	for i := 0; i+unit <= len(data); i += unit {
		if ends = data[i] == 0 && data[i+unit-1] == 0; ends {
			nuls++
		}
	}
	b.payload = append(b.payload, data...)
	switch {
	case !array && nuls > 1, !array && nuls == 1 && !ends:
		d.Length = etw.Size{Kind: etw.SizeConst, N: uint32(len(data) / unit)}
	case !ends && (!array || len(data) > 0):
		b.payload = append(b.payload, zeros[:unit]...)
		nuls++
	}
	if array {
		d.Count = size(nuls, last)
	}
	b.fields = append(b.fields, *d)
}

// signature appends the key that equal descriptions share.
func (b *builder) signature(key []byte) []byte {
	le := binary.LittleEndian
	for i := range b.fields {
		f := &b.fields[i]
		key = append(key, byte(f.Type), byte(f.Count.Kind), byte(f.Length.Kind))
		key = le.AppendUint32(key, f.Count.N)
		key = le.AppendUint32(key, f.Length.N)
		key = append(append(key, f.Name...), 0)
	}
	return key
}
