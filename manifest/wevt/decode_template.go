package wevt

import (
	"bytes"
	"encoding/binary"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// readTemplates reads the templates, which follow each other.
func (p *providerDecoder) readTemplates(at int) {
	if at == 0 {
		return
	}
	b := p.section(at, sigTemplates, sectionHeader)
	if b == nil {
		return
	}
	n := int(binary.LittleEndian.Uint32(b[8:]))
	pos, end := at+sectionHeader, at+len(b)
	for range n {
		if pos >= end {
			p.fail(at, "%s has less than its %d templates", sigTemplates, n)
			return
		}
		t, size := p.readTemplate(pos)
		if size == 0 {
			return // where the next one begins is not known
		}
		if t != nil {
			p.templates[uint32(pos)] = t
			p.p.Templates = append(p.p.Templates, t)
		}
		pos += size
	}
	if pos != end {
		p.fail(pos, "%s ends at %#x, and its templates here", sigTemplates, end)
	}
}

// readTemplate reads a template, and returns its size.
func (p *providerDecoder) readTemplate(at int) (*manifest.Template, int) {
	b := p.section(at, sigTemplate, templateHeader)
	if b == nil {
		return nil, 0
	}
	top, all := int(binary.LittleEndian.Uint32(b[8:])), int(binary.LittleEndian.Uint32(b[12:]))
	items := int(binary.LittleEndian.Uint32(b[16:])) - at
	if items < templateHeader || items > len(b) || all < 0 || all > (len(b)-items)/templateItem || top < 0 || top > all {
		p.fail(at, "a template with %d of %d items at %#x does not fit in its %d bytes", top, all, at+items, len(b))
		return nil, len(b)
	}
	p.span(at+templateHeader, items-templateHeader+all*templateItem, sigTemplate)
	r := &itemReader{p: p, at: at + items, b: b[items:][:all*templateItem], fields: make([]*manifest.Field, all), next: top, bad: make(map[int]bool)}
	for i := range all {
		r.item(i)
	}
	t := &manifest.Template{Fields: r.structs(top), Declared: top}
	shown := binary.LittleEndian.Uint32(b[20:])
	p.readShown(at, b[templateHeader:items], shown, t)
	return t, len(b)
}

// readShown reads the XML of a template. Names and types are those of the items,
// whatever it says.
func (p *providerDecoder) readShown(at int, xml []byte, shown uint32, t *manifest.Template) {
	d := &xmlDecoder{b: xml}
	elements := d.fragment()
	if d.err == nil && len(bytes.Trim(xml[d.pos:], "\x00")) > 0 {
		d.fail("bytes follow it")
	}
	switch {
	case d.err != nil:
		p.fail(at+templateHeader+d.pos, "the XML of a template: %v", d.err)
	case shown == shownAsUserData:
		t.UserData = elements
	case shown != shownAsEventData:
		p.fail(at+20, "a template of unknown form %d", shown)
	}
}

// An itemReader reads the items of a template: first its fields, then the members
// of one struct after the other.
type itemReader struct {
	p      *providerDecoder
	at     int
	b      []byte
	fields []*manifest.Field
	next   int          // the first member of the next struct
	bad    map[int]bool // the items with a fault
}

// fail reports a fault of an item, of which there is nothing to be known then.
func (r *itemReader) fail(i, offset int, format string, args ...any) {
	r.bad[i] = true
	r.p.fail(r.at+i*templateItem+offset, format, args...)
}

// item reads an item. The targets of its references come before it.
func (r *itemReader) item(i int) {
	b := r.b[i*templateItem:]
	flags := binary.LittleEndian.Uint32(b)
	count, length := binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint16(b[14:])
	f := &manifest.Field{Name: r.p.name(binary.LittleEndian.Uint32(b[16:]))}
	r.fields[i] = f
	if flags&itemStruct != 0 {
		f.Type = etw.InStruct
	} else {
		r.data(i, b, f)
	}
	f.Count = r.size(i, flags, itemCount, itemCountField, count)
	f.Length = r.size(i, flags, itemLength, itemLengthField, length)
	if flags >= itemCountField<<1 {
		r.fail(i, 0, "field %s has unknown flags %#x", f.Name, flags)
	}
}

// data reads the type of an item that is no struct.
func (r *itemReader) data(i int, b []byte, f *manifest.Field) {
	f.Type = etw.InType(b[4])
	if outs := manifest.OutTypes(f.Type); len(outs) == 0 {
		r.fail(i, 4, "field %s has unknown inType %d", f.Name, b[4])
	} else if out := etw.OutType(b[5]); out != outs[0] {
		f.OutType = out
	}
	if off := binary.LittleEndian.Uint32(b[8:]); off != 0 {
		if f.Map = r.p.maps[off]; f.Map == nil {
			r.fail(i, 8, "field %s has a map at %#x, where none is", f.Name, off)
		}
	}
}

// size reads a count or a length.
func (r *itemReader) size(i int, flags, number, field uint32, v uint16) manifest.Size {
	switch {
	case flags&number != 0 && v == 0:
		r.fail(i, 12, "field %s has the size 0", r.fields[i].Name)
		return manifest.Size{}
	case flags&number != 0:
		return manifest.Size{Kind: etw.SizeConst, Const: v}
	case flags&field == 0:
		return manifest.Size{}
	case int(v) >= i:
		r.fail(i, 12, "field %s has the number of item %d as its size, which does not come before it", r.fields[i].Name, v)
		return manifest.Size{}
	case !manifest.CanCount(r.fields[v].Type):
		r.fail(i, 12, "field %s has item %d as its size, which is no number", r.fields[i].Name, v)
	}
	return manifest.Size{Kind: etw.SizeField, Field: r.fields[v]}
}

// structs puts the members into structs, and returns the fields of the template.
func (r *itemReader) structs(top int) []*manifest.Field {
	owner := make(map[*manifest.Field]*manifest.Field)
	for i, f := range r.fields[:top] {
		if f.Type != etw.InStruct {
			continue
		}
		b := r.b[i*templateItem:]
		first, n := int(binary.LittleEndian.Uint16(b[4:])), int(binary.LittleEndian.Uint16(b[6:]))
		if first != r.next || n == 0 || n > len(r.fields)-first {
			r.fail(i, 4, "struct %s has members %d to %d, and the next is %d of %d", f.Name, first, first+n-1, r.next, len(r.fields))
			continue
		}
		f.Fields = r.fields[first:][:n:n]
		r.next += n
		for _, m := range f.Fields {
			owner[m] = f
		}
	}
	if r.next != len(r.fields) {
		r.p.fail(r.at, "items from %d on belong to no struct", r.next)
	}
	for i, f := range r.fields {
		if f.Type == etw.InStruct && i >= top {
			r.fail(i, 0, "struct %s is inside a struct", f.Name)
		}
		outward(&f.Count, owner[f], owner)
		outward(&f.Length, owner[f], owner)
	}
	return r.known(top)
}

// known returns the fields of a template up to the first with a fault: an opaque
// one takes the place of that and of the rest.
func (r *itemReader) known(top int) []*manifest.Field {
	first := top // the index of the first member of the next struct
	for i, f := range r.fields[:top] {
		faulty := r.bad[i]
		for range f.Fields {
			faulty = faulty || r.bad[first]
			first++
		}
		if !faulty {
			continue
		}
		rest := &manifest.Field{
			Name: f.Name, Type: manifest.Opaque, Length: manifest.Size{Kind: etw.SizeRest},
			Opaque: "the resource is damaged here",
		}
		for _, lost := range r.fields[i:top] {
			rest.Lost = append(rest.Lost, lost.Name)
		}
		return append(r.fields[:i:i], rest)
	}
	return r.fields[:top]
}

// outward sets how far out of the struct that it is used in the field of a size is.
func outward(s *manifest.Size, in *manifest.Field, owner map[*manifest.Field]*manifest.Field) {
	if s.Field != nil && in != nil && owner[s.Field] != in {
		s.Up = 1
	}
}
