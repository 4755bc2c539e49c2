package table

import (
	"math"
	"strconv"

	"github.com/etwgen/etwgen/analysis/measure"
)

// A Kind is the type of the values of a column.
type Kind uint8

// The kinds. Names of processes and threads are known to those who print them; their values
// have the ids.
const (
	TextKind Kind = iota
	Bool
	Whole
	Real
	Process
	Thread
)

// A Value is the value of a row in a column. The zero Value is a number that is unknown, or
// an empty text.
type Value struct {
	kind  Kind
	known bool
	minus bool // the bits are those of a negative number
	bits  uint64
	text  string
}

func text(s string) Value { return Value{kind: TextKind, known: s != "", text: s} }

func flag(v bool) Value {
	x := Value{kind: Bool, known: true, text: "no"}
	if v {
		x.bits, x.text = 1, "yes"
	}
	return x
}

func number[N Integer](n N) Value {
	return Value{kind: Whole, known: true, minus: n < 0, bits: uint64(n)}
}

func amount(f measure.Float) Value {
	v, ok := f.Get()
	return Value{kind: Real, known: ok, bits: math.Float64bits(v)}
}

// amountOf is amount of a number of either type.
func amountOf(f any) Value {
	switch f := f.(type) {
	case float64:
		return amount(measure.Known(f))
	case measure.Float:
		return amount(f)
	}
	return Value{}
}

// positive returns a number that is more than 0, or an unknown one.
func (v Value) positive() Value {
	if f, ok := v.Float(); ok && !(f > 0) {
		return Value{kind: v.kind}
	}
	return v
}

// natural returns a number that is not negative, or an unknown one.
func (v Value) natural() Value {
	if f, ok := v.Float(); ok && !(f >= 0) {
		return Value{kind: v.kind}
	}
	return v
}

// named is a process or a thread, with the name that the result knows.
func named(kind Kind, id int64, name string) Value {
	return Value{kind: kind, known: true, minus: id < 0, bits: uint64(id), text: name}
}

// Known reports whether there is a value.
func (v Value) Known() bool { return v.known }

// Int returns the value of a whole number, or the id of a process or a thread.
func (v Value) Int() int64 { return int64(v.bits) }

// Bool returns the value of a boolean.
func (v Value) Bool() bool { return v.kind == Bool && v.bits == 1 }

// Float returns the value of a number, and whether it is known.
func (v Value) Float() (float64, bool) {
	switch {
	case !v.known:
	case v.kind == Real:
		return math.Float64frombits(v.bits), true
	case v.kind == Whole && v.minus:
		return float64(int64(v.bits)), true
	case v.kind == Whole:
		return float64(v.bits), true
	}
	return 0, false
}

// Text returns the value in full: numbers with all their digits, yes and no, and nothing for
// unknown values. Of processes and threads it is the name that the result has.
func (v Value) Text() string {
	switch {
	case !v.known:
		return ""
	case v.kind == Real:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'f', -1, 64)
	case v.kind == Whole && v.minus:
		return strconv.FormatInt(int64(v.bits), 10)
	case v.kind == Whole:
		return strconv.FormatUint(v.bits, 10)
	}
	return v.text
}
