package html

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/analysis/measure"
)

// maxRows is how many rows a table has, but for that of collections. More would make
// pages slow to open, and nobody reads them.
const maxRows = 2000

// A table is a table of a page, column by column. The script of the page shows it in
// parts, sorts and filters it.
type table struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Lead    string    `json:"lead,omitempty"`
	Sort    string    `json:"sort,omitempty"` // key of the column that it is sorted by, the largest first
	Time    string    `json:"time,omitempty"` // key of the column with times in the trace, which charts limit
	Columns []*column `json:"columns"`
	Grids   []*grid   `json:"grids,omitempty"`
	Frames  []int     `json:"frames,omitempty"` // of a call tree, if the rows follow what it shows
	Last    []int     `json:"last,omitempty"`   // rows that come last, whatever number is sorted by
	Parted  *parted   `json:"parted,omitempty"`
	rows    int
	texts   *texts
}

// A parted is a bar in each row, which shows the parts of its numbers.
type parted struct {
	Label string    `json:"l"`
	Of    []partOne `json:"of"`
}

// A partOne is a column of numbers as a part of a bar.
type partOne struct {
	Key   string `json:"k"`
	Color string `json:"c"`
}

// A column describes its numbers or texts.
type column struct {
	Key    string `json:"k"`
	Label  string `json:"l"`
	Unit   string `json:"u,omitempty"`
	Help   string `json:"h,omitempty"`
	Digits int    `json:"d,omitempty"` // after the point
	// Share says that a bar shows how large each number is. Detail columns show only
	// when a row is opened.
	Share  bool `json:"share,omitempty"`
	Detail bool `json:"detail,omitempty"`
	// Precise says that the numbers are of all sizes: three digits are shown that count.
	Precise bool `json:"p,omitempty"`
	// ID says that the numbers are names, such as those of threads.
	ID      bool     `json:"id,omitempty"`
	Numbers *numbers `json:"n,omitempty"`
	Texts   []int    `json:"t,omitempty"` // their numbers in the list of all
}

// numbers are numbers that may be unknown.
type numbers struct {
	values []float64 // NaN is unknown
	digits int
}

// MarshalJSON implements json.Marshaler.
func (n *numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(n.values)+2)
	b = append(b, '[')
	for i, v := range n.values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v, n.digits)
	}
	return append(b, ']'), nil
}

// appendNumber appends v with at most some digits after the point; null if it is
// unknown.
func appendNumber(b []byte, v float64, digits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	mark := len(b)
	b = strconv.AppendFloat(b, v, 'f', digits, 64)
	if digits > 0 {
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
		if b[len(b)-1] == '.' {
			b = b[:len(b)-1]
		}
	}
	if string(b[mark:]) == "-0" {
		b = append(b[:mark], '0')
	}
	return b
}

// orNaN returns the number, or NaN if it is unknown.
func orNaN(f measure.Float) float64 { return f.Or(nan) }

// A grid is a table within each row of a table: so many rows and columns for each.
type grid struct {
	Title   string    `json:"title"`
	Rows    []string  `json:"rows"`
	Columns []*column `json:"columns"` // Numbers have all rows of the first row of the table, then those of the next
}

// texts are the texts of a page, each once, as it shows them.
type texts struct {
	ids  map[string]int
	list []string
	name func(pid int64) string // of processes, where rows are of several; else nil
}

// emptyText is the number of the empty text.
const emptyText = 0

func newTexts() *texts { return &texts{ids: map[string]int{"": emptyText}, list: []string{""}} }

// id returns the number of a text.
func (t *texts) id(s string) int {
	if id, ok := t.ids[s]; ok {
		return id
	}
	id := len(t.list)
	t.ids[s] = id
	t.list = append(t.list, clean(s))
	return id
}

// MarshalJSON implements json.Marshaler.
func (t *texts) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.list)
}

// shown returns the rows of a table that a page has.
func shown[R any](rows []R) []R { return rows[:min(len(rows), maxRows)] }

// num adds a column of numbers.
//
//go:noinline
func num[R any](t *table, rows []R, c column, value func(R) float64) {
	n := &numbers{values: make([]float64, len(rows)), digits: c.Digits}
	for i, r := range rows {
		n.values[i] = value(r)
	}
	c.Numbers = n
	t.rows = len(rows)
	t.Columns = append(t.Columns, &c)
}

// word adds a column of texts.
func word[R any](t *table, rows []R, c column, text func(R) string) {
	c.Texts = make([]int, len(rows))
	for i, r := range rows {
		c.Texts[i] = t.texts.id(text(r))
	}
	t.rows = len(rows)
	t.Columns = append(t.Columns, &c)
}

// cutOff says how many rows a table lacks.
func cutOff(t *table, all int) {
	if all > t.rows {
		if t.Lead != "" {
			t.Lead += " "
		}
		t.Lead += "The first " + grouped(float64(t.rows), 0) + " of " + grouped(float64(all), 0) + " are listed."
	}
}

// hasAny reports whether a column has anything.
func (c *column) hasAny() bool {
	if c.Numbers != nil {
		return slices.ContainsFunc(c.Numbers.values, func(v float64) bool { return v == v })
	}
	for i := range c.Texts {
		if c.Texts[i] != c.Texts[0] {
			return true
		}
	}
	return len(c.Texts) > 0 && c.Texts[0] != emptyText
}
