package layout

import (
	"encoding/binary"
	"sort"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A fieldWriter writes lists of fields. A field that the format cannot express ends the
// list: fields lie back to back, so that those before it can be read all the same.
type fieldWriter struct {
	list   listVersion
	ptr    etw.PtrSize
	arrays bool // there is an array, which the first version of the list cannot have
	whole  bool // the last list was written as a whole
}

// fields appends a list of fields.
func (e *fieldWriter) fields(b []byte, fields []etw.FieldDesc) []byte {
	at, n := len(b), 0
	if e.list == list6 {
		b = append(b, 0, 0)
	} else {
		b = append(b, 0, 0, 0, 0)
	}
	for i := range fields {
		next, ok := e.field(b, &fields[i])
		if !ok {
			break
		}
		b = next
		n++
	}
	e.whole = n == len(fields)
	if e.list == list6 {
		binary.LittleEndian.PutUint16(b[at:], uint16(n))
	} else {
		binary.LittleEndian.PutUint32(b[at:], uint32(n))
	}
	return b
}

// field appends a field, and reports whether it could.
func (e *fieldWriter) field(b []byte, f *etw.FieldDesc) ([]byte, bool) {
	if f.When != (etw.When{}) || f.Room > 0 {
		return b, false
	}
	switch e.list {
	case list2:
		entry, ok := e.typeOf(appendUTF16(nil, f.Name), f)
		b = binary.LittleEndian.AppendUint32(b, uint32(4+len(entry)))
		return append(b, entry...), ok
	case list6:
		entry, ok := e.typeOf(AppendText(nil, f.Name), f)
		return AppendSized(b, entry), ok && len(entry) < 1<<16
	}
	b, ok := e.typeOf(b, f)
	return appendUTF16(b, f.Name), ok
}

// code appends the code of a type.
func (e *fieldWriter) code(b []byte, code uint32) []byte {
	if e.list == list6 {
		return append(b, uint8(code))
	}
	return binary.LittleEndian.AppendUint32(b, code)
}

// typeOf appends the type of a field, and reports whether there is one.
func (e *fieldWriter) typeOf(b []byte, f *etw.FieldDesc) ([]byte, bool) {
	switch f.Count.Kind {
	case etw.SizeNone:
		return e.single(b, f)
	case etw.SizePrefix:
		e.arrays = true
		b = e.code(b, typeArray)
	case etw.SizeConst:
		if e.list != list6 || f.Count.N > 0xffff {
			return b, false
		}
		b = e.code(b, typeFixedArray)
	default:
		return b, false
	}
	elem := *f
	elem.Count = etw.Size{}
	b, ok := e.single(b, &elem)
	if f.Count.Kind == etw.SizeConst {
		b = binary.LittleEndian.AppendUint16(b, uint16(f.Count.N))
	}
	return b, ok
}

// single appends the type of a field that is no array.
func (e *fieldWriter) single(b []byte, f *etw.FieldDesc) ([]byte, bool) {
	switch f.Type {
	case etw.InStruct:
		b = e.fields(e.code(b, typeStruct), f.Fields)
		return b, e.whole
	case etw.InRelLoc, etw.InDataLoc:
		code := uint32(typeRelLoc)
		if f.Type == etw.InDataLoc {
			code = typeDataLoc
		}
		if e.list != list6 || len(f.Fields) != 1 {
			return b, false
		}
		return e.typeOf(e.code(b, code), &f.Fields[0])
	case etw.InUnicodeString:
		return e.text(b, f.Length, typeString, typeChar)
	case etw.InAnsiString:
		return e.text(b, f.Length, 0, typeUTF8)
	case etw.InBinary:
		return e.text(b, f.Length, 0, typeUInt8)
	case etw.InCountedAnsiString:
		return e.text(b, etw.Size{Kind: etw.SizePrefix}, 0, typeUTF8)
	case etw.InCountedBinary:
		return e.text(b, etw.Size{Kind: etw.SizePrefix}, 0, typeUInt8)
	}
	if code := e.scalar(f.Type); code != 0 {
		return e.code(b, code), true
	}
	return b, false
}

// text appends the type of a sequence of units: one that ends at a NUL, for which
// there may be a code, or one of a given length.
func (e *fieldWriter) text(b []byte, length etw.Size, ended, unit uint32) ([]byte, bool) {
	if unit == typeUTF8 && e.list != list6 {
		unit = typeUInt8
	}
	switch {
	case length.Kind == etw.SizeNone && ended != 0:
		return e.code(b, ended), true
	case length.Kind == etw.SizePrefix:
		e.arrays = true
		return e.code(e.code(b, typeArray), unit), true
	case length.Kind == etw.SizeConst && e.list == list6 && length.N <= 0xffff:
		b = e.code(e.code(b, typeFixedArray), unit)
		return binary.LittleEndian.AppendUint16(b, uint16(length.N)), true
	}
	return b, false
}

// scalar returns the code of a type of fixed or variable size, or 0.
func (e *fieldWriter) scalar(t etw.InType) uint32 {
	switch t {
	case etw.InPointer:
		if e.ptr == etw.Ptr32 {
			return typeUInt32
		}
		return typeUInt64
	case etw.InHexInt32:
		return typeUInt32
	case etw.InHexInt64:
		return typeUInt64
	case etw.InDecimal:
		if e.list == list6 {
			return typeDecimal
		}
		return 0
	case etw.InBool8, etw.InChar8, etw.InVarInt, etw.InVarUint:
		if e.list != list6 { // later codes
			if t == etw.InBool8 || t == etw.InChar8 {
				return typeUInt8
			}
			return 0
		}
	}
	for _, code := range simpleCodes {
		if simpleTypes[code].Type == t {
			return code
		}
	}
	return 0
}

// simpleCodes are the codes of simpleTypes in order.
var simpleCodes = func() (codes []uint32) {
	for code := range simpleTypes {
		codes = append(codes, code)
	}
	sort.Slice(codes, func(i, j int) bool { return codes[i] < codes[j] }) // shares its code, which slices.Sort does not
	return codes
}()
