// Package figures has the numbers by which recordings are compared, from the results of all
// analyses: how many collections, how long pauses were, the allocations by type. Use it with
// package compare to say whether a change made a program better, or to follow such numbers
// from build to build.
//
//	before, after := figures.Of(resultA), figures.Of(resultB)
//	for _, c := range compare.Sides([][]compare.Figure{before}, [][]compare.Figure{after}, 10) {
//		fmt.Println(c.Figure.Metric, c.Figure.Unit, c.A.Median, c.B.Median, c.Verdict)
//	}
//
// [Kinds] lists their names, units and directions. Names and units do not change between
// releases without a word in the changelog.
package figures

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
)

// Of returns the figures of the answers about a recording. An area of which the recording
// has no events has none.
func Of(r *analysis.Result) []compare.Figure {
	var l list
	l.collections(r.GC)
	if len(r.Alloc.Runtimes) > 0 {
		ticks := 0
		for _, t := range r.Alloc.Types {
			ticks += t.Ticks
		}
		l.total("alloc.bytes", "", r.Alloc.Bytes, ticks)
		for _, t := range r.Alloc.Types {
			l.total("alloc.bytes.*", t.Type, t.Bytes, t.Ticks)
		}
	}
	if len(r.Exceptions.Runtimes) > 0 {
		l.count("exceptions.count", "", r.Exceptions.Throws())
		for _, t := range r.Exceptions.Types {
			l.count("exceptions.count.*", t.Type, t.Throws())
		}
	}
	if len(r.JIT.Runtimes) > 0 {
		l.count("jit.count", "", r.JIT.Count)
		l.total("jit.exclusiveMs", "", r.JIT.ExclusiveMS, r.JIT.Count)
		l.total("jit.inclusiveMs", "", r.JIT.InclusiveMS, r.JIT.Count)
	}
	l.threads(r)
	l.snapshot(r.Heap)
	l.requests(r.Requests)
	l.counters(r.Counters)
	return l.figures
}

// Duration returns the figure of how long a recording is.
func Duration(d time.Duration) compare.Figure {
	var l list
	l.add("trace.durationMs", "", d.Seconds()*1e3, 0)
	return l.figures[0]
}

// Silent returns the figures that are 0 where the runtime had nothing to tell of an area:
// of a recording that has other events of the runtime, and none of the area.
func Silent() []compare.Figure {
	var l list
	for i := range kinds {
		if k := &kinds[i]; k.has(silent) {
			l.put(k.figure(""))
		}
	}
	return l.figures
}

// A list collects figures, of several with the same name the first.
type list struct {
	figures []compare.Figure
	seen    map[string]bool
}

func (l *list) put(f compare.Figure) {
	if l.seen == nil {
		l.seen = make(map[string]bool)
	}
	if !l.seen[f.Metric] {
		l.seen[f.Metric] = true
		l.figures = append(l.figures, f)
	}
}

// kindOf returns a kind by its name.
func kindOf(metric string) *Kind {
	if k := find(metric); k != nil {
		return k
	}
	panic("figures: there is no kind " + metric) // the names are those of this package
}

// find returns a kind by its name, or nil.
func find(metric string) *Kind {
	for i := range kinds {
		if kinds[i].Metric == metric {
			return &kinds[i]
		}
	}
	return nil
}

// figure returns a figure without a value. Of names its subject.
func (k *Kind) figure(of string) compare.Figure {
	whole := ""
	if strings.HasSuffix(k.Metric, ".*") && k.has(sum|held) {
		whole = k.Metric
	}
	area := k.Area
	if provider, _, ok := strings.Cut(of, "/"); ok && area == requestsArea { // each has to be asked for
		area += " of " + provider
	}
	return compare.Figure{Metric: strings.Replace(k.Metric, "*", of, 1), Whole: whole, Area: area, Name: strings.Replace(k.Name, "*", of, 1), Unit: k.Unit,
		MoreIsWorse: k.has(worse), Sum: k.has(sum | held), Grows: k.has(sum | grows), Steady: k.has(steady), Estimated: k.has(estimated)}
}

// Times of one program vary by so much from one recording to the next, as a part of them:
// machines have other work, too. A figure that differs by a factor of three is more than
// three times that of both.
const varying = 0.22

// valued sets the value of a figure, and how much it varies.
func (k *Kind) valued(f compare.Figure, v, noise float64) compare.Figure {
	f.Value, f.Noise = v, noise
	if k.varies() {
		f.Alone = varying * math.Abs(v)
	}
	return f
}

// add adds a figure of a kind, whose noise is the standard deviation that chance gives it.
func (l *list) add(metric, of string, v, noise float64) {
	k := kindOf(metric)
	l.put(k.valued(k.figure(of), v, noise))
}

// count adds how often something happened.
func (l *list) count(metric, of string, n int) { l.add(metric, of, float64(n), math.Sqrt(float64(n))) }

// total adds a sum of n values of which no more is known.
func (l *list) total(metric, of string, v float64, n int) {
	l.add(metric, of, v, v/math.Sqrt(float64(max(n, 1))))
}

// So few values above a quantile are too few to say where it is.
const fewAbove = 5

// The standard errors of quantiles of values that are normal, in those of the mean. That
// of the largest value is a guess.
const (
	errorOfP50 = 1.25
	errorOfP95 = 2.1
	errorOfP99 = 3.7
	errorOfMax = 5
)

// distribution adds the figures that describe values: their mean, and how large most are.
func (l *list) distribution(metric, of string, s *measure.Summary) {
	if s.Count == 0 {
		return
	}
	k := kindOf(metric)
	name := compare.Figure{Metric: strings.TrimSuffix(k.Metric, ".*"), Name: strings.TrimPrefix(k.Name, "* ")}
	noise := s.StdDev.Or(s.Mean.Or(0)) / math.Sqrt(float64(s.Count))
	for _, x := range []struct {
		of    string
		v     measure.Float
		noise float64
		above float64 // this part of the values is
	}{{"mean", s.Mean, 1, 1}, {"p50", s.P50, errorOfP50, 0.5}, {"p95", s.P95, errorOfP95, 0.05}, {"p99", s.P99, errorOfP99, 0.01}, {"max", s.Max, errorOfMax, 0}} {
		v, ok := x.v.Get()
		if !ok {
			continue
		}
		f := k.valued(k.figure(of), v, x.noise*noise)
		f.Metric = strings.Replace(name.Metric, "*", of, 1) + "." + x.of
		f.Name = x.of + " " + strings.Replace(name.Name, "*", of, 1)
		if x.above*float64(s.Count) < fewAbove { // another time it may be another outlier
			f.Alone = max(f.Alone, s.Max.Or(v)-s.P50.Or(0))
		}
		l.put(f)
	}
}

// largest adds the largest of values: another time it may be as far from their middle.
func (l *list) largest(metric string, v float64, of []float64) {
	k, s := kindOf(metric), measure.Summarize(of)
	f := k.valued(k.figure(""), v, 0)
	f.Alone = max(varying*math.Abs(v), v-s.P50.Or(v))
	l.put(f)
}

// collections sums up the collections of all runtimes.
func (l *list) collections(r *gc.Result) {
	if len(r.Runtimes) == 0 {
		return
	}
	var count, induced int
	var byGeneration [3]int
	var pauses, peaks []float64
	var pause, squares, allocated, promoted, peak float64
	told := true // all that all of them allocated
	for _, rt := range r.Runtimes {
		count += rt.Count
		induced += rt.All.Induced
		pause += rt.PauseMS
		allocated += rt.AllocatedMB.Or(0)
		told = told && (rt.Count == 0 || rt.AllocatedIsWhole())
		promoted += rt.All.PromotedMB
		peak = max(peak, rt.All.MaxPeakMB.Or(0))
		for i := range min(len(byGeneration), len(rt.ByGeneration)) {
			byGeneration[i] += rt.ByGeneration[i].Count
		}
		for _, g := range rt.GCs {
			if v, ok := g.PauseMS.Get(); ok {
				pauses = append(pauses, v)
			}
			if v, ok := g.PeakMB.Get(); ok {
				peaks = append(peaks, v)
			}
		}
	}
	s := measure.Summarize(pauses)
	for _, v := range pauses {
		squares += v * v
	}
	l.count("gc.count", "", count)
	l.add("gc.pauseMs", "", pause, math.Sqrt(squares))
	l.distribution("gc.pauseMs.*", "", &s)
	l.largest("gc.maxPeakMB", peak, peaks)
	if told {
		// All is counted but for what was allocated after the last collection: as much as one finds.
		l.add("gc.allocatedMB", "", allocated, allocated/float64(max(count, 1)))
	}
	l.total("gc.promotedMB", "", promoted, count)
	l.count("gc.induced", "", induced)
	for i, metric := range []string{"gc.gen0.count", "gc.gen1.count", "gc.gen2.count"} {
		l.count(metric, "", byGeneration[i])
	}
}

// threads adds how long threads waited, and how many the pool had.
func (l *list) threads(r *analysis.Result) {
	if runtimes := r.Contention.Runtimes; len(runtimes) > 0 {
		l.waited("contention", r.Contention.Count, r.Contention.TotalMS)
		open := 0.0
		for _, rt := range runtimes {
			open += rt.OpenMS
		}
		l.add("contention.openMs", "", open, r.Contention.TotalMS/float64(max(r.Contention.Count, 1)))
		if len(runtimes) == 1 {
			l.distribution("contention.durationMs.*", "", &runtimes[0].DurationMS)
		}
	}
	if runtimes := r.Waits.Runtimes; len(runtimes) > 0 {
		l.waited("waits", r.Waits.Count, r.Waits.TotalMS)
		if len(runtimes) == 1 {
			l.distribution("waits.durationMs.*", "", &runtimes[0].DurationMS)
		}
	}
	workers, starving := 0, 0
	for _, rt := range r.ThreadPool.Runtimes {
		workers = max(workers, rt.MaxWorkers)
		if rt.Starvation != nil {
			starving++
		}
	}
	if workers > 0 { // else its events were not recorded
		l.count("threadPool.maxWorkers", "", workers)
		l.add("threadPool.starving", "", float64(starving), 0)
	}
}

// waited adds how often threads waited, and for how long. Threads that wait make others
// wait: this varies more than chance does.
func (l *list) waited(area string, count int, totalMS float64) {
	const crowded = 2
	n := float64(count)
	l.add(area+".count", "", n, crowded*math.Sqrt(n))
	l.add(area+".totalMs", "", totalMS, crowded*totalMS/math.Sqrt(max(n, 1)))
}

// snapshot adds the last snapshot of the heap.
func (l *list) snapshot(r *heap.Result) {
	if len(r.Snapshots) == 0 {
		return
	}
	s := r.Snapshots[len(r.Snapshots)-1]
	l.add("heap.objects", "", float64(s.Objects), 0)
	l.add("heap.bytes", "", float64(s.Bytes), 0)
	l.add("heap.reachableBytes", "", float64(s.ReachableBytes), 0)
	for _, t := range s.Types {
		l.add("heap.bytes.*", t.Type, float64(t.Bytes), 0)
	}
}

// enoughRequests of an endpoint may be there in another recording, too.
const enoughRequests = 5

// requests adds the requests by task, and how long those of endpoints took. Of several processes with the same one, the first
// counts.
func (l *list) requests(r *requests.Result) {
	for _, p := range r.Processes {
		for _, t := range p.Tasks {
			name := t.Provider + "/" + t.Task
			l.count("requests.*.count", name, t.Count)
			if n, ok := t.Errors.Get(); ok {
				l.count("requests.*.errors", name, int(n))
			}
			longest := 0.0 // of those that are not over at the end: each may be as long as others are
			for _, x := range t.Unended {
				longest = max(longest, x.DurationMS)
			}
			l.add("requests.*.openMs", name, longest, t.DurationMS.Max.Or(0))
			l.distribution("requests.*.ms.*", name, &t.DurationMS)
			for i := range t.Endpoints {
				if e := &t.Endpoints[i]; e.Endpoint != requests.NoEndpoint && e.Count >= enoughRequests {
					l.distribution("endpoints.*.ms.*", name+" "+e.Endpoint, &e.DurationMS)
				}
			}
		}
	}
}

// counters adds the means of counters and metrics, whose names tell their subject.
func (l *list) counters(r *counters.Result) {
	k := kindOf("counters.*")
	for _, c := range r.TimeSeries() {
		s := c.Summary()
		if s.Count == 0 {
			continue
		}
		name := c.Provider + "/" + c.Name
		if c.Tags != "" {
			name += "{" + c.Tags + "}"
		}
		if c.Of != "mean" && c.Of != "value" {
			name += "." + c.Of
		}
		f := k.figure(name)
		f.Name, f.Unit = "mean "+c.Of+" of "+c.Provider+"/"+c.Name+" "+c.Tags, cmp.Or(f.Unit, c.Unit)
		mean := s.Mean.Or(0)
		l.put(k.valued(f, mean, s.StdDev.Or(math.Abs(mean))/math.Sqrt(float64(s.Count))))
	}
}
