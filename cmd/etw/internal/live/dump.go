package live

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// dumpSuffix is that of files with a snapshot of a heap.
const dumpSuffix = ".gcdump"

// dump records until the heap was walked, and writes that as a snapshot.
func (c *collect) dump(cmd *cobra.Command, command []string, cfg eventpipe.Config) error {
	switch {
	case !wantsHeap(cfg.Providers):
		return cli.Usagef("--output %s: a .gcdump is a snapshot of the heap, which --profile heap records", c.path)
	case c.when != "" || c.ring.size != "":
		return cli.Usagef("--output %s: a .gcdump is one snapshot; --stop-when and --max-size are for .nettrace files", c.path)
	case len(command) > 0:
		return cli.Usagef("--output %s: a program that is just starting has no heap yet; record it with -p once it runs", c.path)
	}
	folder, err := os.MkdirTemp("", "etw")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	m := &recordedMode{live: liveMode{target: c.target, duration: cmp.Or(c.duration, time.Minute), bufferMB: cfg.BufferMB}, enough: snapshotEnds()}
	trace, err := m.record(cmd, folder, cfg.Providers)
	if err != nil {
		return err
	}
	heap := ask.NewHeap().Command()
	heap.SetContext(cmd.Context())
	heap.SetOut(cmd.OutOrStdout())
	heap.SetErr(cmd.ErrOrStderr())
	if err := heap.Flags().Set("output", c.path); err != nil {
		return err
	}
	return heap.RunE(heap, []string{trace})
}
