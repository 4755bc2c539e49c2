package ship

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// expositionForm exports counters and metrics: the last values, or all of them with their
// times.
func expositionForm(name string, history bool, suffixes ...string) exportForm {
	written := false
	return exportForm{
		name: name, suffixes: suffixes,
		check: func(o *exporting, cmd *cobra.Command) error {
			if o.path == "" {
				return cli.Usagef("--output says the file; - is the standard output")
			}
			return nil
		},
		file: func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
			if written {
				return cli.Usagef("--format %s: the counters of one trace are one file", name)
			}
			written = true
			return exposeFile(o, cmd, path, f, history)
		},
	}
}

// exposeFile writes the counters of a trace.
func exposeFile(o *exporting, cmd *cobra.Command, path string, f *trace.File, history bool) error {
	t, sel, err := o.chosen(cmd, path, f)
	if err != nil {
		return err
	}
	sel.Decoding = false
	var mux etw.Mux
	a := counters.New(&mux)
	trouble, err := o.take(cmd, t, sel, nil, func(rec *etw.Record, s *pick.Shot) error {
		return mux.Dispatch(rec)
	})
	if err != nil {
		return err
	}
	if err := sel.ReportNone(cmd); err != nil {
		return err
	}
	opts := prometheus.Options{OpenMetrics: history, History: history, Start: t.Start()}
	err = show.WritePage(cmd, o.path, []string{path}, func(w io.Writer) error { return prometheus.Write(w, a.Result(), opts) })
	if show.ReportLosses(cmd, t) {
		trouble = cli.ErrReported
	}
	return cmp.Or(err, trouble)
}
