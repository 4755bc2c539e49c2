package live

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// stacksNow is how long threads are sampled for their present stacks.
const stacksNow = 200 * time.Millisecond

// A nowMode shows where the managed threads of a live process are.
type nowMode struct {
	recordedMode
	*code.Top
}

// stacksNow shows where the threads of the process are, or with --duration or --of the call
// stacks that were recorded.
func (m *topMode) stacksNow(cmd *cobra.Command) error {
	now := &nowMode{recordedMode{live: m.live, needs: m.Needs, check: m.checkFlags}, m.Top}
	given := cmd.Flags().Changed
	if !given("duration") {
		now.live.duration = stacksNow
	}
	return now.recorded(cmd, func(path string) error {
		if given("of") || given("duration") {
			return m.files(cmd, []string{path})
		}
		return now.print(cmd, path)
	})
}

// print prints the last stack of each thread.
func (m *nowMode) print(cmd *cobra.Command, path string) error {
	p, err := m.Read(cmd, []string{path})
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
	out := p.Open(cmd, &m.Out)
	if out.Format != show.FormatText {
		return p.Close(cmd, out, p.NowTable(last).Write(out))
	}
	for _, thread := range slices.Sorted(maps.Keys(last)) {
		s := last[thread]
		title := p.Names.OfThread(thread)
		if state := code.LabelOf(s, "state"); state != "" {
			title += ", in " + state + " code"
		}
		fmt.Fprintf(out, "%s\n", out.Paint(nil, show.ColorBold, cli.Clean(title)))
		for _, name := range slices.Backward(p.FrameNames(s.Stack)) {
			fmt.Fprintf(out, "  %s\n", cli.Clean(name))
		}
		fmt.Fprintln(out)
	}
	return p.Close(cmd, out, nil)
}
