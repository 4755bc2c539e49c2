package nettracetest

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Row describes a kind of event.
type Row struct {
	ID       uint32 // by which events refer to it
	Provider string
	EventID  uint32
	Name     string
	Keywords uint64
	Version  uint32
	Level    uint32
	Fields   []Field

	// Tags are written in their order. In versions 3 and 4 a tag 1 is an opcode,
	// and a tag 2 is made from Fields2; in version 6 they are the optional items.
	Tags    []Tag
	Fields2 []Field

	// Rest is appended to the row as it is.
	Rest []byte
}

// A Tag is an addition to a row.
type Tag struct {
	Kind uint8
	Data []byte
}

// A Field is an entry of a list of fields.
type Field struct {
	Name   string
	Type   uint32  // the code
	Fields []Field // of a struct
	Elem   *Field  // of an array
	Count  uint16  // of a fixed array
}

// Metadata writes a block of rows. In version 3, which has none, it writes an
// event block that holds nothing else.
func (w *Writer) Metadata(rows ...Row) {
	switch w.version {
	case 6:
		b := []byte{0, 0}
		for i := range rows {
			b = appendRow(b, rows[i].append6())
		}
		w.Block(3, b)
	case 4:
		events := make([]Event, len(rows))
		for i := range rows {
			events[i].Payload = rows[i].Bytes()
		}
		w.Object("MetadataBlock", w.events(events))
	default:
		var b []byte
		for i := range rows {
			b = w.appendNetperf(b, &Event{Payload: rows[i].Bytes()})
		}
		w.Object("EventBlock", b)
	}
}

// Bytes returns the row as versions 3 and 4 have it.
func (r *Row) Bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, r.ID)
	b = appendUTF16(b, r.Provider)
	b = binary.LittleEndian.AppendUint32(b, r.EventID)
	b = appendUTF16(b, r.Name)
	b = binary.LittleEndian.AppendUint64(b, r.Keywords)
	b = binary.LittleEndian.AppendUint32(b, r.Version)
	b = binary.LittleEndian.AppendUint32(b, r.Level)
	b = appendFields1(b, r.Fields)
	for _, t := range r.Tags {
		data := t.Data
		if t.Kind == 2 && data == nil {
			data = appendFields2(nil, r.Fields2)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		b = append(append(b, t.Kind), data...)
	}
	return append(b, r.Rest...)
}

func (r *Row) append6() []byte {
	b := binary.AppendUvarint(nil, uint64(r.ID))
	b = appendText(b, r.Provider)
	b = binary.AppendUvarint(b, uint64(r.EventID))
	b = appendText(b, r.Name)
	b = appendFields6(b, r.Fields)
	var items []byte
	if r.Keywords != 0 {
		items = binary.LittleEndian.AppendUint64(append(items, 3), r.Keywords)
	}
	if r.Level != 0 {
		items = append(items, 8, uint8(r.Level))
	}
	if r.Version != 0 {
		items = append(items, 9, uint8(r.Version))
	}
	for _, t := range r.Tags {
		items = append(append(items, t.Kind), t.Data...)
	}
	return append(appendRow(b, items), r.Rest...)
}

// OpcodeTag returns the tag that gives an event an opcode.
func OpcodeTag(opcode uint8) Tag { return Tag{1, []byte{opcode}} }

// GUIDTag returns the item of version 6 that gives a provider a GUID.
func GUIDTag(g etw.GUID) Tag { return Tag{7, g[:]} }

// MessageTag returns the item of version 6 that holds a message.
func MessageTag(s string) Tag { return Tag{4, appendText(nil, s)} }

// appendFields1 appends the first version of the list: the name comes last.
func appendFields1(b []byte, fields []Field) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fields)))
	for i := range fields {
		f := &fields[i]
		b = binary.LittleEndian.AppendUint32(b, f.Type)
		if f.Type == 1 {
			b = appendFields1(b, f.Fields)
		}
		b = appendUTF16(b, f.Name)
	}
	return b
}

// appendFields2 appends the second version: entries have a size, which counts
// itself, and there are arrays.
func appendFields2(b []byte, fields []Field) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fields)))
	for i := range fields {
		f := &fields[i]
		entry := appendType2(appendUTF16(nil, f.Name), f)
		b = binary.LittleEndian.AppendUint32(b, uint32(4+len(entry)))
		b = append(b, entry...)
	}
	return b
}

func appendType2(b []byte, f *Field) []byte {
	b = binary.LittleEndian.AppendUint32(b, f.Type)
	if f.Elem != nil {
		b = appendType2(b, f.Elem)
	}
	if f.Type == 1 {
		b = appendFields2(b, f.Fields)
	}
	return b
}

// appendFields6 appends the list of version 6.
func appendFields6(b []byte, fields []Field) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)))
	for i := range fields {
		f := &fields[i]
		b = appendRow(b, appendType6(appendText(nil, f.Name), f))
	}
	return b
}

func appendType6(b []byte, f *Field) []byte {
	b = append(b, uint8(f.Type))
	if f.Elem != nil {
		b = appendType6(b, f.Elem)
	}
	switch f.Type {
	case 1:
		b = appendFields6(b, f.Fields)
	case 22:
		b = binary.LittleEndian.AppendUint16(b, f.Count)
	}
	return b
}
