package etw

// fixedSizes holds the sizes of the types that have one.
var fixedSizes = [256]uint8{
	InInt8: 1, InUInt8: 1, InInt16: 2, InUInt16: 2, InInt32: 4, InUInt32: 4, InInt64: 8, InUInt64: 8,
	InFloat: 4, InDouble: 8, InBoolean: 4, InGUID: 16, InFileTime: 8, InSystemTime: 16,
	InHexInt32: 4, InHexInt64: 8, InBool8: 1, InChar16: 2, InChar8: 1, InDecimal: 16,
}

// fixedSize returns the size of one element of d, or 0 if it varies.
func fixedSize(d *FieldDesc, ptr PtrSize) int {
	if d.Type == InPointer {
		return ptr.Bytes()
	}
	return int(fixedSizes[d.Type])
}

// minSize returns the least number of bytes that one element of d can take.
func minSize(d *FieldDesc, ptr PtrSize, depth int) int {
	if n := fixedSize(d, ptr); n > 0 {
		return n
	}
	switch d.Type {
	case InUnicodeString:
		return minLength(d.Length, 2, 2)
	case InAnsiString:
		return minLength(d.Length, 1, 1)
	case InBinary:
		return minLength(d.Length, 0, 1)
	case InSID:
		return minLength(d.Length, 8, 1)
	case InCountedUnicodeString, InCountedAnsiString, InCountedBinary:
		return 2
	case InVarInt, InVarUint:
		return 1
	case InLongBinary, InWBEMSID, InRelLoc, InDataLoc:
		return 4
	case InStruct:
		return minStruct(d.Fields, ptr, depth)
	}
	return 0
}

// takesLength reports whether a length means anything for a type.
func takesLength(t InType) bool {
	switch t {
	case InUnicodeString, InAnsiString, InBinary, InSID:
		return true
	}
	return false
}

// minLength returns the least size of a value of a length in units of unit
// bytes; without one it is alone.
func minLength(length Size, alone, unit int) int {
	switch length.Kind {
	case SizeNone:
		return alone
	case SizePrefix:
		return 2
	case SizeConst:
		return int(min(length.N, maxLeast)) * unit
	}
	return 0
}

// maxLeast bounds sums of sizes, so that they do not overflow. No payload has so
// many bytes.
const maxLeast = 1 << 18

func minStruct(fields []FieldDesc, ptr PtrSize, depth int) int {
	sum := 0
	if depth >= maxNesting {
		return 0
	}
	for i := range fields {
		f := &fields[i]
		switch f.Count.Kind {
		case SizeNone:
			sum += minSize(f, ptr, depth+1)
		case SizePrefix:
			sum += 2
		case SizeConst:
			sum += int(min(f.Count.N, maxEmpty)) * minSize(f, ptr, depth+1)
		}
		sum = min(sum, maxLeast)
	}
	return sum
}

// constantSize returns the size of one element of d, also of a struct, and
// whether it is always the same.
func constantSize(d *FieldDesc, ptr PtrSize) (size int, ok bool) {
	if n := fixedSize(d, ptr); n > 0 {
		return n, true
	}
	switch d.Type {
	case InStruct:
	case InUnicodeString:
		return 2 * int(d.Length.N), d.Length.Kind == SizeConst
	case InAnsiString, InBinary, InSID:
		return int(d.Length.N), d.Length.Kind == SizeConst
	default:
		return 0, false
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		n, ok := constantSize(f, ptr)
		switch {
		case !ok:
			return 0, false
		case f.Count.Kind == SizeConst:
			n *= int(f.Count.N)
		case f.Count.Kind != SizeNone:
			return 0, false
		}
		size += n
	}
	return size, true
}
