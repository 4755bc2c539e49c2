package pick

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Stream prints the rows of a table as they come.
type Stream struct {
	p       *show.Printer
	columns []show.Column
	widths  []int // of text: those of the columns, 0 of those that there is no room for
	begun   bool
	list    show.JsonList
}

// NewStream returns a stream of rows with these columns.
func NewStream(p *show.Printer, columns ...show.Column) *Stream {
	return &Stream{p: p, columns: columns, list: p.List()}
}

// Row prints a row at once.
func (s *Stream) Row(cells ...string) error {
	if err := s.head(); err != nil {
		return err
	}
	var b []byte
	switch s.p.Format {
	case show.FormatJSON, show.FormatJSONL:
		b = s.list.Item(b)
		for i, c := range s.columns {
			b = append(b, "{,"[min(i, 1)])
			b = append(etw.AppendJSONString(b, c.Name), ':')
			switch {
			case !c.Number:
				b = etw.AppendJSONString(b, cells[i])
			case cells[i] == "":
				b = append(b, "null"...)
			default:
				b = append(b, cells[i]...)
			}
		}
		b = s.list.ItemEnd(append(b, '}'))
	case show.FormatCSV:
		for i, c := range s.columns {
			b = s.p.CSV.Cell(b, i > 0, []byte(cells[i]), c.Number)
		}
		b = append(b, '\n')
	case show.FormatMD:
		for _, cell := range cells {
			b = show.AppendMarkdownCell(b, cell)
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

// head prints the text before the first row.
func (s *Stream) head() error {
	if s.begun {
		return nil
	}
	s.begun = true
	t := show.NewTable(s.columns...)
	switch s.p.Format {
	case show.FormatCSV:
		return t.CSV(s.p)
	case show.FormatMD:
		return t.Markdown(s.p)
	case show.FormatText:
		s.fit(s.p.Width)
		_, err := s.p.Write(s.p.Paint(nil, show.ColorBold, strings.TrimRight(string(s.line(t.Lines()[0])), "\n")))
		if err != nil {
			return err
		}
		return s.p.WriteByte('\n')
	}
	return nil
}

// streamWidth is how wide a column is for people if it does not say how much room it needs:
// nobody knows the next rows of a stream.
const streamWidth = 11

// fit sets the widths of the columns. Those that can be spared are left out where they
// do not fit.
func (s *Stream) fit(limit int) {
	s.widths = make([]int, len(s.columns))
	most, all := 0, -2
	for i, c := range s.columns {
		s.widths[i] = max(show.TextWidth(c.Heading()), cmp.Or(c.Room, streamWidth))
		if c.Head != "" { // it is known what stands there
			s.widths[i] = max(show.TextWidth(c.Heading()), c.Room)
		}
		most, all = max(most, c.Spare), all+s.widths[i]+2
	}
	for ; limit > 0 && all > limit && most > 0; most-- {
		for i, c := range s.columns {
			if c.Spare == most {
				all, s.widths[i] = all-s.widths[i]-2, 0
			}
		}
	}
}

// gone returns the headings of the columns that were left out.
func (s *Stream) gone() (list []string) {
	for i, width := range s.widths {
		if width == 0 {
			list = append(list, s.columns[i].Heading())
		}
	}
	return list
}

// line aligns the cells of a row.
func (s *Stream) line(cells []string) []byte {
	var b []byte
	for i, cell := range cells {
		if s.widths[i] == 0 {
			continue
		}
		cell = cli.Clean(cell)
		pad := strings.Repeat(" ", max(s.widths[i]-show.TextWidth(cell), 0))
		if len(b) > 0 {
			b = append(b, "  "...)
		}
		switch {
		case s.columns[i].Number:
			b = append(append(b, pad...), cell...)
		case i < len(cells)-1:
			b = append(append(b, cell...), pad...)
		default:
			b = append(b, cell...)
		}
	}
	return append(b, '\n')
}

// End prints the text after the last row.
func (s *Stream) End() error {
	if s.p.Format == show.FormatText && s.begun {
		s.p.LeftOut(s.gone())
	}
	if s.p.Format != show.FormatJSON {
		return nil
	}
	_, err := s.p.Write(s.list.End(nil))
	return err
}
