package wevt

import (
	"crypto/sha1"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// template writes a template: its layout for display, its items, and their names.
func (e *providerEncoder) template(t *manifest.Template, guids map[[16]byte]bool) {
	items := flatten(t)
	e.offsets[t] = e.at()
	temp := e.begin(sigTemplate)
	e.u32(uint32(len(t.Fields)))
	e.u32(uint32(len(items)))
	first := e.room()
	shown := uint32(shownAsEventData)
	if len(t.UserData) > 0 {
		shown = shownAsUserData
	}
	e.u32(shown)
	guid := templateGUID(e.p, t, items, guids)
	e.b = append(e.b, guid[:]...)
	e.b = append(e.b, shownAs(t)...)
	e.put(first, e.at())

	names, places := make([]string, len(items)), make([]int, len(items))
	index := make(map[*manifest.Field]int)
	for i, f := range items {
		index[f] = i
	}
	members := len(t.Fields)
	for i, f := range items {
		names[i] = f.Name
		places[i] = e.item(f, index, members)
		members += len(f.Fields)
	}
	e.names(names, places)
	e.end(temp)
}

// flatten returns the items of a template: its fields, and behind them the members
// of its structs.
func flatten(t *manifest.Template) []*manifest.Field {
	items := append([]*manifest.Field(nil), t.Fields...)
	for _, f := range t.Fields {
		items = append(items, f.Fields...)
	}
	return items
}

// item writes an item, and returns the place for the offset of its name. The
// members of the next struct begin at the given index.
func (e *providerEncoder) item(f *manifest.Field, index map[*manifest.Field]int, members int) int {
	flags := uint32(0)
	if f.Type == etw.InStruct {
		flags = itemStruct
	}
	countFlag, count := sizeOf(f.Count, itemCount, itemCountField, index)
	lengthFlag, length := sizeOf(f.Length, itemLength, itemLengthField, index)
	e.u32(flags | countFlag | lengthFlag)
	if f.Type == etw.InStruct {
		e.u16(uint16(members))
		e.u16(uint16(len(f.Fields)))
	} else {
		e.u8(uint8(f.Type))
		e.u8(uint8(outTypeOf(f)))
		e.u16(0)
	}
	if f.Map != nil {
		e.u32(e.offsets[f.Map])
	} else {
		e.u32(0)
	}
	e.u16(count)
	e.u16(length)
	return e.room()
}

// outTypeOf returns the outType of a field: the compiler writes that of the inType
// where the manifest has none.
func outTypeOf(f *manifest.Field) etw.OutType {
	if f.OutType == etw.OutDefault {
		return manifest.DefaultOut(f.Type)
	}
	return f.OutType
}

// sizeOf returns the flag and the value of a count or a length.
func sizeOf(s manifest.Size, number, field uint32, index map[*manifest.Field]int) (flag uint32, v uint16) {
	switch s.Kind {
	case etw.SizeConst:
		return number, s.Const
	case etw.SizeField:
		return field, uint16(index[s.Field])
	}
	return 0, 0
}

// substituted returns the type of a field where XML refers to it. No compiler's
// output is known that refers to a struct.
func substituted(f *manifest.Field) byte {
	if f.Type == etw.InStruct {
		return 0
	}
	const array = 0x80
	if f.Count.Kind != etw.SizeNone {
		return uint8(f.Type) | array
	}
	return uint8(f.Type)
}

// templateGUID returns a GUID for a template: it depends on the provider and the
// layout, so that it changes with them, and on nothing else.
func templateGUID(p *manifest.Provider, t *manifest.Template, items []*manifest.Field, taken map[[16]byte]bool) [16]byte {
	h := sha1.New()
	_, _ = h.Write(p.GUID[:])
	_, _ = h.Write(shownAs(t))
	for _, f := range items {
		var count, length string
		if f.Count.Field != nil {
			count = f.Count.Field.Name
		}
		if f.Length.Field != nil {
			length = f.Length.Field.Name
		}
		fmt.Fprintf(h, "%q %d %d %d %d %q %d %d %q %d\n", f.Name, f.Type, outTypeOf(f),
			f.Count.Kind, f.Count.Const, count, f.Length.Kind, f.Length.Const, length, len(f.Fields))
	}
	for n := 0; ; n++ {
		var guid [16]byte
		copy(guid[:], h.Sum(nil))
		guid[7] = guid[7]&0x0f | 0x50 // made of a SHA-1
		if !taken[guid] {
			taken[guid] = true
			return guid
		}
		_, _ = io.WriteString(h, t.ID) // another one has the same layout
	}
}
