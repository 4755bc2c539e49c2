package ship

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// tellCauses has activities that end say where their time went. Samples tell where threads
// slept, once their code has names; what is written as activities end needs them before.
// So that takes a pass of its own, where there are such samples and a trace can be read twice.
func tellCauses(a *requests.Analysis, cmd *cobra.Command, in *pick.Input, path string, t *trace.Trace) error {
	a.Tell()
	if path == trace.Stdin || !sampled(t) {
		return nil
	}
	var mux etw.Mux
	all, code := requests.New(&mux), frames.NewCodeMap(nil)
	all.NameBy(func(s *stacks.Samples) *stacks.Profile { return code.Below("", s) })
	err := readAgain(cmd, in, path, func(rec *etw.Record) error {
		// An event that does not fit its claim is counted where events are written.
		_ = code.Mux.Dispatch(rec)
		_ = mux.Dispatch(rec)
		return nil
	})
	if err != nil {
		return err
	}
	a.NamedBy(all)
	return nil
}

// sampled reports whether samples of a trace tell where threads slept.
func sampled(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Files(), func(f *trace.File) bool { return strings.HasPrefix(f.Format(), "nettrace") })
}

// readAgain makes a pass of its own over a trace, whose faults the other pass prints.
func readAgain(cmd *cobra.Command, in *pick.Input, path string, do func(*etw.Record) error) error {
	t, _, err := in.Open(cmd, []string{path}, false)
	if err != nil {
		return nil // the other pass says so
	}
	defer t.Close()
	return pick.Once(cmd, t, do)
}
