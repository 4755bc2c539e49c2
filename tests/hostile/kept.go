package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// A keptTable counts by mutation and subject.
type keptTable map[string]map[*subject]*keptRow

// A keptRow is the outcome of one mutation of one subject.
type keptRow struct {
	executions, measured int
	kept                 float64 // sum of the shares that were kept
	foremost             int     // executions that left parts before the damage
	before               float64 // sum of the shares of these that were kept
	lossy                int     // executions that delivered fewer records
	unsaid               int     // of these, without a word of it
}

func (k keptTable) row(mutation string, s *subject) *keptRow {
	if k[mutation] == nil {
		k[mutation] = make(map[*subject]*keptRow)
	}
	r := k[mutation][s]
	if r == nil {
		r = new(keptRow)
		k[mutation][s] = r
	}
	return r
}

// A column is a format in the table: the mean over its files, each of which
// counts the same.
type column struct {
	format mutate.Format
	files  int
	kept   float64
	before float64 // of what is before the damage, all files together
	lossy  int
	unsaid int
}

func (k keptTable) column(mutation string, f mutate.Format) (c column) {
	c.format = f
	before, foremost := 0.0, 0
	for s, r := range k[mutation] {
		if s.Format != f {
			continue
		}
		c.lossy += r.lossy
		c.unsaid += r.unsaid
		before, foremost = before+r.before, foremost+r.foremost
		if r.measured > 0 {
			c.files++
			c.kept += r.kept / float64(r.measured)
		}
	}
	if c.files > 0 {
		c.kept /= float64(c.files)
	}
	if foremost > 0 {
		c.before = before / float64(foremost)
	}
	return c
}

// formats are the columns of the tables.
var formats = []mutate.Format{mutate.ETL, mutate.ETLCompressed, mutate.Netperf, mutate.Nettrace, mutate.Nettrace6, mutate.EVTX, mutate.Perf, mutate.PerfPacked}

// write writes two tables in Markdown: the kept records, and the losses that were not
// reported.
func (k keptTable) write(w io.Writer) {
	k.table(w, "Events of untouched buffers and blocks that were delivered, with identical bytes; of packed perf.data also of those before the damage", func(c column) string {
		switch {
		case c.files == 0:
			return ""
		case c.format == mutate.PerfPacked && c.before > 0: // what is behind unpacks by what is before
			return percent(c.kept) + ", " + percent(c.before)
		}
		return percent(c.kept)
	})
	k.table(w, "Losses that were not reported, of those there were", func(c column) string {
		if c.lossy == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d", c.unsaid, c.lossy)
	})
}

func (k keptTable) table(w io.Writer, title string, cell func(column) string) {
	fmt.Fprintf(w, "\n%s:\n\n| mutation |", title)
	for _, f := range formats {
		fmt.Fprintf(w, " %s |", f)
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---|", 1+len(formats)))
	for _, m := range mutate.Names() {
		if k[m] == nil {
			continue
		}
		fmt.Fprintf(w, "| %s |", m)
		for _, f := range formats {
			fmt.Fprintf(w, " %s |", cell(k.column(m, f)))
		}
		fmt.Fprintln(w)
	}
}

// percent never rounds up to all.
func percent(share float64) string {
	if share == 1 {
		return "100 %"
	}
	return fmt.Sprintf("%.2f %%", min(100*share, 99.99))
}
