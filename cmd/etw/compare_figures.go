package main

import (
	"fmt"
	"math"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
)

// A figure is a number of a trace.
type figure struct {
	compare.Figure
	grows bool // with what was recorded: it can be set against that
}

// figures are the numbers of a trace that can be compared.
type figures struct {
	list    []figure
	seen    map[string]bool
	samples string // what those are that times of code are of, "" without any
}

// add adds a number, of several with the same name the first.
func (f *figures) add(x figure) {
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	if !f.seen[x.Metric] {
		f.seen[x.Metric] = true
		f.list = append(f.list, x)
	}
}

// level adds a number that does not grow with time.
func (f *figures) level(area, metric, name string, v, noise float64) {
	f.add(figure{Figure: compare.Figure{Metric: metric, Area: area, Name: name, Value: v, Noise: noise}})
}

// varying is how much times of one program vary from one recording to the next, as a part
// of them: machines have other work, too. What differs by a factor of three is more than
// three times that of both.
const varying = 0.22

// varies says that the number that was added last is a time.
func (f *figures) varies() {
	x := &f.list[len(f.list)-1]
	x.Alone = max(x.Alone, varying*math.Abs(x.Value))
}

// sum adds a number that does. It is 0 where there is nothing to add up.
func (f *figures) sum(area, metric, name string, v, noise float64) {
	f.add(figure{compare.Figure{Metric: metric, Area: area, Name: name, Value: v, Noise: noise, Sum: true}, true})
}

// count adds how often something happened.
func (f *figures) count(area, metric, name string, n int) {
	f.sum(area, metric, name, float64(n), math.Sqrt(float64(n)))
}

// total adds a sum of n values of which no more is known.
func (f *figures) total(area, metric, name string, v float64, n int) {
	f.sum(area, metric, name, v, v/math.Sqrt(float64(max(n, 1))))
}

// fewAbove is how many values above a quantile are too few to say where it is.
const fewAbove = 5

// The standard errors of quantiles of values that are normal, in those of the mean. That
// of the largest value is a guess.
const (
	errorOfP50 = 1.25
	errorOfP95 = 2.1
	errorOfP99 = 3.7
	errorOfMax = 5
)

// distribution adds what describes values: their mean, and how large most are.
func (f *figures) distribution(area, metric, name string, s *quantity.Summary) {
	if s.Count == 0 {
		return
	}
	noise := s.StdDev.Or(s.Mean.Or(0)) / math.Sqrt(float64(s.Count))
	for _, x := range []struct {
		of    string
		v     quantity.Float
		noise float64
		above float64 // which part of the values is
	}{{"mean", s.Mean, 1, 1}, {"p50", s.P50, errorOfP50, 0.5}, {"p95", s.P95, errorOfP95, 0.05}, {"p99", s.P99, errorOfP99, 0.01}, {"max", s.Max, errorOfMax, 0}} {
		v, ok := x.v.Get()
		if !ok {
			continue
		}
		f.level(area, metric+"."+x.of, x.of+" "+name, v, x.noise*noise)
		f.varies()
		if x.above*float64(s.Count) < fewAbove { // another time it may be another outlier
			last := &f.list[len(f.list)-1]
			last.Alone = max(last.Alone, s.Max.Or(v)-s.P50.Or(0))
		}
	}
}

// figuresOf returns the numbers of the answers about a trace.
func figuresOf(r *analysis.Result) *figures {
	f := new(figures)
	if len(r.GC.Runtimes) > 0 {
		f.collections(r.GC)
	}
	if len(r.Alloc.Runtimes) > 0 {
		ticks := 0
		for _, t := range r.Alloc.Types {
			ticks += t.Ticks
		}
		f.total("allocations", "alloc.bytes", "bytes", r.Alloc.Bytes, ticks)
		for _, t := range r.Alloc.Types {
			f.total("allocations", "alloc.bytes."+t.Type, "bytes of "+t.Type, t.Bytes, t.Ticks)
		}
	}
	if len(r.Exceptions.Runtimes) > 0 {
		f.count("exceptions", "exceptions.count", "count", r.Exceptions.Count)
		for _, t := range r.Exceptions.Types {
			f.count("exceptions", "exceptions.count."+t.Type, "count of "+t.Type, t.Count)
		}
	}
	if len(r.JIT.Runtimes) > 0 {
		f.count("compiling", "jit.count", "count", r.JIT.Count)
		f.total("compiling", "jit.exclusiveMs", "exclusiveMs", r.JIT.ExclusiveMS, r.JIT.Count)
		f.varies()
		f.total("compiling", "jit.inclusiveMs", "inclusiveMs", r.JIT.InclusiveMS, r.JIT.Count)
		f.varies()
	}
	f.threads(r)
	f.snapshot(r.Heap)
	f.requests(r.Requests)
	f.counters(&counterAnswer{res: r.Counters})
	return f
}

// collections sums up the collections of all runtimes.
func (f *figures) collections(r *gc.Result) {
	const area = "collections"
	var count, induced int
	var byGeneration [3]int
	var pauses []float64
	var pause, allocated, promoted, peak float64
	for _, rt := range r.Runtimes {
		count += rt.Count
		induced += rt.All.Induced
		pause += rt.PauseMS
		allocated += rt.All.AllocatedMB
		promoted += rt.All.PromotedMB
		peak = max(peak, rt.All.MaxPeakMB.Or(0))
		for i := range byGeneration {
			byGeneration[i] += rt.ByGeneration[i].Count
		}
		for _, g := range rt.GCs {
			if v, ok := g.PauseMS.Get(); ok {
				pauses = append(pauses, v)
			}
		}
	}
	s := quantity.Summarize(pauses)
	squares := 0.0
	for _, v := range pauses {
		squares += v * v
	}
	f.count(area, "gc.count", "count", count)
	f.sum(area, "gc.pauseMs", "pauseMs", pause, math.Sqrt(squares))
	f.varies()
	f.distribution(area, "gc.pauseMs", "pauseMs", &s)
	f.level(area, "gc.maxPeakMB", "maxPeakMB", peak, 0)
	f.total(area, "gc.allocatedMB", "allocatedMB", allocated, count)
	f.total(area, "gc.promotedMB", "promotedMB", promoted, count)
	f.count(area, "gc.induced", "induced", induced)
	for i, n := range byGeneration {
		f.count(area, fmt.Sprintf("gc.gen%d.count", i), fmt.Sprintf("count of generation %d", i), n)
	}
}

// threads adds what threads waited for, and how many the pool had.
func (f *figures) threads(r *analysis.Result) {
	// Threads that wait make others wait: counts vary more than chance does.
	const crowded = 2
	if len(r.Contention.Runtimes) > 0 {
		n, v := float64(r.Contention.Count), r.Contention.TotalMS
		f.sum("contention", "contention.count", "count", n, crowded*math.Sqrt(n))
		f.sum("contention", "contention.totalMs", "totalMs", v, crowded*v/math.Sqrt(max(n, 1)))
		f.varies()
		if len(r.Contention.Runtimes) == 1 {
			f.distribution("contention", "contention.durationMs", "durationMs", &r.Contention.Runtimes[0].DurationMS)
		}
	}
	if len(r.Waits.Runtimes) > 0 {
		n, v := float64(r.Waits.Count), r.Waits.TotalMS
		f.sum("waits", "waits.count", "count", n, crowded*math.Sqrt(n))
		f.sum("waits", "waits.totalMs", "totalMs", v, crowded*v/math.Sqrt(max(n, 1)))
		f.varies()
		if len(r.Waits.Runtimes) == 1 {
			f.distribution("waits", "waits.durationMs", "durationMs", &r.Waits.Runtimes[0].DurationMS)
		}
	}
	if len(r.ThreadPool.Runtimes) > 0 {
		workers, starving := 0, 0
		for _, rt := range r.ThreadPool.Runtimes {
			workers = max(workers, rt.MaxWorkers)
			if rt.Starvation != nil {
				starving++
			}
		}
		f.level("thread pool", "threadPool.maxWorkers", "maxWorkers", float64(workers), math.Sqrt(float64(workers)))
		f.level("thread pool", "threadPool.starving", "runtimes that starve", float64(starving), 0)
	}
}

// snapshot adds what the last snapshot of the heap has.
func (f *figures) snapshot(r *heap.Result) {
	if len(r.Snapshots) == 0 {
		return
	}
	s := r.Snapshots[len(r.Snapshots)-1]
	held := func(metric, name string, v float64) {
		f.add(figure{Figure: compare.Figure{Metric: metric, Area: "heap", Name: name, Value: v, Sum: true}})
	}
	held("heap.objects", "objects", float64(s.Objects))
	held("heap.bytes", "bytes", float64(s.Bytes))
	held("heap.reachableBytes", "reachableBytes", float64(s.ReachableBytes))
	for _, t := range s.Types {
		held("heap.bytes."+t.Type, "bytes of "+t.Type, float64(t.Bytes))
	}
}

// requests adds the requests by task. Of several processes with the same one, the first
// counts.
func (f *figures) requests(r *requests.Result) {
	for _, p := range r.Processes {
		for _, t := range p.Tasks {
			name := t.Provider + "/" + t.Task
			f.count("requests", "requests."+name+".count", "count of "+name, int(t.Count))
			f.count("requests", "requests."+name+".errors", "errors of "+name, int(t.Errors))
			f.distribution("requests", "requests."+name+".ms", "ms of "+name, &t.DurationMS)
		}
	}
}

// counters adds the means of counters and metrics, of which the name says what of.
func (f *figures) counters(a *counterAnswer) {
	for _, c := range a.rows() {
		var values []float64
		for _, x := range c.points {
			if v, ok := x.value.Get(); ok {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		s := quantity.Summarize(values)
		metric := "counters." + c.provider + "/" + c.name
		if c.tags != "" {
			metric += "{" + c.tags + "}"
		}
		if c.of != "mean" && c.of != "value" {
			metric += "." + c.of
		}
		mean := s.Mean.Or(0)
		f.level("counters", metric, "mean "+c.of+" of "+c.provider+"/"+c.name+" "+c.tags, mean, s.StdDev.Or(math.Abs(mean))/math.Sqrt(float64(s.Count)))
		f.varies()
	}
}
