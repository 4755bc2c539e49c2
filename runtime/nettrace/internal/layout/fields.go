package layout

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Type codes of fields. Those up to 18 are .NET's TypeCode where it has one.
const (
	typeStruct     = 1
	typeBool       = 3 // 4 bytes
	typeChar       = 4 // a UTF-16 code unit
	typeInt8       = 5
	typeUInt8      = 6
	typeInt16      = 7
	typeUInt16     = 8
	typeInt32      = 9
	typeUInt32     = 10
	typeInt64      = 11
	typeUInt64     = 12
	typeFloat      = 13
	typeDouble     = 14
	typeDecimal    = 15 // see decimalType
	typeDateTime   = 16 // a FILETIME of 8 bytes; the specification says 16 and is wrong
	typeGUID       = 17
	typeString     = 18 // UTF-16 up to a NUL
	typeArray      = 19 // a u16 count and elements
	typeVarInt     = 20
	typeVarUint    = 21
	typeFixedArray = 22
	typeUTF8       = 23 // a UTF-8 code unit
	typeRelLoc     = 24
	typeDataLoc    = 25
	typeBool8      = 26
)

var simpleTypes = map[uint32]etw.FieldDesc{
	typeBool:     {Type: etw.InBoolean},
	typeChar:     {Type: etw.InChar16},
	typeInt8:     {Type: etw.InInt8},
	typeUInt8:    {Type: etw.InUInt8},
	typeInt16:    {Type: etw.InInt16},
	typeUInt16:   {Type: etw.InUInt16},
	typeInt32:    {Type: etw.InInt32},
	typeUInt32:   {Type: etw.InUInt32},
	typeInt64:    {Type: etw.InInt64},
	typeUInt64:   {Type: etw.InUInt64},
	typeFloat:    {Type: etw.InFloat},
	typeDouble:   {Type: etw.InDouble},
	typeDateTime: {Type: etw.InFileTime},
	typeGUID:     {Type: etw.InGUID},
	typeString:   {Type: etw.InUnicodeString},
	typeVarInt:   {Type: etw.InVarInt},
	typeVarUint:  {Type: etw.InVarUint},
	typeUTF8:     {Type: etw.InChar8},
	typeBool8:    {Type: etw.InBool8},
}

// decimalType returns the layout of a decimal. .NET, which writes the first two
// versions of the list, declares a decimal and writes it as a double.
func (r *fieldReader) decimalType() etw.FieldDesc {
	if r.list == list6 {
		return etw.FieldDesc{Type: etw.InDecimal}
	}
	return etw.FieldDesc{Type: etw.InDouble}
}

// maxNesting bounds how deep types may contain each other.
const maxNesting = 32

// A fieldReader reads lists of fields. The three versions of the list differ in
// the width of numbers, in whether entries have a size and in where the name is.
type fieldReader struct {
	list  listVersion
	count int   // of all fields so far
	err   error // why the list makes no sense; the cursor knows about cut ones
}

type listVersion uint8

const (
	list1 listVersion = 1 // u32 count; type, z16 name
	list2 listVersion = 2 // u32 count; u32 size with itself, z16 name, type
	list6 listVersion = 6 // u16 count; u16 size without itself, vstr name, type
)

// maxFields bounds the fields of one event, whose descriptions take many times the
// bytes that declare them.
const maxFields = 1 << 14

// readFields reads a list of fields at c.
func readFields(c *Cursor, v listVersion) ([]etw.FieldDesc, error) {
	r := fieldReader{list: v}
	fields := r.fields(c, 0)
	if r.err == nil && c.Bad {
		r.err = Damaged("the list of fields does not fit")
	}
	if r.err != nil {
		return nil, r.err
	}
	return fields, nil
}

func (r *fieldReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *fieldReader) fields(c *Cursor, depth int) []etw.FieldDesc {
	if depth > maxNesting {
		r.fail("types are nested more than %d deep", maxNesting)
		return nil
	}
	n, least := 0, 6 // bytes of the smallest entry
	switch r.list {
	case list6:
		n, least = int(c.U16()), 4
	case list2:
		n, least = c.Size32(), 10
	default:
		n = c.Size32()
	}
	if n > c.Left()/least {
		r.fail("%d fields in %d bytes", n, c.Left())
		return nil
	}
	if r.count += n; r.count > maxFields {
		r.fail("more than %d fields", maxFields)
		return nil
	}
	fields := make([]etw.FieldDesc, 0, n)
	for range n {
		f := r.field(c, depth)
		if c.Bad || r.err != nil {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

func (r *fieldReader) field(c *Cursor, depth int) (f etw.FieldDesc) {
	switch r.list {
	case list2:
		start := c.Off
		n := c.U32()
		if n < 4 || int64(n) > int64(len(c.B)-start) {
			c.Bad = true
			return f
		}
		entry := c.Sub(int(n) - 4)
		name := entry.z16()
		f = r.fieldType(&entry, depth)
		f.Name = name
		c.Bad = c.Bad || entry.Bad
	case list6:
		entry := c.Sub(int(c.U16()))
		name := entry.Vstr()
		f = r.fieldType(&entry, depth)
		f.Name = name
		c.Bad = c.Bad || entry.Bad
	default:
		// The name of a struct comes after its fields.
		f = r.fieldType(c, depth)
		f.Name = c.z16()
	}
	return f
}

// fieldType reads a type.
func (r *fieldReader) fieldType(c *Cursor, depth int) (f etw.FieldDesc) {
	if depth > maxNesting {
		r.fail("types are nested more than %d deep", maxNesting)
		return f
	}
	code := uint32(0)
	if r.list == list6 {
		code = uint32(c.U8())
	} else {
		code = c.U32()
	}
	if c.Bad || r.err != nil {
		return f
	}
	if f, ok := simpleTypes[code]; ok {
		return f
	}
	switch {
	case code == typeDecimal:
		return r.decimalType()
	case code == typeStruct:
		return etw.FieldDesc{Type: etw.InStruct, Fields: r.fields(c, depth+1)}
	case code == typeArray && r.list != list1:
		elem := r.fieldType(c, depth+1)
		return r.arrayOf(elem, etw.Size{Kind: etw.SizePrefix})
	case code == typeFixedArray && r.list == list6:
		elem := r.fieldType(c, depth+1)
		n := etw.Size{Kind: etw.SizeConst, N: uint32(c.U16())}
		return r.arrayOf(elem, n)
	case (code == typeRelLoc || code == typeDataLoc) && r.list == list6:
		f = etw.FieldDesc{Type: etw.InRelLoc, Fields: []etw.FieldDesc{r.fieldType(c, depth+1)}}
		if code == typeDataLoc {
			f.Type = etw.InDataLoc
		}
		return f
	}
	r.fail("type code %d", code)
	return f
}

// arrayOf makes the description of n elements. Arrays of characters are text. An
// element that is an array itself is put into a struct, since a description has
// room for one count.
func (r *fieldReader) arrayOf(elem etw.FieldDesc, n etw.Size) etw.FieldDesc {
	if elem.Count.Kind != etw.SizeNone || elem.Length.Kind != etw.SizeNone {
		elem = etw.FieldDesc{Type: etw.InStruct, Fields: []etw.FieldDesc{elem}}
	}
	switch elem.Type {
	case etw.InChar16:
		return etw.FieldDesc{Type: etw.InUnicodeString, Length: n}
	case etw.InChar8:
		return etw.FieldDesc{Type: etw.InAnsiString, Out: etw.OutUTF8, Length: n}
	}
	if least, _ := elem.Size(etw.Ptr32); least == 0 {
		// Nothing bounds how many of them a payload holds.
		r.fail("an array whose elements have no bytes")
	}
	elem.Count = n
	return elem
}
