package ship

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
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

// A tableReader makes all tables, by the pass that exports events.
type tableReader struct {
	w       *parquet.Writer
	t       *trace.Trace
	source  etw.Source // t, with stacks in its records
	mux     etw.Mux    // of all but what follows
	own     etw.Mux    // of analyses that bind stacks, which are events of their own, themselves
	who     etw.Mux    // of processes, since handlers beside theirs keep records from them
	code    *frames.CodeMap
	set     *analysis.Set  // all analyses at mux, where a table is of all of them
	names   *symbols.Table // once all was read
	sampled map[string]func() code.Gathered
	again   func(do func(*etw.Record) error) error // reads the trace once more; nil if that cannot be
	see     func(*etw.Record)                      // of every record; may be nil
	ends    []func() error                         // what is written once all was read
	fault   error                                  // of what is written before
}

// newTables returns what makes the tables that were asked for, nil if none were. Facts that are needed before take
// a pass of their own.
func (l *lakeExport) newTables(o *exporting, cmd *cobra.Command, path string, t *trace.Trace, w *parquet.Writer) (*tableReader, error) {
	if len(l.tables) == 0 {
		return nil, nil
	}
	x := &tableReader{w: w, t: t, source: t, code: frames.NewCodeMap(nil), sampled: make(map[string]func() code.Gathered)}
	for _, name := range l.tables {
		if path == trace.Stdin && sampleTables[name] != "" && name != "samples" {
			return nil, fmt.Errorf("%s: takes a further pass, and the standard input can be read only once", name)
		}
	}
	// The pass over events reports the faults of the trace.
	quiet := &cobra.Command{}
	quiet.SetContext(cmd.Context())
	quiet.SetIn(cmd.InOrStdin())
	quiet.SetErr(io.Discard)
	if path != trace.Stdin {
		x.again = func(do func(*etw.Record) error) error { return readAgain(quiet, &o.in, path, do) }
	}
	figures := func() error { return nil }
	if slices.Contains(l.tables, "figures") {
		var err error
		if figures, err = x.figures(quiet); err != nil {
			return nil, err
		}
	}
	needsStacks := false
	for _, name := range l.tables {
		if of, ok := sampleTables[name]; ok {
			kind := samples.Find(of)
			needsStacks = needsStacks || !kind.OwnStacks
			x.samples(name, kind)
			continue
		}
		switch name {
		case "gcs":
			x.collections()
		case "counters":
			x.counters()
		case "processes":
			x.processes()
		case "requests":
			x.requests()
		}
	}
	x.ends = append(x.ends, figures)
	if needsStacks {
		var err error
		if x.source, err = frames.BindStacks(quiet, &o.in, t, []string{path}); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// take takes a record. One that does not fit its claim is counted where events are written.
func (x *tableReader) take(rec *etw.Record) error {
	_ = x.code.Mux.Dispatch(rec)
	_ = x.mux.Dispatch(rec)
	if x.source != etw.Source(x.t) {
		rec.Stack = etw.Stack{}
	}
	_ = x.own.Dispatch(rec)
	_ = x.who.Dispatch(rec)
	if x.see != nil {
		x.see(rec)
	}
	return x.fault
}

// end writes all that is known once all was read.
func (x *tableReader) end() error {
	if x == nil {
		return nil
	}
	for _, end := range x.ends {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// analysisOf returns an analysis: that of the set, where there is one.
func analysisOf[A any](x *tableReader, begin func(*etw.Mux) A) A {
	if x.set != nil {
		return analysis.Of[A](x.set)
	}
	return begin(&x.mux)
}

// collections makes the table of collections.
func (x *tableReader) collections() {
	a := analysisOf(x, gc.New)
	x.ends = append(x.ends, func() error { return x.view("gcs", a.Result().Tables(), "collection", "startMs") })
}

// counters makes the table of all values of counters and metrics.
func (x *tableReader) counters() {
	a := analysisOf(x, counters.New)
	x.ends = append(x.ends, func() error { return x.view("counters", a.Result().Tables(), "point", "atMs") })
}

func (x *tableReader) view(table string, all []views.View, name, order string) error {
	v, ok := views.Find(all, name)
	if !ok || v.Rows == 0 {
		return nil
	}
	return x.w.Table(table, v.Rising(order), x.t.Start())
}

// samplesOf returns what has the samples of a kind, once all was read.
func (x *tableReader) samplesOf(kind *samples.Kind) func() code.Gathered {
	if x.sampled[kind.Name] == nil {
		mux := &x.mux
		if kind.OwnStacks {
			mux = &x.own
		}
		x.sampled[kind.Name], _ = code.Start(kind, mux, x.t, nil)
	}
	return x.sampled[kind.Name]
}

// samples makes a table of events with stacks.
func (x *tableReader) samples(table string, kind *samples.Kind) {
	finish := x.samplesOf(kind)
	x.ends = append(x.ends, func() error {
		p := x.profile(x.native, finish().Samples...)
		if p.Len() == 0 {
			return nil
		}
		return x.w.Samples(table, p)
	})
}

// native names a place in a file that is in no function that is known by how far in the file it
// is, which all machines that run that file agree about.
func (x *tableReader) native(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	n, ok := x.code.Recorded(pid, address, at)
	if ok && n.Function == "" && n.Module != "" {
		n.Function, n.Unnamed = parquet.InModule+strconv.FormatUint(n.Offset, 16), true
	}
	return n, ok
}

// processes makes the table of processes.
func (x *tableReader) processes() {
	m := system.Of(&x.who)
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

// heldRequests is how many activities wait for the end of the trace.
const heldRequests = 1 << 14

// requests makes the table of all requests and other activities that ended. Samples tell where their
// threads slept, once all code has names: until then they are held, and where there are too many, a
// further pass over the trace takes them.
func (x *tableReader) requests() {
	a := analysisOf(x, requests.New)
	var rows *parquet.Requests
	write := func(pid int64, provider, task string, act requests.Activity) {
		if rows == nil {
			rows = x.w.Requests(x.t.Start())
		}
		x.fault = cmp.Or(x.fault, rows.Add(pid, strings.ToValidUTF8(provider, ""), task, &act))
	}
	a.Tell()
	a.OnEnd(write)
	if !sampled(x.t) {
		return
	}
	a.NameBy(func(s *stacks.Samples) *stacks.Profile { return x.profile(x.code.Recorded, s) })
	a.Hold(heldRequests)
	if x.again == nil {
		a.Hold(math.MaxInt)
	}
	x.ends = append(x.ends, func() error {
		if a.Release() {
			return x.fault
		}
		var mux etw.Mux
		all := requests.New(&mux)
		all.Tell()
		all.OnEnd(write)
		all.NamedBy(a)
		return x.again(func(rec *etw.Record) error {
			_ = mux.Dispatch(rec)
			return x.fault
		})
	})
}

// profile returns samples with names, once all was read.
func (x *tableReader) profile(native func(int64, uint64, time.Time) (symbols.Native, bool), list ...*stacks.Samples) *stacks.Profile {
	if x.names == nil {
		x.names = x.code.Code.Table()
	}
	return stacks.NewProfile(x.names, stacks.Options{Names: stacks.QualifiedNames, Native: native}, list...)
}
