package code

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/each"
)

// recordings are the names in two recordings, across which numbers of processes and threads mean nothing.
// That of before is nil for samples of one of them alone.
type recordings struct{ before, after *pick.Names }

// of returns the names in the recording that a sample is of: it weighs something in one alone.
func (x *recordings) of(s stacks.Sample) *pick.Names {
	if x.before != nil && s.Values[0] != 0 {
		return x.before
	}
	return x.after
}

// process names the process of a sample.
func (x *recordings) process(s stacks.Sample) string {
	return cmp.Or(x.of(s).ProgramAt(s.Process, s.Time), "processes without a name")
}

// thread names the thread of a sample.
func (x *recordings) thread(s stacks.Sample) string {
	return cmp.Or(x.of(s).Threads[s.Thread], "threads without a name") + " of " + x.process(s)
}

// Prefixed puts a text before others.
func Prefixed(with string, list []string) []string {
	return each.Of(list, func(text string) string { return with + text })
}
