package ship

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// lakeTables are the answers that can be tables.
var lakeTables = []string{"gcs", "allocs", "samples", "exceptions", "contention", "requests", "counters", "processes", "figures"}

// allTables stands for all of them.
const allTables = "all"

// sampleTables are those of events with stacks, and their names in --of.
var sampleTables = map[string]string{"samples": "cpu", "allocs": "allocs", "exceptions": "exceptions", "contention": "contention"}

// errSeveral says why an archive has no tables.
var errSeveral = errors.New("there are several traces in it, and tables are of one: unpack it")

// A tableReader makes all tables in one pass over the trace.
type tableReader struct {
	w     *parquet.Writer
	t     *trace.Trace
	mux   etw.Mux // of all but what follows
	own   etw.Mux // of analyses that bind stacks, which are events of their own, themselves
	code  *frames.CodeMap
	ends  []func() error // what is written once all was read
	fault error          // of what is written before
	acts  *requests.Analysis
}

// analyses writes the tables that were asked for.
func (l *lakeExport) analyses(o *exporting, cmd *cobra.Command, path string, w *parquet.Writer) error {
	if len(l.tables) == 0 {
		return nil
	}
	// The pass over events reports the faults of the trace.
	quiet := &cobra.Command{}
	quiet.SetContext(cmd.Context())
	quiet.SetIn(cmd.InOrStdin())
	quiet.SetErr(io.Discard)
	err := l.readTables(o, quiet, path, w)
	if err != nil && err != cli.ErrReported {
		cli.Report(cmd, fmt.Errorf("%s: --tables: %w", path, err))
		return cli.ErrReported
	}
	return err
}

func (l *lakeExport) readTables(o *exporting, cmd *cobra.Command, path string, w *parquet.Writer) error {
	t, trouble, err := o.in.Open(cmd, []string{path}, false)
	if err != nil {
		return err
	}
	defer t.Close()
	if len(t.Files()) > 1 {
		return errSeveral
	}
	x := &tableReader{w: w, t: t, code: frames.NewCodeMap(nil)}
	needsStacks := false
	for _, name := range l.tables {
		if of, ok := sampleTables[name]; ok {
			kind := samples.Find(of)
			needsStacks = needsStacks || !kind.OwnStacks
			x.samples(name, kind)
			continue
		}
		map[string]func(){"gcs": x.collections, "requests": x.requests, "counters": x.counters, "processes": x.processes,
			"figures": func() { x.figures(o, cmd, path) }}[name]()
	}
	if x.acts != nil {
		if err := tellCauses(x.acts, cmd, &o.in, path, t); err != nil {
			return err
		}
	}
	source := etw.Source(t)
	if needsStacks {
		if source, err = frames.BindStacks(cmd, &o.in, t, []string{path}); err != nil {
			return err
		}
	}
	bound := source != etw.Source(t)
	r := &pick.Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress}
	err = r.Each(source, func(rec *etw.Record) error {
		// An event that does not fit its claim is counted where events are written.
		_ = x.code.Mux.Dispatch(rec)
		_ = x.mux.Dispatch(rec)
		if bound {
			rec.Stack = etw.Stack{}
		}
		_ = x.own.Dispatch(rec)
		return x.fault
	})
	if err != nil && err != cli.ErrReported {
		return err
	}
	for _, end := range x.ends {
		if err := end(); err != nil {
			return err
		}
	}
	return cmp.Or(err, trouble)
}

// collections makes the table of collections.
func (x *tableReader) collections() {
	a := gc.New(&x.mux)
	x.ends = append(x.ends, func() error { return x.view("gcs", a.Result().Tables(), "collection", "startMs") })
}

// counters makes the table of all values of counters and metrics.
func (x *tableReader) counters() {
	a := counters.New(&x.mux)
	x.ends = append(x.ends, func() error { return x.view("counters", a.Result().Tables(), "point", "atMs") })
}

func (x *tableReader) view(table string, all []views.View, name, order string) error {
	v, ok := views.Find(all, name)
	if !ok || v.Rows == 0 {
		return nil
	}
	return x.w.Table(table, v.Rising(order), x.t.Start())
}

// samples makes a table of events with stacks.
func (x *tableReader) samples(table string, kind *samples.Kind) {
	mux := &x.mux
	if kind.OwnStacks {
		mux = &x.own
	}
	finish := code.Start(kind, mux, x.t)
	x.ends = append(x.ends, func() error {
		p := stacks.NewProfile(x.code.Code.Table(), stacks.Options{Names: stacks.QualifiedNames, Native: x.native}, finish().Samples...)
		if p.Len() == 0 {
			return nil
		}
		return x.w.Samples(table, p)
	})
}

// native names a place in a file that is in no function that is known by how far in the file it
// is, which all machines that run that file agree about.
func (x *tableReader) native(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	n, ok := x.code.Native(pid, address, at)
	if ok && n.Function == "" && n.Module != "" {
		n.Function, n.Unnamed = parquet.InModule+strconv.FormatUint(n.Offset, 16), true
	}
	return n, ok
}

// processes makes the table of processes.
func (x *tableReader) processes() {
	m := system.Of(&x.mux)
	x.ends = append(x.ends, func() error {
		var list []parquet.Process
		for _, p := range m.Processes() {
			list = append(list, parquet.Process{PID: p.PID, Parent: p.ParentPID, Name: p.Name, CommandLine: p.CommandLine,
				OS: p.OS, Architecture: p.Architecture, Runtime: p.Runtime})
		}
		order.Stable(list, func(a, b parquet.Process) int { return cmp.Compare(a.PID, b.PID) })
		return x.w.Processes(list, x.t.Start())
	})
}

// requests makes the table of all requests and other activities that ended.
func (x *tableReader) requests() {
	a := requests.New(&x.mux)
	x.acts = a
	var rows *parquet.Requests
	a.OnEnd(func(pid int64, provider, task string, act requests.Activity) {
		if rows == nil {
			rows = x.w.Requests(x.t.Start())
		}
		x.fault = cmp.Or(x.fault, rows.Add(pid, strings.ToValidUTF8(provider, ""), task, &act))
	})
	x.ends = append(x.ends, func() error { a.Result(); return x.fault })
}
