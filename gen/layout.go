package gen

import (
	"github.com/etwgen/etwgen/manifest"
)

// A layout is a template as the events that use it see it. Where several do,
// the code is written once, for an unexported type that they convert to.
type layout struct {
	template *manifest.Template
	events   []*event // those that use it
	goName   string   // of the type that events share, or ""
	scope
}

// A scope is a list of fields: of an event or of a struct.
//
// It starts with a prefix: the fields that lie at an offset that is known when
// the code is generated, because all before them have a fixed size. They are
// loaded after one comparison with the length of the payload. A pointer ends
// the prefix, and so does everything that is not one number, GUID or time.
// From there on a cursor reads.
type scope struct {
	fields     []*field
	prefix     int // number of fields
	prefixSize int // in bytes
}

// placePrefix finds the prefix of s.
func (s *scope) placePrefix() {
	for _, f := range s.fields {
		k, ok := f.kind.(fixedKind)
		if !ok {
			break
		}
		f.offset = s.prefixSize
		s.prefixSize += k.size()
		s.prefix++
	}
}

// isFixed reports whether the prefix is all there is.
func (s *scope) isFixed() bool { return s.prefix == len(s.fields) }

// extent is a number of bytes, for each size of pointers.
type extent struct{ narrow, wide int }

// inBytes is a number of bytes whatever size pointers have.
func inBytes(n int) extent { return extent{n, n} }

// inPointers is a number of pointers.
func inPointers(n int) extent { return extent{4 * n, 8 * n} }

func (x extent) add(y extent) extent { return extent{x.narrow + y.narrow, x.wide + y.wide} }

func (x extent) times(n int) extent { return extent{x.narrow * n, x.wide * n} }

// isZero reports whether x is nothing.
func (x extent) isZero() bool { return x == extent{} }

// least returns the number of bytes that s takes at least, and whether it always
// takes just that.
func (s *scope) least() (x extent, exact bool) {
	exact = true
	for _, f := range s.fields {
		y, ok := f.kind.least()
		x = x.add(y)
		exact = exact && ok
	}
	return x, exact
}

// extends reports whether template t is template old with fields appended.
func extends(t, old *manifest.Template) bool {
	var a, b []*manifest.Field
	if t != nil {
		a = t.Fields
	}
	if old != nil {
		b = old.Fields
	}
	return len(a) >= len(b) && sameFields(a[:len(b)], b)
}

// sameFields reports whether two lists of fields have the same names and lie the
// same way in a payload.
func sameFields(a, b []*manifest.Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameField(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameField(a, b *manifest.Field) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Type != manifest.Opaque && a.When == b.When &&
		sameSize(a.Count, b.Count) && sameSize(a.Length, b.Length) && sameFields(a.Fields, b.Fields)
}

func sameSize(a, b manifest.Size) bool {
	if a.Kind != b.Kind || a.Const != b.Const || a.Up != b.Up || (a.Field == nil) != (b.Field == nil) {
		return false
	}
	return a.Field == nil || a.Field.Name == b.Field.Name
}
