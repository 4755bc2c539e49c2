package html

import (
	"math"
	"strings"

	tables "github.com/etwgen/etwgen/analysis/table"
)

// show adds a table of the first rows of a view, unless it has none. Sums of a process and
// over time are said and drawn elsewhere.
func (s *section) show(v tables.View, texts *texts) {
	if v.Rows > 0 && (v.Name != "process" || texts.name != nil) && v.Name != "time" {
		s.Tables = append(s.Tables, tableOf(s.ID+"-"+v.Name, v, min(v.Rows, maxRows), texts))
	}
}

// showEach adds the tables of views.
func (s *section) showEach(list []tables.View, texts *texts) {
	for _, v := range list {
		s.show(v, texts)
	}
}

// showAll adds a table of all rows of a view, whose rows charts point to.
func (s *section) showAll(v tables.View, texts *texts) *table {
	t := tableOf(s.ID+"-"+v.Name, v, v.Rows, texts)
	s.Tables = append(s.Tables, t)
	return t
}

// tableOf makes a table of a view. It begins with the subject of the rows, and columns for
// programs are details of a row.
func tableOf(id string, v tables.View, rows int, texts *texts) *table {
	t := &table{ID: id, Title: v.Title, Lead: v.Lead, Sort: v.Order, rows: rows, texts: texts}
	for _, subject := range []bool{true, false} {
		for i := range v.Heads {
			h := &v.Heads[i]
			if h.Owner || h.Subject != subject || h.Kind == tables.Thread || h.Kind == tables.Process && texts.name == nil || v.Doubled(i) {
				continue
			}
			c := columnOf(v, i, rows, texts)
			if c.Detail && (rows > maxDetailed || !c.hasAny()) || h.Filled && v.Empty(i) {
				continue
			}
			if h.Moment && t.Time == "" {
				t.Time = h.Name
			}
			c.Share = h.Name == v.Order
			t.Columns = append(t.Columns, c)
		}
	}
	if rows > maxDetailed {
		t.Lead = "Details of each are left out, since there are so many."
	}
	cutOff(t, max(v.Rows, v.Listed.All))
	return t
}

// columnOf makes a column of that of a view.
func columnOf(v tables.View, i, rows int, texts *texts) *column {
	h := &v.Heads[i]
	c := &column{Key: h.Name, Label: h.Label, Unit: h.Unit, Help: h.Help, ID: h.ID, Precise: h.Precise, Detail: h.Audience == tables.Programs || h.Audience == tables.Details}
	if strings.Contains(strings.ToLower(c.Label), c.Unit) { // such as bytes sent
		c.Unit = ""
	}
	if !h.Number() {
		c.Texts = make([]int, rows)
		for row := range rows {
			x := v.At(row, i)
			text := x.Text()
			if h.Kind == tables.Process && text == "" {
				text = texts.name(x.Int())
			}
			c.Texts[row] = texts.id(text)
		}
		return c
	}
	c.Digits = h.Digits
	c.Numbers = &numbers{values: make([]float64, rows), digits: h.Digits}
	for row := range rows {
		f, ok := v.At(row, i).Float()
		if !ok {
			f = math.NaN()
		}
		c.Numbers.values[row] = f
	}
	return c
}
