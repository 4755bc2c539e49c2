package ctf

// A kind is that of a type.
type kind uint8

const (
	kindInteger kind = iota
	kindFloat
	kindEnum
	kindString
	kindStruct
	kindVariant
	kindArray    // of a constant number of elements
	kindSequence // of as many as another field says
)

// An endian is the order of the bytes of a number.
type endian uint8

const (
	nativeOrder endian = iota // that of the trace
	littleOrder
	bigOrder
)

// A ctype is a type as the metadata declare it.
type ctype struct {
	kind   kind
	size   int // bits of a number
	align  int // bits
	signed bool
	hex    bool // numbers are shown in hexadecimal
	text   bool // a number of 8 bits is a character
	order  endian
	clock  string // whose value the number is

	fields []member // of a struct, and the options of a variant
	elem   *ctype   // of an array or sequence, and the number that an enum is
	count  uint64   // of an array
	ref    string   // the length of a sequence, the tag of a variant
	labels []label  // of an enum
}

// A member is a field with its name.
type member struct {
	name string
	*ctype
}

// A label names the values of an enum from lo to hi, in the order of their numbers, which is
// that of int64 if the enum is signed.
type label struct {
	name   string
	lo, hi uint64
}

// has reports whether a label is for a value.
func (l *label) has(v uint64, signed bool) bool {
	if signed {
		return int64(v) >= int64(l.lo) && int64(v) <= int64(l.hi)
	}
	return v >= l.lo && v <= l.hi
}

// alignment returns the alignment of a type.
func (t *ctype) alignment() int {
	switch t.kind {
	case kindString:
		return 8
	case kindVariant:
		return 1
	case kindEnum, kindArray, kindSequence:
		return t.elem.alignment()
	}
	return max(t.align, 1)
}

// isText reports whether elements of the type make a text.
func (t *ctype) isText() bool {
	return t.kind == kindInteger && t.text && t.size == 8 && t.align%8 == 0
}
