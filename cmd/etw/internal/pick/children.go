package pick

import (
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// withChildren adds to the processes of h those that they began, and that these began.
func withChildren(cmd *cobra.Command, in *Input, paths []string, h *filter.Header) error {
	if slices.Contains(paths, trace.Stdin) {
		return cli.Usagef("--children: to find processes takes a pass of its own over the trace, and the standard input has only one")
	}
	t, _, err := in.Open(cmd, paths, false)
	if err != nil {
		return err
	}
	defer t.Close()
	var mux etw.Mux
	machine := system.Of(&mux)
	if err := Once(cmd, t, mux.Dispatch); err != nil {
		return err
	}
	list := machine.Result().Processes
	if !slices.ContainsFunc(list, func(p system.ProcessFacts) bool { return !p.ParentPID.IsZero() }) {
		cli.Report(cmd, errors.New("--children: the trace does not tell which process began which"))
	}
	addChildren(h, list, func(ms float64) int64 { return t.Start().UnixNano() + int64(math.Floor(ms*1e4+1e-3))*100 })
	return nil
}
