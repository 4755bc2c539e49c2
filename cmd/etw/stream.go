package main

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A stream prints the rows of a table as they come.
type stream struct {
	p       *printer
	columns []column
	widths  []int // of text: those of the columns, 0 of those that there is no room for
	begun   bool
	list    jsonList
}

func newStream(p *printer, columns ...column) *stream {
	return &stream{p: p, columns: columns, list: p.list()}
}

// row prints a row at once.
func (s *stream) row(cells ...string) error {
	if err := s.head(); err != nil {
		return err
	}
	var b []byte
	switch s.p.format {
	case formatJSON, formatJSONL:
		b = s.list.item(b)
		for i, c := range s.columns {
			b = append(b, "{,"[min(i, 1)])
			b = append(etw.AppendJSONString(b, c.name), ':')
			switch {
			case !c.number:
				b = etw.AppendJSONString(b, cells[i])
			case cells[i] == "":
				b = append(b, "null"...)
			default:
				b = append(b, cells[i]...)
			}
		}
		b = s.list.itemEnd(append(b, '}'))
	case formatCSV:
		for i, c := range s.columns {
			b = s.p.csv.cell(b, i > 0, []byte(cells[i]), c.number)
		}
		b = append(b, '\n')
	case formatMD:
		for _, cell := range cells {
			b = appendMarkdownCell(b, cell)
		}
		b = append(b, "|\n"...)
	default:
		b = s.line(cells)
	}
	if _, err := s.p.Write(b); err != nil {
		return err
	}
	return s.p.Flush()
}

// head prints what stands before the first row.
func (s *stream) head() error {
	if s.begun {
		return nil
	}
	s.begun = true
	t := newTable(s.columns...)
	switch s.p.format {
	case formatCSV:
		return t.csv(s.p)
	case formatMD:
		return t.markdown(s.p)
	case formatText:
		s.fit(s.p.width)
		_, err := s.p.Write(s.p.paint(nil, colorBold, strings.TrimRight(string(s.line(t.lines()[0])), "\n")))
		if err != nil {
			return err
		}
		return s.p.WriteByte('\n')
	}
	return nil
}

// streamWidth is how wide a column is for people if it does not say how much room it
// needs: of a stream nobody knows what comes.
const streamWidth = 11

// fit sets the widths of the columns. Those that can be spared are left out where they
// do not fit.
func (s *stream) fit(limit int) {
	s.widths = make([]int, len(s.columns))
	most, all := 0, -2
	for i, c := range s.columns {
		s.widths[i] = max(textWidth(c.heading()), cmp.Or(c.room, streamWidth))
		if c.head != "" { // it is known what stands there
			s.widths[i] = max(textWidth(c.heading()), c.room)
		}
		most, all = max(most, c.spare), all+s.widths[i]+2
	}
	for ; limit > 0 && all > limit && most > 0; most-- {
		for i, c := range s.columns {
			if c.spare == most {
				all, s.widths[i] = all-s.widths[i]-2, 0
			}
		}
	}
}

// gone returns the headings of the columns that were left out.
func (s *stream) gone() (list []string) {
	for i, width := range s.widths {
		if width == 0 {
			list = append(list, s.columns[i].heading())
		}
	}
	return list
}

// line aligns the cells of a row.
func (s *stream) line(cells []string) []byte {
	var b []byte
	for i, cell := range cells {
		if s.widths[i] == 0 {
			continue
		}
		cell = clean(cell)
		pad := strings.Repeat(" ", max(s.widths[i]-textWidth(cell), 0))
		if len(b) > 0 {
			b = append(b, "  "...)
		}
		switch {
		case s.columns[i].number:
			b = append(append(b, pad...), cell...)
		case i < len(cells)-1:
			b = append(append(b, cell...), pad...)
		default:
			b = append(b, cell...)
		}
	}
	return append(b, '\n')
}

// end prints what stands after the last row.
func (s *stream) end() error {
	if s.p.format == formatText && s.begun {
		s.p.leftOut(s.gone())
	}
	if s.p.format != formatJSON {
		return nil
	}
	_, err := s.p.Write(s.list.end(nil))
	return err
}
