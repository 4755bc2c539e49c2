package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// stacksNow is how long threads are sampled for what they are doing now.
const stacksNow = 200 * time.Millisecond

// A nowMode shows where the managed threads of a live process are.
type nowMode struct {
	recordedMode
	*sampleCommand
}

// withThreads lets a command about call stacks show where the threads of a live process are.
func withThreads(c *sampleCommand) *cobra.Command {
	m := &nowMode{sampleCommand: c}
	files := c.RunE
	m.live.duration = stacksNow
	m.needs = c.of.needs
	m.recordedMode.check = c.check
	m.live.run = func(cmd *cobra.Command, _ *liveMode) error {
		return m.recorded(cmd, func(path string) error {
			if f := cmd.Flags(); f.Changed("of") || f.Changed("duration") {
				return files(cmd, []string{path})
			}
			return m.print(cmd, path)
		})
	}
	return m.recordedMode.add(c.Command)
}

// print prints the last stack of each thread.
func (m *nowMode) print(cmd *cobra.Command, path string) error {
	p, err := m.of.read(cmd, []string{path})
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
