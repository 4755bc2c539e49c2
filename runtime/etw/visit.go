package etw

// A visitor is told of each value in a payload that is no struct.
type visitor func(path []FieldPath, from, to int)

// A FieldPath is a field on the way to a value in a payload.
type FieldPath struct {
	*FieldDesc
	Elem int // in an array of structs, or -1
}

// Visit decodes the payload p as [Dynamic.DecodeLoose] does, and calls do for each value of
// a field, also for those in structs and for each element of arrays. Path has the fields on
// the way to it, the outermost first; the last one is its own. The value lies at p[from:to],
// with a NUL that ends it or a number before it that counts its bytes. The target of an
// InRelLoc or InDataLoc lies elsewhere. Path is valid during the call.
func (e *Dynamic) Visit(desc *EventDesc, p []byte, ptr PtrSize, do func(path []FieldPath, from, to int)) error {
	e.start(desc, p, ptr, true)
	w := &e.w
	w.visit = do
	defer func() { w.visit, w.path = nil, w.path[:0] }()
	for e.known = 0; e.known < len(desc.Fields); e.known++ {
		if !w.next() {
			w.failed = w.off
			w.off = int(w.offsets[e.known])
			return w.explain(desc)
		}
	}
	return nil
}

// tell tells the visitor of the value of d that lies from an offset to where the
// walker is.
func (w *walker) tell(d *FieldDesc, from int) bool {
	if d.Type == InStruct {
		return true
	}
	w.path = w.path[:0]
	for i := range w.frames {
		f := &w.frames[i]
		if i == len(w.frames)-1 {
			w.path = append(w.path, FieldPath{d, f.elem})
		} else {
			w.path = append(w.path, FieldPath{&f.fields[f.i], f.elem})
		}
	}
	w.visit(w.path, from, w.off)
	return true
}
