package main

import (
	"strconv"
	"strings"
	"unicode"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// The columns of analyses are called as in JSON, and measured: cells are exact, and
// rounded for people, who see a dash where a number is unknown.

// msColumn, mbColumn and counted are columns of times, sizes and whole numbers.
func msColumn(name string) column { return measured(name, 3) }
func mbColumn(name string) column { return measured(name, 3) }
func counted(name string) column  { return measured(name, 0) }

// moment is a column of points in time, which are sorted from the first.
func moment(name string) column {
	c := measured(name, 3)
	c.rising = true
	return c
}

func measured(name string, digits int) column {
	return column{name: name, head: heading(name), number: true, measured: true, digits: digits}
}

// label is a column of texts.
func label(name string) column { return column{name: name, head: heading(name)} }

// idColumn is a column of numbers that are names.
func idColumn(name string) column {
	return column{name: name, head: heading(name), number: true, rising: true}
}

// heading returns the heading of a column that is called as in JSON: START MS for
// startMs.
func heading(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}

// forPeople returns a measured cell as people see it.
func (c column) shown(cell string) string {
	switch {
	case !c.measured:
		return cell
	case cell == "":
		return "-"
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	return strconv.FormatFloat(v, 'f', c.digits, 64)
}

// num, maybe and whole are the cells of numbers.
func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func maybe(f quantity.Float) string {
	if v, ok := f.Get(); ok {
		return exact(v)
	}
	return ""
}

func whole[N int | int64 | uint64 | uint32 | uint16](n N) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}
