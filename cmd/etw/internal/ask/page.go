package ask

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A page is the text that people see before a table: facts about a few things, and small
// tables.
type page struct {
	*show.Printer
	names *pick.Names
	by    string // what the table is of that comes after
	begun bool
}

// fewRuntimes are so few that each is described in full.
const fewRuntimes = 3

// title begins the facts about one thing.
func (p *page) title(text string) {
	if p.begun {
		fmt.Fprintln(p)
	}
	p.begun = true
	p.Prose(show.ColorBold, cli.Clean(text), 2)
}

// runtime begins the facts about a runtime in a process.
func (p *page) runtime(pid int64, clr uint16) { p.program(pid, clr, "") }

// program is runtime of a process whose name may be known better than by its number.
func (p *page) program(pid int64, clr uint16, name string) {
	text := "process " + strconv.FormatInt(pid, 10)
	if pid < 0 {
		text = "a process whose number is not told"
	}
	if name = cmp.Or(name, p.names.Processes[pid]); name != "" {
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
