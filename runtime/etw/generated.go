package etw

import (
	"encoding/json"
	"iter"
	"slices"
)

// Parts that only generated code needs.

// DescOf returns the description that an event was decoded by, of those of its
// versions: that of the layout that was seen, and the newest one of an event that
// was not decoded.
func DescOf(versions []*EventDesc, seen Seen) *EventDesc {
	for _, d := range versions {
		if d.Version == seen.Layout {
			return d
		}
	}
	return versions[len(versions)-1]
}

// ElementsText returns the elements of a generated view in brackets.
func ElementsText[T interface{ String() string }](all iter.Seq[T]) string {
	b := []byte{'['}
	for e := range all {
		if len(b) > 1 {
			b = append(b, ' ')
		}
		b = append(b, e.String()...)
	}
	return string(append(b, ']'))
}

// ElementsJSON returns the elements of a generated view as a JSON array.
func ElementsJSON[T any](all iter.Seq[T]) ([]byte, error) {
	return json.Marshal(slices.AppendSeq([]T{}, all))
}

// ListValue returns a value of the array s of strings, binary values or SIDs,
// which d describes. It takes the length of the elements from s: the field that
// gives it may lie outside of the struct that the array is a member of.
func ListValue[L interface{ asList() list }](d *FieldDesc, s L) Value {
	l := s.asList()
	v := ArrayValue(d, l.p, int(l.n), 0, nil)
	if l.size >= 0 {
		v.sized, v.length = true, uint32(l.size)
		if d.Type == InUnicodeString {
			v.length /= 2
		}
	}
	return v
}

// PtrSize returns the size of the pointers of s.
func (s Pointers) PtrSize() PtrSize { return s.ptr }

// RestCount returns the number of elements of size bytes that the rest of the
// payload holds in full.
func (c *Cursor) RestCount(size int) uint64 {
	if c.Failed() {
		return 0
	}
	return uint64((len(c.p) - int(c.at)) / size)
}

// Left reports whether at least n bytes of the payload are left, for a field
// that is there only then.
func (c *Cursor) Left(n int) bool { return len(c.p)-int(c.at) >= n }

// Wide reports whether pointers have 8 bytes, for a field that depends on it.
func (c *Cursor) Wide() bool { return c.ptr != Ptr32 }

// Wide reports whether pointers have 8 bytes, for a field that depends on it.
func (a *Appender) Wide() bool { return a.ptr != Ptr32 }

// Optional reports whether to append field i, one at the end of an event that
// may be missing, but not if another one follows it.
func (a *Appender) Optional(i int, has bool) bool {
	if !has {
		a.ended = true
		return false
	}
	return a.check(i, !a.ended, ErrOptional)
}

// Choose returns the size of a value that takes narrow bytes with pointers of 4, and wide
// bytes with those of 8.
func (p PtrSize) Choose(narrow, wide int) int {
	if p == Ptr32 {
		return narrow
	}
	return wide
}
