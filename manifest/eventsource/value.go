package eventsource

import (
	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A value is the known part of one while it follows code.
type value struct {
	kind  valueKind
	n     int64    // an integer, the number of an argument
	s     string   // a text
	guid  etw.GUID // a GUID
	array *[]value
	boxed ecma335.Token // the type that it was boxed as; zero if it was not
	as    string        // the type that it was converted to for WriteEvent
}

type valueKind uint8

const (
	unknown valueKind = iota
	this              // the object that the method is of
	argument
	integer
	text
	null
	guidValue
	array
)

// same reports whether two values are known to be the same.
func (v value) same(w value) bool {
	return v.kind == w.kind && v.kind != unknown && v.kind != array && v.n == w.n && v.s == w.s && v.guid == w.guid
}

// mostElements is how long an array may be whose elements are followed.
const mostElements = 64

// newArray returns an array of some length, if it is known.
func newArray(length value) value {
	if length.kind != integer || length.n < 0 || length.n > mostElements {
		return value{}
	}
	elems := make([]value, length.n)
	return value{kind: array, array: &elems}
}

// store sets an element of an array, if both are known.
func (v value) store(at, elem value) {
	if v.kind == array && at.kind == integer && at.n >= 0 && at.n < int64(len(*v.array)) {
		(*v.array)[at.n] = elem
	}
}

// combine computes with two integers, if both are known.
func combine(op ecma335.Opcode, a, b value) value {
	if a.kind != integer || b.kind != integer {
		return value{}
	}
	v := value{kind: integer}
	switch op {
	case 0x58, 0xd6, 0xd7: // add
		v.n = a.n + b.n
	case 0x59, 0xda, 0xdb: // sub
		v.n = a.n - b.n
	case 0x5a, 0xd8, 0xd9: // mul
		v.n = a.n * b.n
	case 0x5f:
		v.n = a.n & b.n
	case 0x60:
		v.n = a.n | b.n
	case 0x61:
		v.n = a.n ^ b.n
	case 0x62:
		v.n = a.n << uint(b.n&63)
	case 0xfe01:
		v.n = truth(a.n == b.n)
	case 0xfe02:
		v.n = truth(a.n > b.n)
	case 0xfe04:
		v.n = truth(a.n < b.n)
	default:
		return value{}
	}
	return v
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// taken returns whether a branch is taken, where that is known.
func taken(op ecma335.Opcode, a, b value) (yes, known bool) {
	if op >= 0x38 {
		op -= 0x38 - 0x2b // the long form
	}
	switch op {
	case 0x2c, 0x2d: // brfalse, brtrue
		switch a.kind {
		case integer:
			yes, known = a.n == 0, true
		case null:
			yes, known = true, true
		case text, this, guidValue, array:
			yes, known = false, true
		}
		return yes != (op == 0x2d), known
	}
	if a.kind != integer || b.kind != integer {
		return false, false
	}
	switch op {
	case 0x2e:
		return a.n == b.n, true
	case 0x2f:
		return a.n >= b.n, true
	case 0x30:
		return a.n > b.n, true
	case 0x31:
		return a.n <= b.n, true
	case 0x32:
		return a.n < b.n, true
	case 0x33:
		return a.n != b.n, true
	}
	return false, false // unsigned comparisons
}
