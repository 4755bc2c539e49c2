package show

import (
	"strconv"
	"strings"
	"unicode"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// The columns of analyses are called as in JSON, and measured: cells are exact, and
// rounded for people, who see a dash where a number is unknown.

// MSColumn and MBColumn are columns of times and sizes.
func MSColumn(name string) Column { return Measured(name, 3) }
func MBColumn(name string) Column { return Measured(name, 3) }

// Moment is a column of points in time, which are sorted from the first.
func Moment(name string) Column {
	c := Measured(name, 3)
	c.Rising = true
	return c
}

// Measured is a column of numbers with so many digits.
func Measured(name string, digits int) Column {
	return Column{Name: name, Head: Heading(name), Number: true, Measured: true, Digits: digits}
}

// Label is a column of texts.
func Label(name string) Column { return Column{Name: name, Head: Heading(name)} }

// IDColumn is a column of numbers that are names.
func IDColumn(name string) Column {
	return Column{Name: name, Head: Heading(name), Number: true, Rising: true}
}

// Heading returns the heading of a column that is called as in JSON: START MS for
// startMs.
func Heading(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}

// shown returns a measured cell as people see it.
func (c Column) shown(cell string) string {
	switch {
	case !c.Measured:
		return cell
	case cell == "":
		return "-"
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	return strconv.FormatFloat(v, 'f', c.Digits, 64)
}

// Exact, Maybe and Whole are the cells of numbers.
func Exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Maybe is the cell of a number that may be unknown.
func Maybe(f quantity.Float) string {
	if v, ok := f.Get(); ok {
		return Exact(v)
	}
	return ""
}

// Whole is the cell of a whole number.
func Whole[N int | int64 | uint64 | uint32 | uint16](n N) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}
