package ship

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An exportForm is a form that traces are exported in, as --format names it.
type exportForm struct {
	name string
	// suffixes of files name the form, if --format does not.
	suffixes []string
	// unordered says that events may come in the order of the file, which takes no
	// memory where a trace has none.
	unordered bool
	// flags defines the flags that came with the form, and own names all that it has
	// beside those of every form.
	flags func(o *exporting, cmd *cobra.Command)
	own   []string
	// whole exports all traces as one. Without it the events of each are exported, by check
	// and file.
	whole func(o *exporting, cmd *cobra.Command, args []string) error
	// check reads the flags, before any trace is opened.
	check func(o *exporting, cmd *cobra.Command) error
	// file exports one trace, of several that path may hold.
	file func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error
	// within runs the export of all traces, with the output open; it may be nil.
	within func(o *exporting, cmd *cobra.Command, args []string, run func() error) error
}

// exportForms returns the forms, the first of which is the default.
func exportForms() []exportForm {
	return slices.Concat([]exportForm{parquetForm, otlpForm, expositionForm("prometheus", false, ".prom"), expositionForm("openmetrics", true), pcapngForm, chromeForm, firefoxForm()}, profileForms(), eventForms())
}

// eventFlags choose events, and say how they are decoded.
var eventFlags = []string{"provider", "event", "id", "children", "tid", "level", "keywords", "where", "manifest", "no-attribute"}

// allows reports whether a flag does something with the form.
func (f *exportForm) allows(flag string) bool {
	return slices.Contains(f.own, flag) || f.whole == nil && slices.Contains(eventFlags, flag)
}

// An exporting holds the flags of the command.
type exporting struct {
	in    pick.Input
	sel   pick.Selection
	to    string
	path  string // of --output
	forms []exportForm
	form  *exportForm

	lake      lakeExport
	otlp      telemetryExport
	profiling code.Profiling
}

// chosen returns the trace of one file, and which of its events are exported.
func (o *exporting) chosen(cmd *cobra.Command, path string, f *trace.File) (*trace.Trace, *pick.Selector, error) {
	sel, err := o.sel.Of(cmd, &o.in, []string{path})
	if err != nil {
		return nil, nil, err
	}
	t := trace.Merge(f)
	sel.Resolve(t)
	return t, sel, nil
}

// take calls do for the events that are exported, and gives all of them to the tables, which are
// nil if there are none. Trouble is with parts of the trace: the rest is good.
func (o *exporting) take(cmd *cobra.Command, t *trace.Trace, sel *pick.Selector, tables *tableReader, do func(*etw.Record, *pick.Shot) error) (trouble, err error) {
	r := &pick.Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress}
	source := etw.Source(t)
	if tables != nil {
		source = tables.source
	}
	trouble = r.Each(source, func(rec *etw.Record) error {
		s, err := sel.Take(rec, t.Elapsed(rec))
		if s != nil && err == nil {
			err = do(rec, s)
		}
		if tables != nil && err == nil {
			err = tables.take(rec)
		}
		return err
	})
	if trouble != nil && !errors.Is(trouble, cli.ErrReported) || cmd.Context().Err() != nil {
		return nil, cmp.Or(trouble, cmd.Context().Err())
	}
	return trouble, nil
}

const exportLong = `Export writes traces for other systems and tools: events with types and all fields,
counters, or the samples of call stacks. The format is that of --format, or of the suffix
of the file:

  parquet      a lake of Parquet files, which DuckDB, Spark and others read: docs/lake.md
  otlp         log records, metrics and spans of OpenTelemetry, to a file of lines, or to
               the collector at --endpoint: docs/telemetry.md
  prometheus   the last values of counters and metrics, for the textfile collector
  openmetrics  all values of counters and metrics with their times, of one trace
  pcapng       the packets of netsh and pktmon, for Wireshark, each with its process
  chrome       events over time, with call stacks of samples, for https://ui.perfetto.dev
  firefox      samples with other events, for https://profiler.firefox.com
  pprof        samples of call stacks, for go tool pprof; lines where --symbols has PDBs
  speedscope   the same for https://www.speedscope.app
  folded       the same as folded stacks; as otlp-profile for OpenTelemetry (.otlp)
  csv          events as etw dump prints them, a file for each type; so do json and jsonl

--of chooses the samples. Of chrome and those after it all traces together are one;
otherwise each trace is exported by itself, with a line that begins with its own exit code; the
largest is that of all.`

// NewExport returns the command that writes traces for other systems.
func NewExport() *cobra.Command {
	o := &exporting{forms: exportForms()}
	names := each.Of(o.forms, func(f exportForm) string { return f.name })
	cmd := &cobra.Command{
		Use:   "export [flags] -o OUTPUT TRACE...",
		Short: "Write events, profiles and counters for other systems and tools",
		Long:  exportLong,
		Example: `  etw export --format parquet -o lake gc.nettrace
  etw export --format parquet -o lake --host web1 --continue gc.nettrace jit.nettrace
  etw export -o cpu.pb.gz cpu.nettrace && test -s cpu.pb.gz
  etw export --format folded --of allocs --names short alloc.nettrace`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.findForm(names); err != nil {
				return err
			}
			return o.main(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.to, "format", "f", "", "write this `FORMAT`: "+strings.Join(names, ", ")+";\nif it is left out, that of the file's suffix, or "+names[0])
	f.StringVarP(&o.path, "output", "o", "", "write to this `place`: the folder of the lake, or the file")
	for _, form := range o.forms {
		if form.flags != nil {
			form.flags(o, cmd)
		}
	}
	o.sel.Flags(cmd)
	o.profiling.FrameFlags(cmd)
	o.in.AttributeFlag(cmd)
	o.in.ManifestFlag(cmd)
	o.in.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"format": cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)})
	return cmd
}

// findForm finds the form that the flags name.
func (o *exporting) findForm(names []string) error {
	named := slices.IndexFunc(o.forms, func(f exportForm) bool {
		return slices.ContainsFunc(f.suffixes, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(o.path), suffix) })
	})
	i := max(named, 0)
	switch {
	case o.to != "":
		i = slices.Index(names, o.to)
	case named < 0 && filepath.Ext(o.path) != "": // a file, and no folder for a lake
		return cli.Usagef("--output %s: the suffix says no format; --format does: %s", o.path, strings.Join(names, ", "))
	}
	if i < 0 {
		return cli.Usagef("--format %s: there are %s%s", o.to, strings.Join(names, ", "), cli.DidYouMean(o.to, names))
	}
	o.form = &o.forms[i]
	if named >= 0 && named != i && o.form.whole != nil {
		return cli.Usagef("--format %s and --output %s contradict each other: that is the suffix of %s", o.to, o.path, names[named])
	}
	return nil
}

// main exports the traces, one by one or all as one.
func (o *exporting) main(cmd *cobra.Command, args []string) error {
	if err := o.checkFlags(cmd); err != nil {
		return err
	}
	if o.form.whole != nil {
		return o.form.whole(o, cmd, args)
	}
	if err := o.form.check(o, cmd); err != nil {
		return err
	}
	if _, err := o.sel.Selector(nil); err != nil { // before anything is written
		return err
	}
	opts, err := o.in.Options(cmd)
	if err != nil {
		return err
	}
	if o.form.unordered && len(o.lake.tables) == 0 && o.sel.To == "" { // whose end is known by the order
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
			if err := pick.NeedsEvents(f); err != nil {
				return err
			}
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
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		var with []string
		for _, f := range o.forms {
			if f.allows(flag.Name) {
				with = append(with, f.name)
			}
		}
		if err == nil && len(with) > 0 && !o.form.allows(flag.Name) {
			err = cli.Usagef("--%s does nothing with --format %s: it is for %s", flag.Name, o.form.name, strings.Join(with, " and "))
		}
	})
	return err
}

// isUsage reports whether an error is of a command line that makes no sense.
func isUsage(err error) bool {
	var usage *cli.UsageError
	return errors.As(err, &usage)
}
