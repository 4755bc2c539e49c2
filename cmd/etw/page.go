package main

import (
	"fmt"
	"strconv"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// A page is what people see before a table: what is known of a few things, and
// small tables.
type page struct {
	*printer
	names *names
	by    string // what the table is of that comes after
	begun bool
}

// fewRuntimes are so few that each is described in full.
const fewRuntimes = 3

// title begins what is said of one thing.
func (p *page) title(text string) {
	if p.begun {
		fmt.Fprintln(p)
	}
	p.begun = true
	p.prose(colorBold, clean(text), 2)
}

// runtime begins what is said of a runtime in a process.
func (p *page) runtime(pid int64, clr uint16) {
	text := "process " + strconv.FormatInt(pid, 10)
	if name := p.names.processes[pid]; name != "" {
		text += " " + name
	}
	if clr != 0 {
		text += fmt.Sprintf(", runtime %d", clr)
	}
	p.title(text)
}

// line prints a fact, unless there is nothing to say.
func (p *page) line(label, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	if text != "" {
		p.prose("", fmt.Sprintf("  %-15s  %s", label, clean(text)), 19)
	}
}

// small prints a table between the facts.
func (p *page) small(t *table) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintln(p)
	t.small = true
	_ = t.write(p.printer) // its writer keeps the error
}

// seriesTable returns the buckets of what was added up over time: how often, and
// what, unless sum is empty.
func seriesTable(list []owned[*quantity.Series], who *names, sum string) *table {
	columns := append(processColumns(len(list) > 1), moment("startMs"), moment("endMs"), counted("count"))
	if sum != "" {
		columns = append(columns, measured(sum, 3))
	}
	t := newTable(columns...)
	for _, s := range list {
		for i, n := range s.of.Counts {
			if n == 0 {
				continue
			}
			from := float64(i) * s.of.WidthMS
			row := append(who.processCells(s.pid), exact(from), exact(from+s.of.WidthMS), whole(n))
			if sum != "" {
				row = append(row, exact(s.of.Sums[i]))
			}
			t.add(row...)
		}
	}
	return t
}

// An owned is something of a process.
type owned[T any] struct {
	pid int64
	of  T
}
