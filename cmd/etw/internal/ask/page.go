package ask

import (
	"fmt"
	"strconv"

	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A page is what people see before a table: what is known of a few things, and
// small tables.
type page struct {
	*show.Printer
	names *pick.Names
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
	p.Prose(show.ColorBold, cli.Clean(text), 2)
}

// runtime begins what is said of a runtime in a process.
func (p *page) runtime(pid int64, clr uint16) {
	text := "process " + strconv.FormatInt(pid, 10)
	if name := p.names.Processes[pid]; name != "" {
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
		p.Prose("", fmt.Sprintf("  %-15s  %s", label, cli.Clean(text)), 19)
	}
}

// small prints a table between the facts.
func (p *page) small(t *show.Table) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintln(p)
	t.Small = true
	_ = t.Write(p.Printer) // its writer keeps the error
}

// seriesTable returns the buckets of what was added up over time: how often, and
// what, unless sum is empty.
func seriesTable(list []owned[*quantity.Series], who *pick.Names, sum string) *show.Table {
	columns := append(show.ProcessColumns(len(list) > 1), show.Moment("startMs"), show.Moment("endMs"), show.Counted("count"))
	if sum != "" {
		columns = append(columns, show.Measured(sum, 3))
	}
	t := show.NewTable(columns...)
	for _, s := range list {
		for i, n := range s.of.Counts {
			if n == 0 {
				continue
			}
			from := float64(i) * s.of.WidthMS
			row := append(who.ProcessCells(s.pid), show.Exact(from), show.Exact(from+s.of.WidthMS), show.Whole(n))
			if sum != "" {
				row = append(row, show.Exact(s.of.Sums[i]))
			}
			t.Add(row...)
		}
	}
	return t
}

// An owned is something of a process.
type owned[T any] struct {
	pid int64
	of  T
}
