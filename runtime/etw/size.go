package etw

// fixedSizes holds the sizes of the types that have one.
var fixedSizes = [256]uint8{
	InInt8: 1, InUInt8: 1, InInt16: 2, InUInt16: 2, InInt32: 4, InUInt32: 4, InInt64: 8, InUInt64: 8,
	InFloat: 4, InDouble: 8, InBoolean: 4, InGUID: 16, InFileTime: 8, InSystemTime: 16,
	InHexInt32: 4, InHexInt64: 8, InBool8: 1, InChar16: 2, InChar8: 1, InDecimal: 16,
}

// Size returns the size in bytes of one value of type t, with pointers of size
// ptr. It is 0 for types whose size varies, and for structs.
func (t InType) Size(ptr PtrSize) int {
	if t == InPointer {
		return ptr.Bytes()
	}
	return int(fixedSizes[t])
}

// Size returns how many bytes a payload of d has at least, with pointers of size
// ptr, and whether each has exactly so many. It does not count above 256 KiB,
// which no payload has.
func (d *EventDesc) Size(ptr PtrSize) (least int, exact bool) { return fieldsSize(d.Fields, ptr, 0) }

// Size returns how many bytes the field takes at least, with all its elements and
// with pointers of size ptr, and whether it always takes exactly so many. It does
// not count above 256 KiB.
func (d *FieldDesc) Size(ptr PtrSize) (least int, exact bool) { return fieldSize(d, ptr, 0) }

// fieldsSize is the size of fields that lie depth structs deep.
func fieldsSize(fields []FieldDesc, ptr PtrSize, depth int) (least int, exact bool) {
	exact = true
	for i := range fields {
		n, ok := fieldSize(&fields[i], ptr, depth)
		least, exact = least+n, exact && ok
		if least > maxSize {
			return maxSize, false
		}
	}
	return least, exact
}

func fieldSize(d *FieldDesc, ptr PtrSize, depth int) (least int, exact bool) {
	switch {
	case !d.When.fits(ptr):
		return 0, true
	case d.When.Left > 0:
		return 0, false
	case d.Room > 0:
		return int(d.Room), true
	}
	switch d.Count.Kind {
	case SizeNone:
		return elementSize(d, ptr, depth)
	case SizeConst:
		n, exact := elementSize(d, ptr, depth)
		return times(n, d.Count.N, exact)
	case SizePrefix:
		return countPrefix, false
	}
	return 0, false
}

// countPrefix is the size of a count or length that a payload holds in front of a
// field.
const countPrefix = 2

// elementSize returns how many bytes one element of d takes at least, and whether
// all take exactly so many.
func elementSize(d *FieldDesc, ptr PtrSize, depth int) (least int, exact bool) {
	if n := d.Type.Size(ptr); n > 0 {
		return n, true
	}
	switch d.Type {
	case InNull:
		return 0, true
	case InUnicodeString:
		return lengthSize(d.Length, 2, 2)
	case InAnsiString:
		return lengthSize(d.Length, 1, 1)
	case InBinary:
		return lengthSize(d.Length, 0, 1)
	case InSID:
		return lengthSize(d.Length, 8, 1)
	case InCountedUnicodeString, InCountedAnsiString, InCountedBinary:
		return countPrefix, false
	case InVarInt, InVarUint:
		return 1, false
	case InRelLoc, InDataLoc, InLongBinary, InWBEMSID:
		return 4, false
	case InStruct:
		if depth < maxNesting {
			return fieldsSize(d.Fields, ptr, depth+1)
		}
	}
	return 0, false
}

// lengthSize returns the size of a value of a length in units of unit bytes.
// Without a length it takes alone bytes at least.
func lengthSize(length Size, alone, unit int) (least int, exact bool) {
	switch length.Kind {
	case SizeNone:
		return alone, false
	case SizeConst:
		return times(unit, length.N, true)
	case SizePrefix:
		return countPrefix, false
	}
	return 0, false
}

// times returns the size of count things that take n bytes each, or at least n.
func times(n int, count uint32, exact bool) (int, bool) {
	if size := int64(n) * int64(count); size <= maxSize {
		return int(size), exact || count == 0
	}
	return maxSize, false
}

// takesLength reports whether a length means anything for a type.
func takesLength(t InType) bool {
	switch t {
	case InUnicodeString, InAnsiString, InBinary, InSID:
		return true
	}
	return false
}
