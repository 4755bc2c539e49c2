package etw

import (
	"math"
	"testing"
)

func structOf(fields ...FieldDesc) FieldDesc { return FieldDesc{Type: InStruct, Fields: fields} }

func repeat(n uint32, d FieldDesc) FieldDesc {
	d.Count = fixed(n)
	return d
}

func TestFieldSize(t *testing.T) {
	deep := FieldDesc{Type: InUInt8}
	for range 100 {
		deep = structOf(deep)
	}
	const huge = math.MaxUint32
	for _, test := range []struct {
		name  string
		field FieldDesc
		least int
		exact bool
	}{
		{"number", FieldDesc{Type: InUInt32}, 4, true},
		{"pointer", FieldDesc{Type: InPointer}, 8, true},
		{"nothing", FieldDesc{Type: InNull}, 0, true},
		{"UTF-16", FieldDesc{Type: InUnicodeString}, 2, false},
		{"UTF-16 of 3", FieldDesc{Type: InUnicodeString, Length: fixed(3)}, 6, true},
		{"UTF-16 by field", FieldDesc{Type: InUnicodeString, Length: ref(0)}, 0, false},
		{"UTF-16 by prefix", FieldDesc{Type: InUnicodeString, Length: prefix}, 2, false},
		{"the rest", FieldDesc{Type: InUnicodeString, Length: rest}, 0, false},
		{"ANSI", FieldDesc{Type: InAnsiString}, 1, false},
		{"SID", FieldDesc{Type: InSID}, 8, false},
		{"SID of 12", FieldDesc{Type: InSID, Length: fixed(12)}, 12, true},
		{"bytes without length", FieldDesc{Type: InBinary}, 0, false},
		{"length of a number", FieldDesc{Type: InUInt8, Length: fixed(9)}, 1, true},
		{"counted", FieldDesc{Type: InCountedBinary}, 2, false},
		{"varint", FieldDesc{Type: InVarInt}, 1, false},
		{"location", FieldDesc{Type: InDataLoc}, 4, false},
		{"unknown type", FieldDesc{Type: 0xfe}, 0, false},
		{"array", FieldDesc{Type: InUInt16, Count: fixed(5)}, 10, true},
		{"array by field", FieldDesc{Type: InUInt16, Count: ref(0)}, 0, false},
		{"array by prefix", FieldDesc{Type: InUInt16, Count: prefix}, 2, false},
		{"array of the rest", FieldDesc{Type: InUInt16, Count: rest}, 0, false},
		{"array of strings", FieldDesc{Type: InUnicodeString, Count: fixed(3)}, 6, false},
		{"array of no strings", FieldDesc{Type: InUnicodeString, Count: fixed(0)}, 0, true},
		{"struct", structOf(FieldDesc{Type: InUInt8}, FieldDesc{Type: InPointer}), 9, true},
		{"struct with a string", structOf(FieldDesc{Type: InUInt8}, FieldDesc{Type: InUnicodeString}), 3, false},
		{"array of structs", repeat(3, structOf(FieldDesc{Type: InUInt8, Count: fixed(2)})), 6, true},
		{"too deep", deep, 0, false},
		{"just so large", FieldDesc{Type: InBinary, Length: fixed(maxSize)}, maxSize, true},
		{"too large", FieldDesc{Type: InBinary, Length: fixed(maxSize + 1)}, maxSize, false},
		{"length that overflows", FieldDesc{Type: InUnicodeString, Length: fixed(huge)}, maxSize, false},
		{"length that overflows to 0", FieldDesc{Type: InUnicodeString, Length: fixed(1 << 31)}, maxSize, false},
		{"count that overflows", FieldDesc{Type: InUInt64, Count: fixed(huge)}, maxSize, false},
		{"product that overflows", FieldDesc{Type: InBinary, Count: fixed(huge), Length: fixed(huge)}, maxSize, false},
		{"sum that overflows", repeat(huge, structOf(FieldDesc{Type: InBinary, Length: fixed(huge)}, FieldDesc{Type: InBinary, Length: fixed(huge)})), maxSize, false},
	} {
		least, exact := test.field.Size(Ptr64)
		if least != test.least || exact != test.exact {
			t.Errorf("%s: %d, %v; want %d, %v", test.name, least, exact, test.least, test.exact)
		}
		// Hostile descriptions must not lead the decoder astray either.
		var d Dynamic
		if n, err := d.Decode(desc(FieldDesc{Type: InUInt32}, test.field), make([]byte, 100), Ptr64); n > 100 || n < 0 {
			t.Errorf("%s: read %d of 100 bytes, %v", test.name, n, err)
		}
	}
}

func TestEventSize(t *testing.T) {
	d := desc(FieldDesc{Type: InPointer}, FieldDesc{Type: InUInt16, Count: fixed(2)})
	if least, exact := d.Size(Ptr32); least != 8 || !exact {
		t.Errorf("%d, %v with pointers of 4 bytes", least, exact)
	}
	d.Fields = append(d.Fields, FieldDesc{Type: InUnicodeString})
	if least, exact := d.Size(Ptr64); least != 14 || exact {
		t.Errorf("%d, %v with a string", least, exact)
	}
	if least, exact := new(EventDesc).Size(Ptr64); least != 0 || !exact {
		t.Errorf("%d, %v without fields", least, exact)
	}
}
