package html

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/requests"
)

// addRequests adds what is known of requests and other activities.
func addRequests(v *view, s *subject, texts *texts) {
	r := s.requests
	if r == nil || len(r.Tasks) == 0 {
		return
	}
	v.weight += r.Started
	sec := &section{ID: "requests", Title: "Requests", Lead: []string{fmt.Sprintf("%s began and %s ended.", count(r.Started, "activity", "activities"), grouped(float64(r.Stopped), 0))}}
	if r.WithoutID > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("Of %d the runtime kept no activity: record keyword 0x80 of System.Threading.Tasks.TplEventSource, too.", r.WithoutID))
	}
	if n := r.Open + r.LostStops; n > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%d had not ended when the trace did, or their end was lost.", n))
	}
	t := &table{ID: "tasks", Title: "By task", Sort: "total", texts: texts}
	rows := shown(r.Tasks)
	word(t, rows, column{Key: "task", Label: "Task"}, func(x requests.Task) string { return x.Task })
	word(t, rows, column{Key: "provider", Label: "Provider"}, func(x requests.Task) string { return x.Provider })
	num(t, rows, column{Key: "count", Label: "Ended"}, func(x requests.Task) float64 { return float64(x.Count) })
	num(t, rows, column{Key: "errors", Label: "Failed"}, func(x requests.Task) float64 { return float64(x.Errors) })
	num(t, rows, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(x requests.Task) float64 { return x.DurationMS.Total })
	num(t, rows, column{Key: "exclusive", Label: "Own", Unit: "ms", Digits: 3, Help: "without the times of activities that these began"}, func(x requests.Task) float64 { return x.ExclusiveMS })
	num(t, rows, column{Key: "p50", Label: "P50", Unit: "ms", Digits: 3}, func(x requests.Task) float64 { return orNaN(x.DurationMS.P50) })
	num(t, rows, column{Key: "p95", Label: "P95", Unit: "ms", Digits: 3}, func(x requests.Task) float64 { return orNaN(x.DurationMS.P95) })
	num(t, rows, column{Key: "p99", Label: "P99", Unit: "ms", Digits: 3}, func(x requests.Task) float64 { return orNaN(x.DurationMS.P99) })
	num(t, rows, column{Key: "max", Label: "Longest", Unit: "ms", Digits: 3}, func(x requests.Task) float64 { return orNaN(x.DurationMS.Max) })
	num(t, rows, column{Key: "atonce", Label: "At once"}, func(x requests.Task) float64 { return float64(x.MaxConcurrency) })
	cutOff(t, len(r.Tasks))
	sec.Tables = append(sec.Tables, t, slowestTable(r, texts))
	v.add(findings.Requests(r))
	if x := served(r.Tasks); x != nil && x.Count > 0 {
		v.Tiles = append(v.Tiles, tile{"Requests", grouped(float64(x.Count), 0), "95 % under " + span(x.DurationMS.P95.Or(0)) + ", says " + clean(x.Provider), "requests"})
	}
	v.Sections = append(v.Sections, sec)
}

// served returns the task that is what people mean by requests, or nil: those that a
// server serves, or else those that a client makes.
func served(tasks []requests.Task) *requests.Task {
	for _, provider := range []string{"Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel", "System.Net.Http"} {
		for i := range tasks {
			if tasks[i].Provider == provider && tasks[i].Task == "Request" {
				return &tasks[i]
			}
		}
	}
	return nil
}

// slowestTable lists the slowest activities of all tasks.
func slowestTable(r *requests.Process, texts *texts) *table {
	type row struct {
		task string
		requests.Activity
	}
	var rows []row
	for _, t := range r.Tasks {
		for _, a := range t.Slowest {
			rows = append(rows, row{t.Task, a})
		}
	}
	t := &table{ID: "slowest", Title: "The slowest of each task", Sort: "duration", Time: "start", texts: texts}
	all := len(rows)
	rows = shown(rows)
	word(t, rows, column{Key: "task", Label: "Task"}, func(x row) string { return x.task })
	word(t, rows, column{Key: "name", Label: "Name"}, func(x row) string { return x.Name })
	num(t, rows, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(x row) float64 { return x.StartMS / 1000 })
	num(t, rows, column{Key: "duration", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(x row) float64 { return x.DurationMS })
	num(t, rows, column{Key: "own", Label: "Own", Unit: "ms", Digits: 3}, func(x row) float64 { return x.ExclusiveMS })
	word(t, rows, column{Key: "status", Label: "Status"}, func(x row) string { return x.Status })
	word(t, rows, column{Key: "failed", Label: "Failed"}, func(x row) string { return yes(x.Failed) })
	word(t, rows, column{Key: "parent", Label: "Begun by"}, func(x row) string { return x.Parent })
	word(t, rows, column{Key: "id", Label: "Activity", Detail: true}, func(x row) string { return x.ID })
	word(t, rows, column{Key: "trace", Label: "Trace", Detail: true}, func(x row) string { return x.TraceID })
	word(t, rows, column{Key: "span", Label: "Span", Detail: true}, func(x row) string { return x.SpanID })
	t.Columns = append(t.Columns[:9], dropEmpty(t.Columns[9:])...)
	cutOff(t, all)
	return t
}

// maxCounterCharts is how many counters are drawn; the table has all.
const maxCounterCharts = 24

// addCounters adds counters and metrics.
func addCounters(v *view, s *subject, texts *texts) {
	p := s.counters
	if p == nil || len(p.Counters)+len(p.Metrics)+len(p.Notes) == 0 {
		return
	}
	sec := &section{ID: "counters", Title: "Counters"}
	rows := counterRows(p)
	steady := 0
	for i, r := range rows {
		v.weight += len(r.x)
		if !r.changes() {
			steady++
		} else if len(sec.Charts) < maxCounterCharts {
			sec.Charts = append(sec.Charts, &chart{ID: fmt.Sprintf("counter%d", i), Kind: lines, Small: true, Title: clean(r.title), Unit: clean(r.unit), X: seconds(r.x),
				Series: []*series{{"Value", "counter", &numbers{values: r.y, digits: 4}}}})
		}
	}
	lead := fmt.Sprintf("%s, of which %s changed.", count(len(rows), "counter", "counters"), grouped(float64(len(rows)-steady), 0))
	if len(sec.Charts) == maxCounterCharts {
		lead += fmt.Sprintf(" The first %d of these are drawn.", maxCounterCharts)
	}
	sec.Lead = append(sec.Lead, lead)
	t := &table{ID: "counters", Title: "All counters", texts: texts}
	shownRows := shown(rows)
	word(t, shownRows, column{Key: "source", Label: "Source"}, func(r counterRow) string { return r.source })
	word(t, shownRows, column{Key: "name", Label: "Name"}, func(r counterRow) string { return r.title })
	word(t, shownRows, column{Key: "unit", Label: "Unit"}, func(r counterRow) string { return r.unit })
	word(t, shownRows, column{Key: "tags", Label: "Tags"}, func(r counterRow) string { return r.tags })
	num(t, shownRows, column{Key: "points", Label: "Values"}, func(r counterRow) float64 { return float64(len(r.x)) })
	num(t, shownRows, column{Key: "last", Label: "Last", Digits: 4, Precise: true}, func(r counterRow) float64 { return r.edge(func(a, _ float64) bool { return true }) })
	num(t, shownRows, column{Key: "min", Label: "Smallest", Digits: 4, Precise: true}, func(r counterRow) float64 { return r.edge(func(a, b float64) bool { return a < b }) })
	num(t, shownRows, column{Key: "max", Label: "Greatest", Digits: 4, Precise: true}, func(r counterRow) float64 { return r.edge(func(a, b float64) bool { return a > b }) })
	cutOff(t, len(rows))
	sec.Tables = append(sec.Tables, t)
	if len(p.Notes) > 0 {
		notes := &table{ID: "counternotes", Title: "What went wrong", Time: "at", texts: texts}
		list := shown(p.Notes)
		num(notes, list, column{Key: "at", Label: "At", Unit: "s", Digits: 3}, func(n counters.Note) float64 { return n.AtMS / 1000 })
		word(notes, list, column{Key: "event", Label: "Event"}, func(n counters.Note) string { return n.Event })
		word(notes, list, column{Key: "text", Label: "Text"}, func(n counters.Note) string { return n.Text })
		cutOff(notes, len(p.Notes))
		sec.Tables = append(sec.Tables, notes)
	}
	v.Sections = append(v.Sections, sec)
}

// A counterRow is the values of one counter over time.
type counterRow struct {
	source, title, unit, tags string
	x, y                      []float64
}

// changes reports whether there are different values.
func (r counterRow) changes() bool {
	low := r.edge(func(a, b float64) bool { return a < b })
	return low == low && low != r.edge(func(a, b float64) bool { return a > b })
}

// edge returns the value that better prefers to each other one.
func (r counterRow) edge(better func(a, b float64) bool) float64 {
	best := nan
	for _, v := range r.y {
		if v == v && (best != best || better(v, best)) {
			best = v
		}
	}
	return best
}

func counterRows(p *counters.Process) []counterRow {
	var rows []counterRow
	for _, c := range p.Counters {
		r := counterRow{source: c.Provider, title: c.DisplayName, unit: c.Unit, tags: c.Metadata}
		if r.title == "" {
			r.title = c.Name
		}
		if c.Type == "Sum" {
			r.unit = strings.TrimSpace(r.unit + " a second")
		}
		for _, pt := range c.Points {
			r.x = append(r.x, pt.AtMS)
			r.y = append(r.y, pt.Mean.Or(orNaN(pt.PerSec)))
		}
		rows = append(rows, r)
	}
	for _, m := range p.Metrics {
		r := counterRow{source: m.Meter, title: m.Instrument, unit: m.Unit, tags: m.Tags}
		for _, pt := range m.Points {
			r.x = append(r.x, pt.AtMS)
			value := pt.Value
			if q, ok := pt.Quantiles["0.95"]; ok {
				value = q
			}
			if value.IsZero() {
				value = pt.Rate
			}
			r.y = append(r.y, orNaN(value))
		}
		if len(m.Points) > 0 && len(m.Points[0].Quantiles) > 0 {
			r.title += ", 95 % under"
		}
		rows = append(rows, r)
	}
	return rows
}

// addHeap adds snapshots of the heap.
func addHeap(v *view, s *subject, texts *texts) {
	if len(s.heap) == 0 {
		return
	}
	sec := &section{ID: "heap", Title: "Heap snapshots"}
	for i, h := range s.heap {
		v.weight += h.Objects
		name := fmt.Sprintf("Snapshot at %s", at(h.AtMS))
		lead := fmt.Sprintf("%s: %s in %s objects with %s references; roots keep %s of it alive.", name, size(float64(h.Bytes)), grouped(float64(h.Objects), 0),
			grouped(float64(h.References), 0), size(float64(h.ReachableBytes)))
		if !h.Complete {
			lead += fmt.Sprintf(" It is not complete: %d references are missing, and %d events after the first gap are left out.", h.MissingReferences, h.LostEvents)
		}
		sec.Lead = append(sec.Lead, lead)
		t := &table{ID: fmt.Sprintf("heaptypes%d", i), Title: name + ": types", Sort: "retained", texts: texts}
		rows := shown(h.Types)
		word(t, rows, column{Key: "type", Label: "Type"}, func(x heap.Type) string { return x.Type })
		num(t, rows, column{Key: "count", Label: "Objects"}, func(x heap.Type) float64 { return float64(x.Count) })
		num(t, rows, column{Key: "bytes", Label: "Size", Unit: "bytes"}, func(x heap.Type) float64 { return float64(x.Bytes) })
		num(t, rows, column{Key: "share", Label: "Share", Unit: "%", Digits: 2}, func(x heap.Type) float64 { return orNaN(x.SharePercent) })
		num(t, rows, column{Key: "retained", Label: "Retained", Unit: "bytes", Share: true, Help: "what would be free without all objects of the type"}, func(x heap.Type) float64 { return float64(x.RetainedBytes) })
		cutOff(t, len(h.Types))
		o := &table{ID: fmt.Sprintf("heapobjects%d", i), Title: name + ": objects that retain most", Sort: "retained", texts: texts}
		word(o, h.Largest, column{Key: "type", Label: "Type"}, func(x heap.Object) string { return x.Type })
		word(o, h.Largest, column{Key: "address", Label: "Address"}, func(x heap.Object) string { return x.Address })
		num(o, h.Largest, column{Key: "bytes", Label: "Size", Unit: "bytes"}, func(x heap.Object) float64 { return float64(x.Bytes) })
		num(o, h.Largest, column{Key: "retained", Label: "Retained", Unit: "bytes", Share: true}, func(x heap.Object) float64 { return float64(x.RetainedBytes) })
		word(o, h.Largest, column{Key: "path", Label: "Path from a root", Detail: true}, func(x heap.Object) string { return strings.Join(x.Path, " → ") })
		sec.Tables = append(sec.Tables, t, o)
	}
	last := s.heap[len(s.heap)-1]
	v.Tiles = append(v.Tiles, tile{"Heap snapshot", size(float64(last.Bytes)), count(last.Objects, "object", "objects"), "heap"})
	v.Sections = append(v.Sections, sec)
}

// addHandles adds what is known of handles.
func addHandles(v *view, s *subject, texts *texts) {
	r := s.handles
	if r == nil || r.Created+r.Destroyed == 0 && len(r.Pinned) == 0 {
		return
	}
	v.weight += r.Created
	sec := &section{ID: "handles", Title: "GC handles", Lead: []string{fmt.Sprintf("%s made and %s given back; %s of those made in the trace are alive at its end.",
		count(r.Created, "handle was", "handles were"), grouped(float64(r.Destroyed), 0), grouped(float64(r.Alive), 0))}}
	if len(r.AliveOverTime.Highest) > 1 {
		sec.Charts = append(sec.Charts, levelsChart("alive", "Handles alive", "Handles", "handle", r.AliveOverTime))
	}
	t := &table{ID: "handlekinds", Title: "By kind", Sort: "alive", texts: texts}
	word(t, r.Kinds, column{Key: "kind", Label: "Kind"}, func(k handles.Kind) string { return k.Kind })
	num(t, r.Kinds, column{Key: "created", Label: "Made"}, func(k handles.Kind) float64 { return float64(k.Created) })
	num(t, r.Kinds, column{Key: "destroyed", Label: "Given back"}, func(k handles.Kind) float64 { return float64(k.Destroyed) })
	num(t, r.Kinds, column{Key: "alive", Label: "Alive", Share: true}, func(k handles.Kind) float64 { return float64(k.Alive) })
	sec.Tables = append(sec.Tables, t)
	if len(r.Pinned) > 0 {
		p := &table{ID: "pinned", Title: "Pinned at collections", Sort: "times", texts: texts}
		rows := shown(r.Pinned)
		word(p, rows, column{Key: "type", Label: "Type"}, func(x handles.Pinned) string { return x.Type })
		num(p, rows, column{Key: "times", Label: "Times", Share: true}, func(x handles.Pinned) float64 { return float64(x.Times) })
		num(p, rows, column{Key: "handles", Label: "By handles of the trace"}, func(x handles.Pinned) float64 { return float64(x.Handles) })
		cutOff(p, len(r.Pinned))
		sec.Tables = append(sec.Tables, p)
	}
	v.Sections = append(v.Sections, sec)
}

// addLoader adds what was loaded.
func addLoader(v *view, s *subject, texts *texts) {
	r := s.loader
	if r == nil || len(r.Assemblies)+len(r.Modules)+len(r.Binds) == 0 && r.Types == nil {
		return
	}
	sec := &section{ID: "loader", Title: "Assemblies", Lead: []string{fmt.Sprintf("%s and %s.", count(len(r.Assemblies), "assembly", "assemblies"), count(len(r.Modules), "module", "modules"))}}
	if r.Failed > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%d of %s found nothing.", r.Failed, count(len(r.Binds), "look-up", "look-ups")))
	}
	if len(r.Modules) > 0 {
		t := &table{ID: "loaded", Title: "Modules", Time: "loaded", texts: texts}
		rows := shown(r.Modules)
		word(t, rows, column{Key: "path", Label: "Path"}, func(m loader.Module) string { return m.Path })
		num(t, rows, column{Key: "loaded", Label: "Loaded", Unit: "s", Digits: 6}, func(m loader.Module) float64 { return orNaN(m.LoadedMS) / 1000 })
		word(t, rows, column{Key: "r2r", Label: "Precompiled"}, func(m loader.Module) string { return yes(m.ReadyToRun || m.NativeImage) })
		word(t, rows, column{Key: "dynamic", Label: "Dynamic"}, func(m loader.Module) string { return yes(m.Dynamic) })
		word(t, rows, column{Key: "pdb", Label: "Symbols", Detail: true}, func(m loader.Module) string { return m.PDB })
		cutOff(t, len(r.Modules))
		sec.Tables = append(sec.Tables, t)
	}
	if len(r.Binds) > 0 {
		t := &table{ID: "binds", Title: "Look-ups of assemblies", Sort: "duration", Time: "start", texts: texts}
		rows := shown(r.Binds)
		word(t, rows, column{Key: "name", Label: "Requested"}, func(b loader.Bind) string { return b.Requested })
		num(t, rows, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(b loader.Bind) float64 { return b.StartMS / 1000 })
		num(t, rows, column{Key: "duration", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(b loader.Bind) float64 { return b.DurationMS })
		word(t, rows, column{Key: "found", Label: "Found"}, func(b loader.Bind) string { return map[bool]string{true: "yes", false: "no"}[b.Success] })
		word(t, rows, column{Key: "path", Label: "At", Detail: true}, func(b loader.Bind) string { return b.ResultPath })
		word(t, rows, column{Key: "by", Label: "Requested by", Detail: true}, func(b loader.Bind) string { return b.Requesting })
		word(t, rows, column{Key: "errors", Label: "Errors", Detail: true}, func(b loader.Bind) string { return strings.Join(b.Errors, "; ") })
		cutOff(t, len(r.Binds))
		sec.Tables = append(sec.Tables, t)
	}
	if x := r.Types; x != nil {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s took %s.", count(x.Count, "load of a type", "loads of types"), span(x.ExclusiveMS)))
		t := &table{ID: "typeloads", Title: "Longest loads of types", Sort: "inclusive", Time: "start", texts: texts}
		word(t, x.Longest, column{Key: "type", Label: "Type"}, func(l loader.TypeLoad) string { return l.Type })
		num(t, x.Longest, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(l loader.TypeLoad) float64 { return l.StartMS / 1000 })
		num(t, x.Longest, column{Key: "inclusive", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(l loader.TypeLoad) float64 { return l.InclusiveMS })
		num(t, x.Longest, column{Key: "exclusive", Label: "Own", Unit: "ms", Digits: 3}, func(l loader.TypeLoad) float64 { return l.ExclusiveMS })
		num(t, x.Longest, column{Key: "level", Label: "Level"}, func(l loader.TypeLoad) float64 { return float64(l.Level) })
		sec.Tables = append(sec.Tables, t)
	}
	v.Sections = append(v.Sections, sec)
}
