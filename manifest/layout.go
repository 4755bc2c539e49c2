package manifest

// Size returns how many bytes a payload of template t has at least, with
// pointers of ptrSize bytes, and whether all have exactly so many. A nil
// template has no payload.
func (t *Template) Size(ptrSize int) (least int, fixed bool) {
	if t == nil {
		return 0, true
	}
	return sizeOf(t.Fields, ptrSize)
}

// sizeLimit stands for all sizes that no payload can have. It keeps the sums in
// range for any manifest.
const sizeLimit = 1 << 30

func sizeOf(fields []*Field, ptrSize int) (least int, fixed bool) {
	fixed = true
	for _, f := range fields {
		n, ok := f.size(ptrSize)
		least = min(least+n, sizeLimit)
		fixed = fixed && ok
	}
	return least, fixed
}

// size returns the size of a field with all its elements.
func (f *Field) size(ptrSize int) (least int, fixed bool) {
	least, fixed = f.elementSize(ptrSize)
	switch f.Count.Kind {
	case NoSize:
		return least, fixed
	case ConstSize:
		return int(min(int64(least)*int64(f.Count.Const), sizeLimit)), fixed
	}
	return 0, false
}

// elementSize returns the size of one element of a field.
func (f *Field) elementSize(ptrSize int) (least int, fixed bool) {
	if f.Type == Struct {
		return sizeOf(f.Fields, ptrSize)
	}
	if n := f.Type.Size(ptrSize); n > 0 {
		return n, true
	}
	unit := 1
	if f.Type == UnicodeString {
		unit = 2
	}
	switch {
	case f.Length.Kind == ConstSize:
		return int(f.Length.Const) * unit, f.Type != SID
	case f.Length.Kind != NoSize:
		return 0, false
	case f.Type.IsString():
		return unit, false // the NUL at its end
	case f.Type == SID:
		return sidHeader, false
	case f.Type.IsCounted():
		return countHeader, false
	}
	return 0, false
}

const (
	sidHeader   = 8 // of a SID without subauthorities
	countHeader = 2 // in front of a counted value
)
