package table

import (
	"strings"
	"unicode"

	"github.com/etwgen/etwgen/analysis/measure"
)

// A Column is a column of a table whose rows are T. Its methods change it, and return it.
//
// The head is apart since all of this is compiled for each type of rows, of which there are
// a hundred.
type Column[T any] struct {
	head  *Head
	value func(T) Value
}

// Integer is any type of whole numbers.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Text is a column of texts.
func Text[T any](name string, of func(T) string) Column[T] {
	return Column[T]{headOf(name, TextKind), func(row T) Value { return text(of(row)) }}
}

// Flag is a column of booleans.
func Flag[T any](name string, of func(T) bool) Column[T] {
	return Column[T]{headOf(name, Bool), func(row T) Value { return flag(of(row)) }}
}

// Count is a column of whole numbers.
func Count[T any, N Integer](name string, of func(T) N) Column[T] {
	return Column[T]{headOf(name, Whole), func(row T) Value { return number(of(row)) }}
}

// ID is a column of numbers that are names, such as those of threads.
func ID[T any, N Integer](name string, of func(T) N) Column[T] {
	return Column[T]{idOf(name, Whole), func(row T) Value { return number(of(row)) }}
}

// Amount is a column of numbers that may be unknown, in the unit that the name ends in.
func Amount[T any, F float64 | measure.Float](name string, of func(T) F) Column[T] {
	return Column[T]{headOf(name, Real), func(row T) Value { return amountOf(of(row)) }}
}

// Code is a column of numbers that are names and may be unknown, such as those that
// processes end with.
func Code[T any](name string, of func(T) measure.Float) Column[T] {
	return Column[T]{idOf(name, Real), func(row T) Value { return amount(of(row)) }}
}

// Moment is a column of points in time, in milliseconds since the session began.
func Moment[T any, F float64 | measure.Float](name string, of func(T) F) Column[T] {
	return Column[T]{momentOf(name), func(row T) Value { return amountOf(of(row)) }}
}

// ProcessName and ThreadName are columns of names of processes and threads, which those know
// who print them.
func ProcessName[T any](name string, id func(T) int64) Column[T] {
	return NameOf(name, Process, id, func(T) string { return "" })
}

// ThreadName is a column of names of threads, as [ProcessName] is of processes.
func ThreadName[T any](name string, id func(T) int64) Column[T] {
	return NameOf(name, Thread, id, func(T) string { return "" })
}

// NameOf is a column of names of processes or threads, some of which the result itself has.
func NameOf[T any](name string, kind Kind, id func(T) int64, own func(T) string) Column[T] {
	return Column[T]{headOf(name, kind), func(row T) Value { return named(kind, id(row), own(row)) }}
}

// headOf returns the head that a name implies.
func headOf(name string, kind Kind) *Head {
	unit, digits, stem := unitOf(name)
	if kind == Whole {
		digits = 0
	}
	return &Head{Name: name, Label: label(stem), Unit: unit, Digits: digits, Kind: kind}
}

// idOf returns the head of numbers that are names.
func idOf(name string, kind Kind) *Head {
	h := headOf(name, kind)
	h.ID, h.Digits = true, 0
	return h
}

// momentOf returns the head of points in time.
func momentOf(name string) *Head {
	h := headOf(name, Real)
	h.Moment = true
	return h
}

// unitOf returns the unit that a name ends in, how many digits behind the point people see
// of such numbers, and the name without the unit.
func unitOf(name string) (unit string, digits int, stem string) {
	for _, u := range []struct {
		suffix, unit string
		digits       int
	}{
		{"MBPerSec", "MB/s", 1}, {"PerSec", "a second", 1}, {"Ms", "ms", 3}, {"MB", "MB", 3}, {"Percent", "%", 1}, {"Bytes", "bytes", 0},
	} {
		if stem, ok := strings.CutSuffix(name, u.suffix); ok && stem != "" {
			return u.unit, u.digits, stem
		}
	}
	switch {
	case name == "ms":
		return "ms", 3, "time"
	case strings.HasPrefix(name, "bytes"):
		return "bytes", 0, name
	case name == "MB":
		return "MB", 3, "size"
	}
	return "", 3, name
}

// label returns the words of a name.
func label(name string) string {
	if name == "tid" {
		return "Thread"
	}
	var b strings.Builder
	for i, c := range name {
		switch {
		case i == 0:
			c = unicode.ToUpper(c)
		case unicode.IsUpper(c):
			if !unicode.IsUpper(rune(name[i-1])) {
				b.WriteByte(' ')
			}
			if i+1 < len(name) && unicode.IsLower(rune(name[i+1])) {
				c = unicode.ToLower(c)
			}
		}
		b.WriteRune(c)
	}
	return b.String()
}

// As gives the column a label for pages.
//
//go:noinline
func (c Column[T]) As(label string) Column[T] { c.head.Label = label; return c }

// Under gives the column a heading of its own in text.
func (c Column[T]) Under(heading string) Column[T] { c.head.Heading = heading; return c }

// Helped explains the column.
func (c Column[T]) Helped(help string) Column[T] { c.head.Help = help; return c }

// To says how many digits behind the point people see.
func (c Column[T]) To(digits int) Column[T] { c.head.Digits = digits; return c }

// Precisely says that the numbers are of all sizes.
func (c Column[T]) Precisely() Column[T] { c.head.Precise = true; return c }

// For says whom the column is for.
func (c Column[T]) For(a Audience) Column[T] { c.head.Audience = a; return c }

// Spared marks a column that people miss least where there is no room for all.
func (c Column[T]) Spared(order int) Column[T] { c.head.Spare = order; return c }

// IfAny leaves the column to programs where no row has anything.
func (c Column[T]) IfAny() Column[T] { c.head.Filled = true; return c }

// About marks the column that names the rows.
func (c Column[T]) About() Column[T] { c.head.Subject = true; return c }

// Positive makes numbers unknown that are not more than 0.
//
//go:noinline
func (c Column[T]) Positive() Column[T] {
	return Column[T]{c.head, func(row T) Value { return c.value(row).positive() }}
}

// Natural makes negative numbers unknown.
//
//go:noinline
func (c Column[T]) Natural() Column[T] {
	return Column[T]{c.head, func(row T) Value { return c.value(row).natural() }}
}
