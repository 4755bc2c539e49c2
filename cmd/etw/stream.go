package main

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A stream prints the rows of a table as they come.
type stream struct {
	p       *printer
	columns []column
	begun   bool
	list    jsonList
}

func newStream(p *printer, columns ...column) *stream {
	return &stream{p: p, columns: columns, list: jsonList{lines: p.format == formatJSONL}}
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
		_, err := s.p.Write(s.p.paint(nil, colorBold, strings.TrimRight(string(s.line(t.lines()[0])), "\n")))
		if err != nil {
			return err
		}
		return s.p.WriteByte('\n')
	}
	return nil
}

// streamWidth is how wide a column is for people: of a stream nobody knows what comes.
const streamWidth = 11

// line aligns the cells of a row.
func (s *stream) line(cells []string) []byte {
	var b []byte
	for i, cell := range cells {
		cell = clean(cell)
		pad := strings.Repeat(" ", max(streamWidth-textWidth(cell), 0))
		if i > 0 {
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
	if s.p.format != formatJSON {
		return nil
	}
	_, err := s.p.Write(s.list.end(nil))
	return err
}
