// Lake exports many traces into a lake of Parquet files with Apache Beam, and counts
// their events. The unit of work is one trace: stacks, names of types and schemas go
// through all of it, so that a part of one could not be read alone.
//
//	lake --traces 'traces/*.nettrace' --lake lake --counts counts.txt
//
// Without further flags it runs on this machine, by Beam's own runner prism. The flags
// --runner=dataflow, flink or spark and those that go with them are Beam's.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

var (
	traces = flag.String("traces", "", "pattern of the traces, in a file system that Beam knows")
	lake   = flag.String("lake", "", "folder of the lake")
	host   = flag.String("host", "", "host that the traces are from, if --from-path does not say it")
	from   = flag.String("from-path", "", "pattern of names that says whose recordings they are, such as {service}/{version}/{host}/*")
	counts = flag.String("counts", "", "file for the number of events of each type")
)

func init() {
	beam.RegisterType(reflect.TypeFor[exporter]())
	register.DoFn3x1[context.Context, string, func(string, int64), error](&exporter{})
	register.Function3x1(list)
	register.Function2x1(line)
	register.Emitter2[string, int64]()
	register.Emitter1[string]()
}

// list emits the names of the files that a pattern matches.
func list(ctx context.Context, pattern string, emit func(string)) error {
	fsys, err := filesystem.New(ctx, pattern)
	if err != nil {
		return err
	}
	defer fsys.Close()
	names, err := fsys.List(ctx, pattern)
	for _, name := range names {
		emit(name)
	}
	return err
}

// line formats the count of a type of events.
func line(event string, n int64) string { return fmt.Sprintf("%s\t%d", event, n) }

// An exporter exports the trace of each name that it gets, and emits how many events
// of which type it had.
type exporter struct {
	Lake string `json:"lake"`
	Host string `json:"host"`
	From string `json:"from"` // a pattern, or ""
}

// ProcessElement exports one trace. A trace that cannot be read to its end is no failure of
// the pipeline, which would try again: the manifest says it, and so does the log.
func (e *exporter) ProcessElement(ctx context.Context, name string, emit func(string, int64)) error {
	dir, err := os.MkdirTemp("", "lake")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m, err := e.export(ctx, name, dir)
	if errors.Is(err, trace.ErrFormat) {
		log.Warnf(ctx, "%s: %v", name, err)
		emit("(no trace)", 1)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !m.Complete {
		log.Warnf(ctx, "%s: %s", name, strings.Join(m.Problems, "; "))
	}
	for _, f := range m.Files {
		if f.Table == "" {
			emit(f.Provider+"/"+f.Event, f.Rows)
		}
	}
	return upload(ctx, dir, e.Lake)
}

// contentOf returns the identity of the content of a file.
func contentOf(ctx context.Context, fsys filesystem.Interface, name string) (string, error) {
	r, err := fsys.OpenRead(ctx, name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return parquet.ContentID(r)
}

// resource returns whose recording a name says it is.
func (e *exporter) resource(name string) (parquet.Resource, error) {
	if e.From == "" {
		return nil, nil
	}
	p, err := parquet.ParsePattern(e.From)
	if err != nil {
		return nil, err
	}
	r, ok := p.Match(name)
	if !ok {
		return nil, fmt.Errorf("it is no name such as %s", p)
	}
	return r, nil
}

// export exports a trace into a folder of this machine.
func (e *exporter) export(ctx context.Context, name, dir string) (*parquet.Manifest, error) {
	resource, err := e.resource(name)
	if err != nil {
		return nil, err
	}
	fsys, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	id, err := contentOf(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	r, err := fsys.OpenRead(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := trace.Read(name, r, trace.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	providers := []*etw.Provider{clr.Provider, rundown.Provider}
	decoder := etw.NewDecoder(providers...)
	decoder.Find = dotnet.Of
	o := parquet.Options{Dir: dir, Trace: path.Base(filepath.ToSlash(name)), ID: id, Host: cmp.Or(resource[parquet.KeyHost], e.Host), Resource: resource,
		Start: t.Start(), Decoder: decoder, Providers: providers}
	return write(ctx, t, o)
}

// write exports a trace with tables of collections, counters and requests, in one pass.
func write(ctx context.Context, t *trace.Trace, o parquet.Options) (*parquet.Manifest, error) {
	w, err := parquet.New(o)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	var mux etw.Mux
	collections, values, acts := gc.New(&mux), counters.New(&mux), requests.New(&mux)
	var rows *parquet.Requests
	var fault error
	acts.OnEnd(func(pid int64, provider, task string, a requests.Activity) {
		if rows == nil {
			rows = w.Requests(t.Start())
		}
		fault = cmp.Or(fault, rows.Add(pid, provider, task, &a))
	})
	var losses parquet.Losses
	for r, err := range t.Records() {
		if err != nil {
			losses.Problems = append(losses.Problems, err.Error())
			continue
		}
		if err := cmp.Or(ctx.Err(), w.Add(r)); err != nil {
			return nil, err
		}
		_ = mux.Dispatch(r) // an event that does not fit its claim is counted by the writer
	}
	acts.Result()
	if fault != nil {
		return nil, fault
	}
	for _, x := range []struct {
		table, view, order string
		all                []table.View
	}{{"gcs", "collection", "startMs", collections.Result().Tables()}, {"counters", "point", "atMs", values.Result().Tables()}} {
		if v, ok := table.Find(x.all, x.view); ok && v.Rows > 0 {
			if err := w.Table(x.table, v.Rising(x.order), t.Start()); err != nil {
				return nil, err
			}
		}
	}
	n := t.Stats()
	losses.Lost, losses.LostBuffers, losses.Damaged = n.Lost, n.LostBuffers, n.Undecodable
	return w.Close(losses, len(losses.Problems) == 0)
}

// upload copies the files of a lake, the manifest last.
func upload(ctx context.Context, from, to string) error {
	fsys, err := filesystem.New(ctx, to)
	if err != nil {
		return err
	}
	defer fsys.Close()
	var files, manifests []string
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if filepath.Ext(p) == ".json" {
			manifests = append(manifests, p)
		} else {
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range append(files, manifests...) {
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		if err := put(ctx, fsys, p, strings.TrimSuffix(to, "/")+"/"+filepath.ToSlash(rel)); err != nil {
			return err
		}
	}
	return nil
}

// put copies one file.
func put(ctx context.Context, fsys filesystem.Interface, from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := fsys.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// build makes the pipeline.
func build(s beam.Scope, pattern, counts string, e *exporter) {
	names := beam.ParDo(s, list, beam.Create(s, pattern))
	rows := beam.ParDo(s, e, beam.Reshuffle(s, names))
	sums := stats.SumPerKey(s, rows)
	textio.Write(s, counts, beam.ParDo(s, line, sums))
}

func main() {
	flag.Parse()
	beam.Init()
	ctx := context.Background()
	if *traces == "" || *lake == "" || *counts == "" {
		fmt.Fprintln(os.Stderr, "lake: --traces, --lake and --counts say what to read and to write")
		os.Exit(2)
	}
	p, s := beam.NewPipelineWithRoot()
	build(s, *traces, *counts, &exporter{Lake: *lake, Host: *host, From: *from})
	if err := beamx.Run(ctx, p); err != nil {
		fmt.Fprintln(os.Stderr, "lake:", err)
		os.Exit(1)
	}
}
