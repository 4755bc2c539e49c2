package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A column is one of a table.
type column struct {
	name   string // in JSON and CSV
	head   string // in text; the name in capitals if it is empty
	number bool   // aligned to the right; in JSON a number
	right  bool   // aligned to the right
	text   bool   // text for people alone: not in JSON and CSV
	data   bool   // for programs alone: not in text and Markdown
	rising bool   // sorted from the smallest number
	begin  bool   // what is too long is cut at its end
	spare  int    // left out where a table is too wide, those with more of it first
	room   int    // how many cells it has at least where rows are printed as they come

	measured bool // shown to people with this many decimals, or - if it is unknown
	digits   int
}

// word and num are columns of text and of numbers.
func word(name string) column { return column{name: name} }
func num(name string) column  { return column{name: name, number: true} }

// forPeople and forPrograms are columns that only some formats have.
func (c column) forPeople() column   { c.text = true; return c }
func (c column) forPrograms() column { c.data = true; return c }

// spared marks a column that people miss least where a table is too wide.
func (c column) spared(order int) column { c.spare = order; return c }

// roomy says how many cells most of what comes in a column of a stream takes.
func (c column) roomy(cells int) column { c.room = cells; return c }

// fromFirst says that numbers are sorted from the smallest, as points in time are.
func (c column) fromFirst() column { c.rising = true; return c }

// cutAtEnd marks a column of texts of which the begin says most.
func (c column) cutAtEnd() column { c.begin = true; return c }

// A table has rows of cells, and can be printed in every format.
type table struct {
	columns []column
	rows    [][]string
	plain   bool // in text without headings, and indented
	small   bool // it stands among facts: what was left out of it the table after it tells

	chosen string // which of how many the rows are, if it does not have all
}

func newTable(columns ...column) *table { return &table{columns: columns} }

// heading returns what stands above a column in text.
func (c column) heading() string {
	return cmp.Or(c.head, heading(c.name))
}

// add adds a row. A number that is not there is an empty cell.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// choose says that the rows are some of all, such as the longest, of each process.
func (t *table) choose(which string, listed, all int, what string, several bool) {
	switch {
	case listed >= all:
	case several:
		t.chosen = fmt.Sprintf("%d %s of each process, of %d %s", listed, which, all, what)
	default:
		t.chosen = fmt.Sprintf("%d %s of %d %s", listed, which, all, what)
	}
}

// write prints the table.
func (t *table) write(p *printer) error {
	switch p.format {
	case formatJSON, formatJSONL:
		return t.json(p)
	case formatCSV:
		return t.csv(p)
	}
	t.shown(func(c column) bool { return !c.data })
	for _, row := range t.rows {
		for i := range row {
			row[i] = clean(t.columns[i].shown(row[i]))
		}
	}
	if p.format == formatMD {
		return t.markdown(p)
	}
	return t.text(p)
}

// shown leaves out the other columns.
func (t *table) shown(keep func(column) bool) {
	for i := len(t.columns) - 1; i >= 0; i-- {
		if keep(t.columns[i]) {
			continue
		}
		t.columns = slices.Delete(t.columns, i, i+1)
		for j, row := range t.rows {
			t.rows[j] = slices.Delete(row, i, i+1)
		}
	}
}

// text prints columns that are aligned. The last one is not padded. A row that is
// too wide goes on in further lines.
func (t *table) text(p *printer) error {
	gone := t.narrow(p.width)
	lines := t.lines()
	folds := t.fold(lines, p.width)
	for n, row := range lines {
		for _, f := range folds {
			line := t.line(row, f)
			switch {
			case line == "" && f.indent > 0: // nothing to go on with
				continue
			case t.plain:
				line = "  " + line
			case n == 0:
				line = string(p.paint(nil, colorBold, line))
			}
			if _, err := p.WriteString(line + "\n"); err != nil {
				return err
			}
		}
	}
	if t.small {
		p.gone = append(p.gone, gone...)
	} else {
		p.leftOut(gone)
	}
	return nil
}

// leftOut says which columns a table does not have, and the small ones before it.
func (p *printer) leftOut(gone []string) {
	text := strings.Join(gone, ", ")
	if len(p.gone) > 0 {
		if text != "" {
			text += "; "
		}
		text += "of the table above " + strings.Join(p.gone, ", ")
	}
	if p.gone = nil; text != "" {
		p.prose(colorDim, "left out, for want of room: "+text+"; --wide shows all", 2)
	}
}

// line returns the part of a row that is in one line.
func (t *table) line(row []string, f fold) string {
	b := []byte(strings.Repeat(" ", f.indent))
	for k, width := range f.widths {
		i := f.from + k
		cell := row[i]
		if t.columns[i].begin && textWidth(cell) > width {
			cell = head(cell, width-1) + ellipsis
		}
		cell = shorten(cell, width)
		pad := strings.Repeat(" ", width-textWidth(cell))
		if t.columns[i].number || t.columns[i].right {
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

// lines returns the headings, if there are any, and the rows.
func (t *table) lines() [][]string {
	if t.plain {
		return t.rows
	}
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.heading()
	}
	return append([][]string{heads}, t.rows...)
}

// narrow leaves out columns that can be spared, until a table fits or none is left.
// Long texts need not fit: they are shortened. It returns the headings of what was
// left out.
func (t *table) narrow(limit int) (gone []string) {
	for limit > 0 && lineWidth(t.comfortable()) > limit {
		most := 0
		for _, c := range t.columns {
			most = max(most, c.spare)
		}
		if most == 0 {
			return gone
		}
		for _, c := range t.columns {
			if c.spare == most {
				gone = append(gone, c.heading())
			}
		}
		t.shown(func(c column) bool { return c.spare < most })
	}
	return gone
}

// comfortable returns the widths with which a table is read with ease.
func (t *table) comfortable() []int {
	widths := t.fit(t.lines(), 0)
	for i, c := range t.columns {
		if !c.number {
			widths[i] = min(widths[i], easyWidth)
		}
	}
	return widths
}

// easyWidth is room for the names of most providers and types.
const easyWidth = 36

// markdown prints a table as GitHub's dialect has it.
func (t *table) markdown(p *printer) error {
	var b []byte
	for _, c := range t.columns {
		b = appendMarkdownCell(b, c.name)
	}
	b = append(b, "|\n"...)
	for _, c := range t.columns {
		if c.number {
			b = append(b, "|--:"...)
		} else {
			b = append(b, "|---"...)
		}
	}
	b = append(b, "|\n"...)
	for _, row := range t.rows {
		for _, cell := range row {
			b = appendMarkdownCell(b, cell)
		}
		b = append(b, "|\n"...)
	}
	_, err := p.Write(b)
	return err
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`)

// appendMarkdownCell appends a cell of a row of a table of Markdown.
func appendMarkdownCell(b []byte, cell string) []byte {
	b = append(b, "| "...)
	b = append(b, markdownEscapes.Replace(clean(cell))...)
	return append(b, ' ')
}

// csv prints a record for each row.
func (t *table) csv(p *printer) error {
	t.shown(func(c column) bool { return !c.text })
	var b []byte
	for i, c := range t.columns {
		b = p.csv.cell(b, i > 0, []byte(c.name), false)
	}
	b = append(b, '\n')
	for _, row := range t.rows {
		for i, cell := range row {
			b = p.csv.cell(b, i > 0, []byte(cell), t.columns[i].number)
		}
		b = append(b, '\n')
	}
	_, err := p.Write(b)
	return err
}

// json prints an object for each row: as lines, or all in one document.
func (t *table) json(p *printer) error {
	t.shown(func(c column) bool { return !c.text })
	var b []byte
	l := p.list()
	for _, row := range t.rows {
		b = l.itemEnd(t.object(l.item(b), row))
	}
	_, err := p.Write(l.end(b))
	return err
}

// object appends a row as an object.
func (t *table) object(b []byte, row []string) []byte {
	for i, cell := range row {
		b = append(b, "{,"[min(i, 1)])
		b = etw.AppendJSONString(b, t.columns[i].name)
		b = append(b, ':')
		switch {
		case !t.columns[i].number:
			b = etw.AppendJSONString(b, cell)
		case cell == "":
			b = append(b, "null"...)
		default:
			b = append(b, cell...)
		}
	}
	return append(b, '}')
}

// A jsonList separates the objects of a list: as lines, or as the rows of a document, each
// in a line of its own.
type jsonList struct {
	lines bool
	about *about // what comes after the rows
	begun bool
}

// list returns what separates the objects of a list that is printed.
func (p *printer) list() jsonList { return jsonList{lines: p.format == formatJSONL, about: p.about} }

// item appends what comes before an object.
func (l *jsonList) item(b []byte) []byte {
	switch {
	case l.lines:
	case l.begun:
		b = append(b, ",\n"...)
	default:
		b = append(b, beginRows+"\n"...)
	}
	l.begun = true
	return b
}

// beginRows is what a document of rows begins with.
const beginRows = `{"schema":1,"rows":[`

// itemEnd appends what comes after an object.
func (l *jsonList) itemEnd(b []byte) []byte {
	if l.lines {
		return append(b, '\n')
	}
	return b
}

// end appends what comes after the last object.
func (l *jsonList) end(b []byte) []byte {
	switch {
	case l.lines:
		return b
	case l.begun:
		b = append(b, "\n],\n"...)
	default:
		b = append(b, beginRows+"],\n"...)
	}
	return append(l.about.append(b), "}\n"...)
}
