package ship

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// parquetForm exports into a lake of Parquet files.
var parquetForm = exportForm{
	name:      "parquet",
	unordered: true,
	flags:     func(o *exporting, cmd *cobra.Command) { o.lake.flags(cmd) },
	own:       []string{"host", "tables", "continue", "memory", "types", "resource", "from-path"},
	check:     func(o *exporting, cmd *cobra.Command) error { return o.lake.check(o) },
	file: func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
		return o.lake.file(o, cmd, path, f)
	},
}

// A lakeExport holds the flags of a lake.
type lakeExport struct {
	host     string
	tables   []string
	goesOn   bool
	memory   string
	maxBytes int64
	exact    string
	types    parquet.Types
	resource resourceFlags

	hashed, content string // the path that was hashed last, and what its content is known by
}

func (l *lakeExport) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.host, "host", "", "the `HOST` that the traces are from; the kernel of Windows names it itself")
	f.StringSliceVar(&l.tables, "tables", nil, "write the answers of these analyses, too: `TABLES` such as gcs,requests, or all:\n"+strings.Join(lakeTables, ", ")+".\nThey take memory for their findings")
	f.BoolVar(&l.goesOn, "continue", false, "leave out traces that are in the lake already, and have not changed")
	f.StringVar(&l.memory, "memory", "48M", "hold rows of this `size` before they are written")
	f.StringVar(&l.exact, "types", "plain", "the columns' `TYPES`: plain, which all engines have, or exact: ns, UUIDs and integers\nwithout sign")
	f.StringArrayVar(&l.resource.pairs, "resource", nil, "whose recordings they are: `KEY=VALUE` as OpenTelemetry calls it, such as service.name=cart\nor service.version=1.4; repeatable. Keys without a column are labels")
	f.StringVar(&l.resource.fromPath, "from-path", "", "read that from the path of each trace: a `PATTERN` as 'traces/{service}/{version}/{host}/*'")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"types": cobra.FixedCompletions([]string{"plain", "exact"}, cobra.ShellCompDirectiveNoFileComp), "resource": cobra.NoFileCompletions, "from-path": cobra.NoFileCompletions,
		"tables": pick.CompleteList(func(*cobra.Command, []string) []string { return append([]string{allTables}, lakeTables...) }),
		"host":   cobra.NoFileCompletions, "memory": cobra.NoFileCompletions,
	})
}

func (l *lakeExport) check(o *exporting) error {
	if o.path == "" {
		return cli.Usagef("--output is required: the lake's folder, which is made if there is none, or a file for other formats")
	}
	if scheme, _, ok := strings.Cut(o.path, "://"); ok {
		return cli.Usagef("--output %s: a lake is a folder, and %s:// is none: write it to one, and etw-lake push copies it", o.path, scheme)
	}
	switch l.exact {
	case "plain":
	case "exact":
		l.types = parquet.ExactTypes
	default:
		return cli.Usagef("--types %s: there are plain and exact", l.exact)
	}
	if err := l.resource.check(); err != nil {
		return err
	}
	if slices.Contains(l.tables, allTables) {
		l.tables = lakeTables
	}
	for _, t := range l.tables {
		if !slices.Contains(lakeTables, t) {
			return cli.Usagef("--tables %s: there are %s, %s%s", t, allTables, strings.Join(lakeTables, ", "), cli.DidYouMean(t, lakeTables))
		}
	}
	n, err := pick.ParseSize(l.memory)
	if err != nil {
		return cli.Usagef("--memory: %w", err)
	}
	if n > 1<<30 {
		return cli.Usagef("--memory %s: more than 1G does not make better files", l.memory)
	}
	l.maxBytes = n
	return nil
}

// source describes a trace, and the exported part of it.
func (l *lakeExport) source(o *exporting, path string, f *trace.File) map[string]string {
	s := map[string]string{"format": f.Format(), "name": f.Name(), "tables": strings.Join(l.tables, ","), "filter": o.sel.Text(), "types": l.exact}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		s["size"] = strconv.FormatInt(info.Size(), 10)
		s["modified"] = info.ModTime().UTC().Format(time.RFC3339Nano)
	}
	return s
}

// contentOf returns the identity of the content of a trace: that of its file, and which of an
// archive it is. It is empty for files that can be read only once.
func (l *lakeExport) contentOf(path string, f *trace.File) (string, error) {
	if l.hashed != path {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return "", nil
		}
		r, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer r.Close()
		if l.content, err = parquet.ContentID(r); err != nil {
			return "", err
		}
		l.hashed = path
	}
	return l.content + strings.TrimPrefix(f.Name(), path), nil
}

// options returns the options for exporting a trace.
func (l *lakeExport) options(o *exporting, cmd *cobra.Command, path string, f *trace.File) (*parquet.Options, error) {
	resource, err := l.resource.of(path, f)
	if err != nil {
		return nil, err
	}
	id, err := l.contentOf(path, f)
	if err != nil {
		return nil, err
	}
	opts := &parquet.Options{Dir: o.path, Trace: filepath.Base(filepath.ToSlash(f.Name())), ID: id, Resource: resource, Types: l.types,
		Host: cmp.Or(l.host, resource[parquet.KeyHost]), Source: l.source(o, path, f), MaxMemory: int(l.maxBytes)}
	if start := f.Clock().Start; start != 0 {
		opts.Start = start.Time()
	}
	if opts.Host == "" {
		opts.Host = o.hostOf(cmd, path, f)
	}
	return opts, nil
}

// file exports one trace, and reports on it in a line.
func (l *lakeExport) file(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
	opts, err := l.options(o, cmd, path, f)
	if err != nil {
		return l.failed(cmd, f, err)
	}
	if before := l.done(opts); before != nil {
		code := 0
		if !before.Complete || before.Lost+before.LostBuffers > 0 {
			code = cli.ExitTrouble
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d %s: is in the lake already, with %s\n", code, cli.Clean(f.Name()), show.Count(int(before.Events), "event", "events"))
		if code != 0 {
			return cli.ErrReported
		}
		return nil
	}
	m, err := l.export(o, cmd, path, f, opts)
	if m == nil {
		return l.failed(cmd, f, err)
	}
	code := 0
	if err != nil {
		code = cli.ExitTrouble
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d %s: %s, %s, %s\n", code, cli.Clean(f.Name()), show.Count(int(m.Events), "event", "events"),
		show.Count(len(m.Files), "file", "files"), show.Size(float64(m.Bytes)))
	return err
}

// failed says that a trace was not exported, and why.
func (l *lakeExport) failed(cmd *cobra.Command, f *trace.File, err error) error {
	if isUsage(err) {
		fmt.Fprintf(cmd.OutOrStdout(), "%d %s: was not exported\n", cli.ExitUsage, cli.Clean(f.Name()))
		return cli.Usagef("%s: %w", cli.Clean(f.Name()), err)
	}
	if err != cli.ErrReported {
		cli.Report(cmd, fmt.Errorf("%s: %w", f.Name(), err))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d %s: was not exported\n", cli.ExitTrouble, cli.Clean(f.Name()))
	return cli.ErrReported
}

// done returns the manifest of a trace that is in the lake as it is to be.
func (l *lakeExport) done(opts *parquet.Options) *parquet.Manifest {
	if !l.goesOn || opts.ID == "" {
		return nil
	}
	m, err := parquet.ReadManifest(opts.Dir, parquet.TraceID(opts.Host, opts.ID))
	if err != nil {
		return nil
	}
	for _, key := range []string{"format", "tables", "filter", "types"} {
		if m.Source[key] != opts.Source[key] {
			return nil
		}
	}
	want := maps.Clone(opts.Resource)
	if opts.Host != "" {
		want[parquet.KeyHost] = opts.Host
	}
	if !maps.Equal(m.Resource, want) {
		return nil
	}
	return m
}

// export exports one trace. The manifest is nil if nothing was; the error is errReported if
// there was trouble with the others.
func (l *lakeExport) export(o *exporting, cmd *cobra.Command, path string, f *trace.File, opts *parquet.Options) (*parquet.Manifest, error) {
	t, sel, err := o.chosen(cmd, path, f)
	if err != nil {
		return nil, err
	}
	opts.Decoder, opts.Providers = sel.Decoder, append(pick.BuiltinProviders(), sel.Known...)
	w, err := parquet.New(*opts)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	tables, err := l.newTables(o, cmd, path, t, w)
	if err != nil {
		return nil, fmt.Errorf("--tables: %w", err)
	}
	trouble, err := o.take(cmd, t, sel, tables, func(rec *etw.Record, s *pick.Shot) error {
		return w.AddDecoded(rec, s.Event, s.Values, s.Err)
	})
	if err != nil {
		return nil, err
	}
	if err := tables.end(); err != nil {
		return nil, err
	}
	if err := sel.ReportNone(cmd); err != nil { // what is in the lake of an earlier time stays
		return nil, err
	}
	if err := cmd.Context().Err(); err != nil {
		return nil, err
	}
	n := t.Stats()
	losses := parquet.Losses{Lost: n.Lost, LostBuffers: n.LostBuffers, Damaged: n.Undecodable}
	if trouble != nil {
		losses.Problems = append(losses.Problems, "not all of the trace could be read: etw info names the fault")
	}
	m, err := w.Close(losses, trouble == nil)
	if err != nil {
		return nil, err
	}
	if show.ReportLosses(cmd, t) {
		trouble = cli.ErrReported
	}
	return m, trouble
}
