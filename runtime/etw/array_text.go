package etw

import (
	"bytes"
	"encoding"
	"fmt"
	"iter"
	"strconv"
)

// How arrays are copied and shown, all in one way.

// Clone returns a copy of s that shares no memory with the payload.
func (s Ints[T]) Clone() Ints[T] { return bytes.Clone(s) }

// String returns the elements in brackets.
func (s Ints[T]) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s Ints[T]) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of numbers, or of the names that values have.
func (s Ints[T]) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s Floats[T]) Clone() Floats[T] { return bytes.Clone(s) }

// String returns the elements in brackets.
func (s Floats[T]) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s Floats[T]) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of numbers. Infinities and NaN are strings.
func (s Floats[T]) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s GUIDs) Clone() GUIDs { return bytes.Clone(s) }

// String returns the elements in brackets.
func (s GUIDs) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s GUIDs) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s GUIDs) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s SystemTimes) Clone() SystemTimes { return bytes.Clone(s) }

// String returns the elements in brackets.
func (s SystemTimes) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s SystemTimes) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s SystemTimes) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s Pointers) Clone() Pointers { return Pointers{bytes.Clone(s.p), s.ptr} }

// String returns the elements in brackets.
func (s Pointers) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s Pointers) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s Pointers) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s UTF16s) Clone() UTF16s { return UTF16s{s.clone()} }

// String returns the elements in brackets.
func (s UTF16s) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s UTF16s) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s UTF16s) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s ANSIs) Clone() ANSIs { return ANSIs{s.clone()} }

// String returns the elements in brackets.
func (s ANSIs) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s ANSIs) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s ANSIs) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s Binaries) Clone() Binaries { return Binaries{s.clone()} }

// String returns the elements in brackets.
func (s Binaries) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s Binaries) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s Binaries) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

// Clone returns a copy of s that shares no memory with the payload.
func (s SIDs) Clone() SIDs { return SIDs{s.clone()} }

// String returns the elements in brackets.
func (s SIDs) String() string { return string(arrayText(s.All())) }

// MarshalText returns the form of String.
func (s SIDs) MarshalText() ([]byte, error) { return arrayText(s.All()), nil }

// MarshalJSON returns an array of strings.
func (s SIDs) MarshalJSON() ([]byte, error) { return arrayJSON(s.All()), nil }

func (l list) clone() list { return list{bytes.Clone(l.p), l.n, l.size} }

// Clone returns a copy of s that shares no memory with the payload.
func (s UTF16) Clone() UTF16 { return bytes.Clone(s) }

// Clone returns a copy of s that shares no memory with the payload.
func (s ANSI) Clone() ANSI { return bytes.Clone(s) }

// Clone returns a copy of v that shares no memory with the payload.
func (v Binary) Clone() Binary { return bytes.Clone(v) }

// Clone returns a copy of s that shares no memory with the payload.
func (s SID) Clone() SID { return bytes.Clone(s) }

// arrayText returns elements as AppendText shows those of an array.
func arrayText[T any](all iter.Seq[T]) []byte {
	b := []byte{'['}
	for e := range all {
		if len(b) > 1 {
			b = append(b, ' ')
		}
		mark := len(b)
		var form scalarForm
		if b, form = appendElement(b, e); form == stringForm && !bare(b[mark:]) {
			b = strconv.AppendQuote(b[:mark], string(b[mark:]))
		}
	}
	return append(b, ']')
}

// arrayJSON returns elements as AppendJSON shows those of an array.
func arrayJSON[T any](all iter.Seq[T]) []byte {
	b := []byte{'['}
	for e := range all {
		if len(b) > 1 {
			b = append(b, ',')
		}
		mark := len(b)
		var form scalarForm
		if b, form = appendElement(b, e); form != numberForm {
			b = AppendJSONString(b[:mark], string(b[mark:]))
		}
	}
	return append(b, ']')
}

// appendElement appends an element of an array.
func appendElement(b []byte, e any) ([]byte, scalarForm) {
	switch e := e.(type) {
	case Bool:
		return strconv.AppendBool(b, e != 0), numberForm
	case float32:
		return appendFloat(b, float64(e), 32)
	case float64:
		return appendFloat(b, e, 64)
	case UTF16:
		return e.AppendTo(b), stringForm
	case ANSI:
		return e.AppendTo(b), stringForm
	case encoding.TextAppender:
		b, _ = e.AppendText(b)
		return b, wordForm
	case fmt.Stringer: // an enumeration, whose values without a name are numbers
		text := e.String()
		if text != fmt.Sprintf("%d", e) {
			return append(b, text...), stringForm
		}
	}
	return fmt.Appendf(b, "%d", e), numberForm
}
