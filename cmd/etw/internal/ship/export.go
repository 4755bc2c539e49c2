package ship

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/trace"
)

// An exportForm is a form that events are exported in, as --format names it.
type exportForm struct {
	name string
	// unordered says that events may come in the order of the file, which takes no
	// memory where a trace has none.
	unordered bool
	// flags defines the flags that came with the form, and own names all that it has
	// beside those of every form.
	flags func(o *exporting, cmd *cobra.Command)
	own   []string
	// check reads the flags, before any trace is opened.
	check func(o *exporting, cmd *cobra.Command) error
	// file exports one trace, of several that path may hold.
	file func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error
	// within runs what exports all the traces, with the output open; it may be nil.
	within func(o *exporting, cmd *cobra.Command, args []string, run func() error) error
}

// exportForms are the forms, the first of which is the default.
var exportForms = []exportForm{parquetForm, otlpForm, prometheusForm, openMetricsForm}

// An exporting holds the flags of the command.
type exporting struct {
	in   pick.Input
	sel  pick.Selection
	to   string
	path string // of --output
	form *exportForm

	lake lakeExport
	otlp telemetryExport
}

// NewExport returns the command that writes events for other systems.
func NewExport() *cobra.Command {
	o := new(exporting)
	var names []string
	for _, f := range exportForms {
		names = append(names, f.name)
	}
	cmd := &cobra.Command{
		Use:   "export [flags] -o OUTPUT TRACE...",
		Short: "Write events with all their fields for other systems",
		Long: `Export writes the events of traces, with types and all fields, for systems that keep
and query many of them.

As parquet the output is a folder, a lake of Parquet files, which DuckDB, Spark and
others read: for each type of event and each trace a file in a folder
event=PROVIDER.EVENT/host=HOST, all versions of the event together. What is in which
file, and what the trace lacks, is in a file of the folder _traces, which is written
last. A trace that is exported again replaces its files.

As otlp events become log records of OpenTelemetry, counters and pauses for collections
metrics, and activities with ids of W3C trace context spans: lines of JSON in the file
--output, which a collector's otlpjsonfile receiver reads, or by HTTP to the collector at
--endpoint. A collector that is busy is waited for.

As prometheus the last values of counters and metrics are a file for the textfile
collector of Prometheus' node exporter, as openmetrics it is all values with their times,
of one trace.

Each trace is exported by itself, and trouble with one keeps none of the others. A
line for each says what became of it, beginning with the exit code that it would have
alone; the exit code is the largest.`,
		Example: `  etw export --format parquet -o lake gc.nettrace
  etw export --format parquet -o lake --tables gcs,allocs,samples alloc.nettrace
  etw export --format parquet -o lake --host web1 --continue gc.nettrace jit.nettrace
  etw export --format parquet -o lake -e 'GC*' gc.nettrace
  etw export --format otlp -o gc.otlp.jsonl gc.nettrace
  etw export --format prometheus -o - counters-10.nettrace`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, o.to)
			if i < 0 {
				return cli.Usagef("--format %s: there are %s%s", o.to, strings.Join(names, ", "), cli.DidYouMean(o.to, names))
			}
			o.form = &exportForms[i]
			return o.main(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.to, "format", "f", names[0], "write this `FORMAT`: "+strings.Join(names, ", "))
	f.StringVarP(&o.path, "output", "o", "", "write to this `place`: the folder of the lake, or the file")
	for _, form := range exportForms {
		form.flags(o, cmd)
	}
	o.sel.Flags(cmd)
	o.in.AttributeFlag(cmd)
	o.in.ManifestFlag(cmd)
	o.in.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"format": cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)})
	return cmd
}

// main exports the traces, one by one.
func (o *exporting) main(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(o.checkFlags(cmd), o.form.check(o, cmd)); err != nil {
		return err
	}
	if _, err := o.sel.Selector(nil); err != nil { // before anything is written
		return err
	}
	opts, err := o.in.Options(cmd)
	if err != nil {
		return err
	}
	if o.form.unordered && o.sel.To == "" { // whose end is known by the order
		opts = append(opts, trace.WithFileOrder())
	}
	run := func() error { return o.each(cmd, args, opts) }
	if o.form.within != nil {
		return o.form.within(o, cmd, args, run)
	}
	return run()
}

// each exports each trace. Flags that make no sense for one of them may do for others.
func (o *exporting) each(cmd *cobra.Command, args []string, opts []trace.Option) error {
	var senseless, trouble error
	for _, path := range args {
		err := pick.EachFile(cmd, []string{path}, opts, func(f *trace.File) error {
			err := o.form.file(o, cmd, path, f)
			if !isUsage(err) {
				return err
			}
			if senseless == nil {
				senseless = err
			} else {
				cli.Report(cmd, err)
			}
			return nil
		})
		if err != nil && err != cli.ErrReported {
			return err
		}
		trouble = cmp.Or(trouble, err)
	}
	return cmp.Or(senseless, trouble)
}

// checkFlags refuses flags that only other forms have.
func (o *exporting) checkFlags(cmd *cobra.Command) error {
	for _, form := range exportForms {
		for _, name := range form.own {
			if !cmd.Flags().Changed(name) || slices.Contains(o.form.own, name) {
				continue
			}
			var with []string
			for _, f := range exportForms {
				if slices.Contains(f.own, name) {
					with = append(with, f.name)
				}
			}
			return cli.Usagef("--%s does nothing with --format %s: it is for %s", name, o.form.name, strings.Join(with, " and "))
		}
	}
	return nil
}

// isUsage reports whether an error is of a command line that makes no sense.
func isUsage(err error) bool {
	var usage *cli.UsageError
	return errors.As(err, &usage)
}
