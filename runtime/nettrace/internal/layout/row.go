package layout

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Row is a metadata row as it stands in the stream.
type Row struct {
	Key       uint64 // by which events refer to it
	Provider  string
	GUID      etw.GUID
	ID        uint32
	Name      string
	Keywords  uint64
	Version   uint32
	Level     uint32
	Opcode    etw.Opcode
	HasOpcode bool
	Message   string
	Fields    []etw.FieldDesc
	FieldsErr error // why the fields could not be read
}

// The tags after a row of versions 4 and 5.
const (
	tagOpcode  = 1
	tagFields2 = 2
)

// ReadRow reads a row of versions 3 to 5. The caller sees from c whether it was
// whole; the list of fields need not be, it costs only itself.
func ReadRow(c *Cursor) Row {
	m := Row{
		Key:      uint64(c.U32()),
		Provider: c.z16(),
		ID:       c.U32(),
		Name:     c.z16(),
		Keywords: c.U64(),
		Version:  c.U32(),
		Level:    c.U32(),
	}
	if c.Bad || c.Left() == 0 {
		return m
	}
	if m.Fields, m.FieldsErr = readFields(c, list1); m.FieldsErr != nil {
		c.Bad = false
		return m
	}
	for c.Left() > 0 {
		n := c.Size32()
		kind := c.U8()
		tag := c.Sub(n)
		if c.Bad {
			m.FieldsErr = Damaged("the tags of the row do not fit")
			c.Bad = false
			return m
		}
		switch kind {
		case tagOpcode:
			m.Opcode, m.HasOpcode = etw.Opcode(tag.U8()), n > 0
		case tagFields2:
			m.Fields, m.FieldsErr = readFields(&tag, list2)
		}
	}
	return m
}

// The optional items of a row of version 6.
const (
	itemOpcode      = 1
	itemKeywords    = 3
	itemMessage     = 4
	itemDescription = 5
	itemKeyValue    = 6
	itemGUID        = 7
	itemLevel       = 8
	itemVersion     = 9
)

// ReadRow6 reads a row of version 6, without its size.
func ReadRow6(c *Cursor) Row {
	m := Row{
		Key:      c.Uvar(32),
		Provider: c.Vstr(),
		ID:       uint32(c.Uvar(32)),
		Name:     c.Vstr(),
	}
	if c.Bad {
		return m
	}
	if m.Fields, m.FieldsErr = readFields(c, list6); m.FieldsErr != nil {
		c.Bad = false
		return m
	}
	items := c.Sub(int(c.U16()))
	for items.Left() > 0 && !items.Bad {
		switch etw.Opcode(items.U8()) {
		case itemOpcode:
			m.Opcode, m.HasOpcode = etw.Opcode(items.U8()), true
		case itemKeywords:
			m.Keywords = items.U64()
		case itemMessage:
			m.Message = items.Vstr()
		case itemDescription:
			items.Vstr()
		case itemKeyValue:
			items.Vstr()
			items.Vstr()
		case itemGUID:
			m.GUID = items.GUID()
		case itemLevel:
			m.Level = uint32(etw.Opcode(items.U8()))
		case itemVersion:
			m.Version = uint32(etw.Opcode(items.U8()))
		default:
			items.Off = len(items.B) // an unknown item has no length
		}
	}
	return m
}

// HasNUL reports whether there is a NUL in a text, which ends it before version 6.
func (m *Row) HasNUL() bool {
	return strings.Contains(m.Provider, "\x00") || strings.Contains(m.Name, "\x00") || namesHaveNUL(m.Fields)
}

func namesHaveNUL(fields []etw.FieldDesc) bool {
	return slices.ContainsFunc(fields, func(f etw.FieldDesc) bool {
		return strings.Contains(f.Name, "\x00") || namesHaveNUL(f.Fields)
	})
}

// Content returns the row without its number, in the form of a version.
func (m *Row) Content(v6 bool, ptr etw.PtrSize) []byte {
	if v6 {
		return m.content6(ptr)
	}
	b := appendUTF16(nil, m.Provider)
	b = binary.LittleEndian.AppendUint32(b, m.ID)
	b = appendUTF16(b, m.Name)
	b = binary.LittleEndian.AppendUint64(b, m.Keywords)
	b = binary.LittleEndian.AppendUint32(b, m.Version)
	b = binary.LittleEndian.AppendUint32(b, m.Level)
	e := fieldWriter{list: list1, ptr: ptr}
	list := e.fields(nil, m.Fields)
	if e.arrays {
		b = binary.LittleEndian.AppendUint32(b, 0)
		e.list = list2
		list = e.fields(nil, m.Fields)
	} else {
		b = append(b, list...)
	}
	if m.HasOpcode {
		b = append(binary.LittleEndian.AppendUint32(b, 1), tagOpcode, byte(m.Opcode))
	}
	if e.arrays {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(list))), tagFields2)
		b = append(b, list...)
	}
	return b
}

func (m *Row) content6(ptr etw.PtrSize) []byte {
	b := AppendText(nil, m.Provider)
	b = binary.AppendUvarint(b, uint64(m.ID))
	b = AppendText(b, m.Name)
	e := fieldWriter{list: list6, ptr: ptr}
	b = e.fields(b, m.Fields)
	var items []byte
	if m.HasOpcode {
		items = append(items, itemOpcode, byte(m.Opcode))
	}
	if m.Keywords != 0 {
		items = binary.LittleEndian.AppendUint64(append(items, itemKeywords), m.Keywords)
	}
	if m.Message != "" {
		items = AppendText(append(items, itemMessage), m.Message)
	}
	if !m.GUID.IsZero() {
		items = append(append(items, itemGUID), m.GUID[:]...)
	}
	if m.Level != 0 {
		items = append(items, itemLevel, byte(m.Level))
	}
	if m.Version != 0 {
		items = append(items, itemVersion, byte(m.Version))
	}
	return AppendSized(b, items)
}
