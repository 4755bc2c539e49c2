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

// ms, mb and percentOf are numbers in sentences.
func ms(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + " ms" }
func mb(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " MB" }

// msOf and mbOf are of numbers that may be unknown.
func msOf(f quantity.Float) string { return known(f, ms) }
func mbOf(f quantity.Float) string { return known(f, mb) }

func percentOf(f quantity.Float) string {
	return known(f, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " %" })
}

func known(f quantity.Float, show func(float64) string) string {
	if v, ok := f.Get(); ok {
		return show(v)
	}
	return "-"
}

// count returns a number of things, with the plural of their name.
func count[N int | int64 | uint64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + several
}

// spread says in one line how numbers in milliseconds are distributed.
func spread(s *quantity.Summary) string {
	if s.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%s in all; mean %s, median %s, p95 %s, p99 %s, longest %s",
		ms(s.Total), msOf(s.Mean), msOf(s.P50), msOf(s.P95), msOf(s.P99), msOf(s.Max))
}
