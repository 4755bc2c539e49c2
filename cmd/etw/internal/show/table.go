package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Column is one of a table.
type Column struct {
	_ [0]func() // never compared: arrays of columns would have code for that, 20 kB of etw

	Name   string // in JSON and CSV
	Head   string // in text; the name in capitals if it is empty
	Number bool   // aligned to the right; in JSON a number
	Right  bool   // aligned to the right
	Text   bool   // text for people alone: not in JSON and CSV
	Data   bool   // for programs alone: not in text and Markdown
	Rising bool   // sorted from the smallest number
	Begin  bool   // what is too long is cut at its end
	Spare  int    // left out where a table is too wide, those with more of it first
	Room   int    // how many cells it has at least where rows are printed as they come

	Measured bool // shown to people with this many decimals, or - if it is unknown
	Digits   int
}

// Word and num are columns of text and of numbers.
func Word(name string) Column { return Column{Name: name} }
func Num(name string) Column  { return Column{Name: name, Number: true} }

// ForPeople and forPrograms are columns that only some formats have.
func (c Column) ForPeople() Column   { c.Text = true; return c }
func (c Column) ForPrograms() Column { c.Data = true; return c }

// Spared marks a column that people miss least where a table is too wide.
func (c Column) Spared(order int) Column { c.Spare = order; return c }

// Roomy tells how many cells suffice for most values of a column in a stream.
func (c Column) Roomy(cells int) Column { c.Room = cells; return c }

// FromFirst says that numbers are sorted from the smallest, as points in time are.
func (c Column) FromFirst() Column { c.Rising = true; return c }

// CutAtEnd marks a column of texts of which the begin says most.
func (c Column) CutAtEnd() Column { c.Begin = true; return c }

// A Table has rows of cells, and can be printed in every format.
type Table struct {
	Columns []Column
	Rows    [][]string
	Plain   bool // in text without headings, and indented
	Small   bool // it stands among facts: what was left out of it the table after it tells

	Chosen string // which of how many the rows are, if it does not have all
}

// NewTable returns a table without rows.
func NewTable(columns ...Column) *Table { return &Table{Columns: columns} }

// Heading returns the text above a column in text.
func (c Column) Heading() string {
	return cmp.Or(c.Head, Heading(c.Name))
}

// Add adds a row. A number that is not there is an empty cell.
//
//go:noinline
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Choose says that the rows are some of all, such as the longest, of each process.
func (t *Table) Choose(which string, listed, all int, what string, several bool) {
	switch {
	case listed >= all:
	case several:
		t.Chosen = fmt.Sprintf("%d %s of each process, of %d %s", listed, which, all, what)
	default:
		t.Chosen = fmt.Sprintf("%d %s of %d %s", listed, which, all, what)
	}
}

// Write prints the table.
func (t *Table) Write(p *Printer) error {
	switch p.Format {
	case FormatJSON, FormatJSONL:
		return t.json(p)
	case FormatCSV:
		return t.CSV(p)
	}
	t.Shown(func(c Column) bool { return !c.Data })
	for _, row := range t.Rows {
		for i := range row {
			row[i] = cli.Clean(t.Columns[i].shown(row[i]))
		}
	}
	if p.Format == FormatMD {
		return t.Markdown(p)
	}
	return t.text(p)
}

// Shown leaves out the other columns.
func (t *Table) Shown(keep func(Column) bool) {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if keep(t.Columns[i]) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for j, row := range t.Rows {
			t.Rows[j] = slices.Delete(row, i, i+1)
		}
	}
}

// Text prints columns that are aligned. The last one is not padded. A row that is
// too wide goes on in further lines.
func (t *Table) text(p *Printer) error {
	gone := t.narrow(p.Width)
	lines := t.Lines()
	folds := t.fold(lines, p.Width)
	for n, row := range lines {
		for _, f := range folds {
			line := t.line(row, f)
			switch {
			case line == "" && f.indent > 0: // nothing to go on with
				continue
			case t.Plain:
				line = "  " + line
			case n == 0:
				line = string(p.Paint(nil, ColorBold, line))
			}
			if _, err := p.WriteString(line + "\n"); err != nil {
				return err
			}
		}
	}
	if t.Small {
		p.gone = append(p.gone, gone...)
	} else {
		p.LeftOut(gone)
	}
	return nil
}

// LeftOut says which columns a table does not have, and the small ones before it.
func (p *Printer) LeftOut(gone []string) {
	text := strings.Join(gone, ", ")
	if len(p.gone) > 0 {
		if text != "" {
			text += "; "
		}
		text += "of the table above " + strings.Join(p.gone, ", ")
	}
	if p.gone = nil; text != "" {
		p.Prose(ColorDim, "left out, for want of room: "+text+"; --wide shows all", 2)
	}
}

// line returns the part of a row that is in one line.
func (t *Table) line(row []string, f fold) string {
	b := []byte(strings.Repeat(" ", f.indent))
	for k, width := range f.widths {
		i := f.from + k
		cell := row[i]
		if t.Columns[i].Begin && TextWidth(cell) > width {
			cell = head(cell, width-1) + Ellipsis
		}
		cell = Shorten(cell, width)
		pad := strings.Repeat(" ", width-TextWidth(cell))
		if t.Columns[i].Number || t.Columns[i].Right {
			cell = pad + cell
		} else {
			cell += pad
		}
		if k > 0 {
			b = append(b, "  "...)
		}
		b = append(b, cell...)
	}
	return strings.TrimRight(string(b), " ")
}

// Lines returns the headings, if there are any, and the rows.
func (t *Table) Lines() [][]string {
	if t.Plain {
		return t.Rows
	}
	heads := each.Of(t.Columns, Column.Heading)
	return append([][]string{heads}, t.Rows...)
}

// narrow leaves out columns that can be spared, until a table fits or none is left. Long
// texts need not fit: they are shortened. It returns the headings of the columns left out.
func (t *Table) narrow(limit int) (gone []string) {
	for limit > 0 && lineWidth(t.comfortable()) > limit {
		most := 0
		for _, c := range t.Columns {
			most = max(most, c.Spare)
		}
		if most == 0 {
			return gone
		}
		for _, c := range t.Columns {
			if c.Spare == most {
				gone = append(gone, c.Heading())
			}
		}
		t.Shown(func(c Column) bool { return c.Spare < most })
	}
	return gone
}

// comfortable returns the widths with which a table is read with ease.
func (t *Table) comfortable() []int {
	widths := t.Fit(t.Lines(), 0)
	for i, c := range t.Columns {
		if !c.Number {
			widths[i] = min(widths[i], easyWidth)
		}
	}
	return widths
}

// easyWidth is room for the names of most providers and types.
const easyWidth = 36

// Markdown prints a table as GitHub's dialect has it.
func (t *Table) Markdown(p *Printer) error {
	var b []byte
	for _, c := range t.Columns {
		b = AppendMarkdownCell(b, c.Name)
	}
	b = append(b, "|\n"...)
	for _, c := range t.Columns {
		if c.Number {
			b = append(b, "|--:"...)
		} else {
			b = append(b, "|---"...)
		}
	}
	b = append(b, "|\n"...)
	for _, row := range t.Rows {
		for _, cell := range row {
			b = AppendMarkdownCell(b, cell)
		}
		b = append(b, "|\n"...)
	}
	_, err := p.Write(b)
	return err
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`)

// AppendMarkdownCell appends a cell of a row of a table of Markdown.
func AppendMarkdownCell(b []byte, cell string) []byte {
	b = append(b, "| "...)
	b = append(b, markdownEscapes.Replace(cli.Clean(cell))...)
	return append(b, ' ')
}

// CSV prints a record for each row.
func (t *Table) CSV(p *Printer) error {
	t.Shown(func(c Column) bool { return !c.Text })
	var b []byte
	for i, c := range t.Columns {
		b = p.CSV.Cell(b, i > 0, []byte(c.Name), false)
	}
	b = append(b, '\n')
	for _, row := range t.Rows {
		for i, cell := range row {
			b = p.CSV.Cell(b, i > 0, []byte(cell), t.Columns[i].Number)
		}
		b = append(b, '\n')
	}
	_, err := p.Write(b)
	return err
}

// json prints an object for each row: as lines, or all in one document.
func (t *Table) json(p *Printer) error {
	t.Shown(func(c Column) bool { return !c.Text })
	var b []byte
	l := p.List()
	for _, row := range t.Rows {
		b = l.ItemEnd(t.object(l.Item(b), row))
	}
	_, err := p.Write(l.End(b))
	return err
}

// object appends a row as an object.
func (t *Table) object(b []byte, row []string) []byte {
	for i, cell := range row {
		b = append(b, "{,"[min(i, 1)])
		b = etw.AppendJSONString(b, t.Columns[i].Name)
		b = append(b, ':')
		switch {
		case !t.Columns[i].Number:
			b = etw.AppendJSONString(b, cell)
		case cell == "":
			b = append(b, "null"...)
		default:
			b = append(b, cell...)
		}
	}
	return append(b, '}')
}

// A JsonList separates the objects of a list: as lines, or as the rows of a document, each
// in a line of its own.
type JsonList struct {
	Lines bool
	About *About // what comes after the rows
	begun bool
}

// List returns the separator of the objects of a list that is printed.
func (p *Printer) List() JsonList { return JsonList{Lines: p.Format == FormatJSONL, About: p.About} }

// Item appends the text before an object.
func (l *JsonList) Item(b []byte) []byte {
	switch {
	case l.Lines:
	case l.begun:
		b = append(b, ",\n"...)
	default:
		b = append(b, beginRows+"\n"...)
	}
	l.begun = true
	return b
}

// beginRows is the begin of a document of rows.
const beginRows = `{"schema":1,"rows":[`

// ItemEnd appends the text after an object.
func (l *JsonList) ItemEnd(b []byte) []byte {
	if l.Lines {
		return append(b, '\n')
	}
	return b
}

// End appends the text after the last object.
func (l *JsonList) End(b []byte) []byte {
	switch {
	case l.Lines:
		return b
	case l.begun:
		b = append(b, "\n],\n"...)
	default:
		b = append(b, beginRows+"],\n"...)
	}
	return append(l.About.append(b), "}\n"...)
}

// extent says how many rows are shown, if there are more.
func (t *Table) extent(shown, all int) string {
	switch {
	case t.Chosen != "" && shown < all:
		return fmt.Sprintf("%d of the %s; --top %d shows these", shown, t.Chosen, all)
	case t.Chosen != "":
		return "the " + t.Chosen
	case shown < all:
		return fmt.Sprintf("%d of %d rows; --top %[2]d shows all", shown, all)
	}
	return ""
}
