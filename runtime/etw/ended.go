package etw

// An ended has the payload of a record whose last string has no NUL, with one. Windows takes
// a string that ends with the payload for whole, and some of its providers count on that.
type ended struct {
	payload []byte
	values  *Dynamic
}

// take makes the payload of a record of d that did not decode, if a NUL is all that it lacks.
func (e *ended) take(d *EventDesc, r *Record) bool {
	if r.Kind != KindManifest {
		return false
	}
	if e.values == nil {
		e.values = new(Dynamic)
	}
	if n, whole := e.values.loosely(d, r.Payload, r.PointerSize); !whole || n != len(r.Payload) {
		return false
	}
	e.payload = append(append(e.payload[:0], r.Payload...), 0, 0)
	return true
}
