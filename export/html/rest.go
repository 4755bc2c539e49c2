package html

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/requests"
)

// addRequests adds the requests and other activities.
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
	sec.showEach((&requests.Result{Processes: []*requests.Process{r}}).Tables(), texts)
	for _, t := range sec.Tables {
		t.partedByCause()
	}
	v.add(findings.Requests(r))
	if x := served(r.Tasks); x != nil && x.Count > 0 {
		v.Tiles = append(v.Tiles, tile{"Requests", grouped(float64(x.Count), 0), "95 % under " + span(x.DurationMS.P95.Or(0)) + ", says " + clean(x.Provider), "requests"})
	}
	v.Sections = append(v.Sections, sec)
}

// causeColors are those of where time went, by the columns, in the order of their parts.
var causeColors = []partOne{
	{"runningMs", "cpu"}, {"awaitingMs", "await"}, {"queuedMs", "queue"}, {"blockedMs", "blocked"}, {"lockMs", "lock"}, {"gcMs", "gc"}, {"jitMs", "jit"}, {"othersMs", "other"}, {"readyMs", "queue"},
}

// partedByCause gives a table a bar of where the time of each row went, if it tells that. The
// numbers show when a row is opened.
func (t *table) partedByCause() {
	bar := &parted{Label: "Where the time went"}
	for _, x := range causeColors {
		for _, c := range t.Columns {
			if c.Key == x.Key {
				c.Detail = true
				bar.Of = append(bar.Of, x)
			}
		}
	}
	if bar.Of != nil {
		t.Parted = bar
	}
}

// served returns the task that people mean by requests, or nil: those that a server serves,
// or else those that a client makes.
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
				Series: []*series{{"Value", "cpu", &numbers{values: r.y, digits: 4}}}})
		}
	}
	lead := fmt.Sprintf("%s, of which %s changed.", count(len(rows), "counter", "counters"), grouped(float64(len(rows)-steady), 0))
	if len(sec.Charts) == maxCounterCharts {
		lead += fmt.Sprintf(" The first %d of these are drawn.", maxCounterCharts)
	}
	sec.Lead = append(sec.Lead, lead)
	for _, t := range (&counters.Result{Processes: []counters.Process{*p}}).Tables() {
		if t.Name != "point" { // they are drawn
			sec.show(t, texts)
		}
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
		r.title = cmp.Or(r.title, c.Name)
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
		name := "Snapshot"
		if ms, ok := h.AtMS.Get(); ok {
			name += " at " + at(ms)
		}
		lead := fmt.Sprintf("%s: %s in %s objects with %s references; roots keep %s of it alive.", name, size(float64(h.Bytes)), grouped(float64(h.Objects), 0),
			grouped(float64(h.References), 0), size(float64(h.ReachableBytes)))
		if !h.Complete {
			lead += fmt.Sprintf(" It is not complete: %d references are missing, and %d events after the first gap are left out.", h.MissingReferences, h.LostEvents)
		}
		sec.Lead = append(sec.Lead, lead)
		for _, t := range (&heap.Result{Snapshots: []*heap.Snapshot{h}}).Tables() {
			if t.Name != "snapshot" {
				t.Name, t.Title = fmt.Sprint(t.Name, i), name+": "+t.Title
				sec.show(t, texts)
			}
		}
	}
	last := s.heap[len(s.heap)-1]
	v.Tiles = append(v.Tiles, tile{"Heap snapshot", size(float64(last.Bytes)), count(last.Objects, "object", "objects"), "heap"})
	v.Sections = append(v.Sections, sec)
}

// addHandles adds the handles.
func addHandles(v *view, s *subject, texts *texts) {
	r := s.handles
	if r == nil || r.Created+r.Destroyed == 0 && len(r.Pinned) == 0 {
		return
	}
	v.weight += r.Created
	sec := &section{ID: "handles", Title: "GC handles", Lead: []string{fmt.Sprintf("%s made and %s given back; %s of those made in the trace are alive at its end.",
		count(r.Created, "handle was", "handles were"), grouped(float64(r.Destroyed), 0), grouped(float64(r.Alive), 0))}}
	if len(r.AliveOverTime.Highest) > 1 {
		sec.Charts = append(sec.Charts, levelsChart("alive", "Handles alive", "Handles", "accent", r.AliveOverTime))
	}
	sec.showEach((&handles.Result{Runtimes: []*handles.Runtime{r}}).Tables(), texts)
	v.Sections = append(v.Sections, sec)
}

// addLoader adds the loads.
func addLoader(v *view, s *subject, texts *texts) {
	r := s.loader
	if r == nil || len(r.Assemblies)+len(r.Modules)+len(r.Binds) == 0 && r.Types == nil {
		return
	}
	sec := &section{ID: "loader", Title: "Assemblies", Lead: []string{fmt.Sprintf("%s and %s.", count(len(r.Assemblies), "assembly", "assemblies"), count(len(r.Modules), "module", "modules"))}}
	if r.Failed > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%d of %s found nothing.", r.Failed, count(len(r.Binds), "look-up", "look-ups")))
	}
	sec.showEach((&loader.Result{Runtimes: []*loader.Runtime{r}}).Tables(), texts)
	if x := r.Types; x != nil {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%s took %s.", count(x.Count, "load of a type", "loads of types"), span(x.ExclusiveMS)))
	}
	v.Sections = append(v.Sections, sec)
}
