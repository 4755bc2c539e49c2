package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// prometheusForm and openMetricsForm export counters and metrics: the last values, and all
// of them with their times.
var (
	prometheusForm  = expositionForm("prometheus", false)
	openMetricsForm = expositionForm("openmetrics", true)
)

func expositionForm(name string, history bool) exportForm {
	written := false
	return exportForm{
		name:  name,
		flags: func(*exporting, *cobra.Command) {},
		check: func(o *exporting, cmd *cobra.Command) error {
			if o.path == "" {
				return usagef("--output says the file; - is the standard output")
			}
			return nil
		},
		file: func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
			if written {
				return usagef("--format %s: the counters of one trace are one file", name)
			}
			written = true
			return exposeFile(o, cmd, path, f, history)
		},
	}
}

// exposeFile writes the counters of a trace.
func exposeFile(o *exporting, cmd *cobra.Command, path string, f *trace.File, history bool) error {
	known, err := readManifests(cmd, o.in.manifests)
	if err != nil {
		return err
	}
	sel, err := o.sel.selector(known)
	if err != nil {
		return err
	}
	sel.decoding = false
	t := trace.Merge(f)
	sel.resolve(t)
	var mux etw.Mux
	a := counters.New(&mux)
	r := &reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), nil), share: f.Progress}
	trouble := r.each(t, func(rec *etw.Record) error {
		s, err := sel.take(rec, t.Elapsed(rec))
		if s == nil || err != nil {
			return err
		}
		return mux.Dispatch(rec)
	})
	if trouble != nil && trouble != errReported || cmd.Context().Err() != nil {
		return cmp.Or(trouble, cmd.Context().Err())
	}
	if err := sel.reportNone(cmd); err != nil {
		return err
	}
	opts := prometheus.Options{OpenMetrics: history, History: history, Start: t.Start()}
	err = writePage(cmd, o.path, []string{path}, func(w io.Writer) error { return prometheus.Write(w, a.Result(), opts) })
	if reportLosses(cmd, t) {
		trouble = errReported
	}
	return cmp.Or(err, trouble)
}
