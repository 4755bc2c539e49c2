package etw

// What only generated code needs.

// StructString returns the text of a struct that d describes.
func StructString(d *FieldDesc, v interface{ FieldValue(i int) Value }) string {
	return string(AppendFieldText(nil, d, StructValue(d, v)))
}

// PtrSize returns the size of the pointers of s.
func (s Pointers) PtrSize() PtrSize { return s.ptr }

// RestCount returns the number of elements of size bytes that the rest of the
// payload holds in full.
func (r *Reader) RestCount(size int) uint64 {
	if r.Failed() {
		return 0
	}
	return uint64((len(r.p) - int(r.at)) / size)
}
