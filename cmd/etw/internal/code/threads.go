package code

import (
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/trace"
)

// A threadChoice holds the flags about threads.
type threadChoice struct {
	only []string
	of   *trace.Part // that the traces are, or nil
	show bool
}

// given reports whether threads were asked for, or the traces are a part by threads.
func (c *threadChoice) given() bool { return len(c.only) > 0 || c.of != nil && c.of.Threads != "" }

func (c *threadChoice) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.show, "threads", false, "begin each stack with its thread")
	if f.Lookup("tid") != nil { // of a command that chooses events by it
		return
	}
	f.StringArrayVar(&c.only, "tid", nil, "only samples of this `THREAD`: its number, numbers such as 4,1000-1999, its name or\na pattern of names; repeatable")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"tid": cobra.NoFileCompletions})
}

// check reports arguments that are neither a number nor a name.
func (c *threadChoice) check() error {
	_, _, err := pick.ParseNamed("tid", c.only)
	return err
}

// checkMet returns an error if the traces have no thread that was asked for.
func (c *threadChoice) checkMet(cmd *cobra.Command, in *pick.Input, paths []string) error {
	numbers, patterns, err := pick.ParseNamed("tid", c.only)
	if err != nil || len(patterns) > 0 {
		return err
	}
	return pick.CheckMet(cmd, in, paths, &filter.Header{Threads: numbers})
}

// chosen returns a function that tells the threads that were asked for.
func (c *threadChoice) chosen(names *pick.Names) (func(thread int64) bool, error) {
	numbers, patterns, err := pick.ParseNamed("tid", c.only)
	var all filter.Numbers
	if c.of != nil && c.of.Threads != "" {
		all, _ = filter.ParseNumbers(c.of.Threads, math.MaxInt64)
	}
	return func(thread int64) bool {
		return all.Has(thread) && (len(c.only) == 0 || len(numbers) > 0 && numbers.Has(thread) ||
			slices.ContainsFunc(patterns, func(g filter.Glob) bool { return g.Match(names.Threads[thread]) }))
	}, err
}

// shape leaves the samples of the threads that were asked for, and puts threads on stacks.
func (c *threadChoice) shape(p *Profiled) error {
	if c.given() {
		has, err := c.chosen(p.Names)
		if err != nil {
			return err
		}
		p.Profile = p.Only(func(s stacks.Sample) bool { return has(s.Thread) })
	}
	if c.show {
		p.Profile = p.By(p.ofThread())
	}
	return nil
}

// ofThread returns a function that names the thread of a sample: with its process, where there are
// several, or several had threads of the number. Across recordings it has no number.
func (p *Profiled) ofThread() func(stacks.Sample) string {
	if p.across != nil {
		return p.across.thread
	}
	owner, several, processes := make(map[int64]int64), make(map[int64]bool), make(map[int64]bool)
	for _, x := range p.Parts() {
		processes[x.Process] = true
		first, met := owner[x.Thread]
		if !met {
			owner[x.Thread] = x.Process
		}
		several[x.Thread] = several[x.Thread] || met && first != x.Process || p.Names.Life(x.Process) > 0
	}
	return func(s stacks.Sample) string {
		name := p.Names.OfThread(s.Thread)
		if several[s.Thread] || len(processes) > 1 && s.Process >= 0 {
			name += " of " + p.Names.OfProcessAt(s.Process, s.Time)
		}
		return name
	}
}
