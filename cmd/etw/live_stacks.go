package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// stacksNow is how long threads are sampled for what they are doing now.
const stacksNow = 200 * time.Millisecond

// A nowMode shows where the managed threads of a live process are.
type nowMode struct {
	recordedMode
	o    *profiling
	form *output
}

// add adds the flags to the command for traces.
func (m *nowMode) add(cmd *cobra.Command) *cobra.Command {
	files := cmd.RunE
	m.live.duration = stacksNow
	m.needs = m.o.needs
	m.check = func(cmd *cobra.Command) error { return cmp.Or(m.form.check(cmd), m.o.check()) }
	m.live.run = func(cmd *cobra.Command, _ *liveMode) error {
		return m.recorded(cmd, func(path string) error {
			if f := cmd.Flags(); f.Changed("of") || f.Changed("duration") {
				return files(cmd, []string{path})
			}
			return m.print(cmd, path)
		})
	}
	return m.recordedMode.add(cmd)
}

// print prints the last stack of each thread.
func (m *nowMode) print(cmd *cobra.Command, path string) error {
	p, err := m.o.read(cmd, []string{path})
	if err != nil {
		return err
	}
	last := make(map[int64]stacks.Sample)
	for s := range p.Samples() {
		if s.Time >= last[s.Thread].Time {
			s.Labels = slices.Clone(s.Labels)
			last[s.Thread] = s
		}
	}
	out := p.open(cmd, m.form)
	if out.format != formatText {
		return p.close(cmd, out, p.nowTable(last).write(out))
	}
	for _, thread := range slices.Sorted(maps.Keys(last)) {
		s := last[thread]
		title := p.names.ofThread(thread)
		if state := labelOf(s, "state"); state != "" {
			title += ", in " + state + " code"
		}
		fmt.Fprintf(out, "%s\n", out.paint(nil, colorBold, clean(title)))
		for _, name := range slices.Backward(p.frameNames(s.Stack)) {
			fmt.Fprintf(out, "  %s\n", clean(name))
		}
		fmt.Fprintln(out)
	}
	return p.close(cmd, out, nil)
}

// nowTable has a row for each thread.
func (p *profiled) nowTable(last map[int64]stacks.Sample) *table {
	t := newTable(idColumn("thread"), label("state"), label("stack"))
	for _, thread := range slices.Sorted(maps.Keys(last)) {
		s := last[thread]
		t.add(whole(thread), labelOf(s, "state"), strings.Join(p.frameNames(s.Stack), ";"))
	}
	return t
}

func labelOf(s stacks.Sample, key string) string {
	i := slices.IndexFunc(s.Labels, func(l stacks.Label) bool { return l.Key == key })
	if i < 0 {
		return ""
	}
	return s.Labels[i].Value
}

// needs returns what has to be recorded for the samples that --of names.
func (o *profiling) needs() []need.Need {
	i := slices.IndexFunc(samplings, func(s sampling) bool { return s.name == cmp.Or(o.of, samplings[0].name) })
	if i < 0 {
		return nil
	}
	return samplings[i].needs
}
