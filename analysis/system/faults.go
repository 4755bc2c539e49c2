package system

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Faults adds up hard faults: a thread touched memory that was to come from a file first, and
// waited for it. Of a [window.Window] those count that have a part in it, with that part.
type Faults struct {
	files  *Files
	window *window.Window
	rows   map[use]*faults
	order  []*faults
}

// The faults of a thread in a file.
type faults struct {
	use
	count, bytes         uint64
	ticks, longest       int64
	first, last, touched int64 // touched is when the longest began
}

// NewFaults returns faults of which none is known yet. Its handlers are registered at mux.
func NewFaults(mux *etw.Mux) *Faults {
	f := &Faults{files: FilesOf(mux), window: window.Of(mux), rows: make(map[use]*faults)}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyPageFaultHardFault) {
		at := f.files.machine.at(r)
		took := r.Timestamp - int64(e.InitialTime)
		if took < 0 || f.files.machine.tooLong(uint64(took)) {
			took = 0
		}
		w := f.window.Ticks(r.Clock)
		if !w.Meets(r.Timestamp-took, r.Timestamp) {
			return
		}
		from, to := w.Clip(r.Timestamp-took, r.Timestamp)
		f.of(f.files.ByKey(e.FileObject), f.files.machine.Asker(r, int64(e.TThreadID))).add(at-took, at, to-from, e.ByteCount)
	})
	return f
}

// of returns the faults of a thread in a file.
func (f *Faults) of(file *File, thread *Thread) *faults {
	k := use{file, thread}
	x := f.rows[k]
	if x == nil {
		x = &faults{use: k}
		f.rows[k] = x
		f.order = append(f.order, x)
	}
	return x
}

// add takes a fault, of which a part counts.
func (x *faults) add(from, to, part int64, bytes uint32) {
	if x.count == 0 {
		x.first, x.last, x.touched = from, to, from
	}
	x.first, x.last = min(x.first, from), max(x.last, to)
	x.count++
	x.bytes += uint64(bytes)
	x.ticks += part
	if part > x.longest {
		x.longest, x.touched = part, from
	}
}

// A FaultsResult is the hard faults, by file and process.
type FaultsResult struct {
	Schema int          `json:"schema"`
	Faults []FaultFacts `json:"faults"`
}

// FaultFacts are the hard faults of a process in a file.
type FaultFacts struct {
	// Path has the letter of a drive if the trace tells it. It is empty if the file is not
	// known.
	Path    string `json:"path,omitempty"`
	PID     ID     `json:"pid,omitzero"`
	Process string `json:"process,omitempty"`
	Faults  uint64 `json:"faults"`
	Bytes   uint64 `json:"bytes"`
	// MS adds up how long threads waited, of which several may at a time.
	MS        float64 `json:"ms"`
	LongestMS float64 `json:"longestMs"`
	// LongestAtMS is when the longest one began, FirstMS when the first one did, and LastMS
	// when the last one was over.
	LongestAtMS float64 `json:"longestAtMs"`
	FirstMS     float64 `json:"firstMs"`
	LastMS      float64 `json:"lastMs"`
}

// Result returns the faults so far, by path and process. It shares no memory that changes
// with f.
func (f *Faults) Result() *FaultsResult {
	var rows tally[FaultFacts]
	m := f.files.machine
	for _, x := range f.order {
		rows.of(m, x.file, x.thread).addUp(&FaultFacts{Faults: x.count, Bytes: x.bytes, MS: m.ms(float64(x.ticks)), LongestMS: m.ms(float64(x.longest)),
			LongestAtMS: m.since(x.touched), FirstMS: m.since(x.first), LastMS: m.since(x.last)})
	}
	return &FaultsResult{Schema, rows.list(func(x *FaultFacts, path string, pid ID, process string) {
		x.Path, x.PID, x.Process = path, pid, process
	})}
}

func (f *FaultFacts) addUp(x *FaultFacts) {
	if f.Faults == 0 {
		f.FirstMS, f.LastMS, f.LongestAtMS = x.FirstMS, x.LastMS, x.LongestAtMS
	}
	f.FirstMS, f.LastMS = min(f.FirstMS, x.FirstMS), max(f.LastMS, x.LastMS)
	f.Faults += x.Faults
	f.Bytes += x.Bytes
	f.MS += x.MS
	if x.LongestMS > f.LongestMS {
		f.LongestMS, f.LongestAtMS = x.LongestMS, x.LongestAtMS
	}
}

// Sum adds up all faults.
func (r *FaultsResult) Sum() (sum FaultFacts) {
	for i := range r.Faults {
		sum.addUp(&r.Faults[i])
	}
	return sum
}

// Tables returns the tables of faults: by file, process, or both.
func (r *FaultsResult) Tables() []table.View {
	return []table.View{r.by("file", "Files"), r.by("process", "Processes"), r.by("access", "Files by process")}
}

func (r *FaultsResult) by(name, title string) table.View {
	type row = group[fileKey, FaultFacts]
	var groups grouping[fileKey, FaultFacts]
	for i := range r.Faults {
		x := &r.Faults[i]
		whose := FileFacts{Path: x.Path, PID: x.PID, Process: x.Process}
		groups.at(whose.key(name)).addUp(x)
	}
	rows := groups.sorted(func(a, b *FaultFacts) int { return cmp.Compare(b.MS, a.MS) })
	return table.Of(name, title, rows, append(keyColumns[FaultFacts](name),
		table.Count("faults", func(x *row) uint64 { return x.sum.Faults }),
		table.Count("bytes", func(x *row) uint64 { return x.sum.Bytes }),
		table.Amount("ms", func(x *row) float64 { return x.sum.MS }).Helped("that threads waited, those at the same time added"),
		table.Amount("longestMs", func(x *row) float64 { return x.sum.LongestMS }),
		table.Moment("longestAtMs", func(x *row) float64 { return x.sum.LongestAtMS }),
		table.Moment("firstMs", func(x *row) float64 { return x.sum.FirstMS }),
		table.Moment("lastMs", func(x *row) float64 { return x.sum.LastMS }))...)
}
