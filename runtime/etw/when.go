package etw

// A When says which payloads have a field. The zero When means all of them.
//
// Two things decide. Fields that a compiler adds for alignment depend on the
// size of pointers. And fields at the end of an event may have come with a later
// system that did not count the version up: they are there if the payload goes
// on.
type When struct {
	// Ptr is the size of pointers that the field takes, or 0 for any.
	Ptr PtrSize
	// Left is how many bytes must be left of the payload, or 0 for any number.
	Left uint16
}

// always reports whether all payloads have the field.
func (w When) always() bool { return w == When{} }

// fits reports whether a payload with pointers of size ptr can have the field.
func (w When) fits(ptr PtrSize) bool { return w.Ptr == 0 || w.Ptr.Bytes() == ptr.Bytes() }

// holds reports whether a payload has the field, where left bytes of it are
// left.
func (w When) holds(ptr PtrSize, left int) bool { return w.fits(ptr) && left >= int(w.Left) }
