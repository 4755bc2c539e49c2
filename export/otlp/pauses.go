package otlp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/internal/order"
)

// pauseBounds are those of the buckets of pauses, in seconds.
var pauseBounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// A pauseKey is the key that tells collections apart.
type pauseKey struct {
	generation   gc.Generation
	kind, reason string
}

// pauses are those of alike collections.
type pauses struct {
	buckets []int64
	count   int64
	sum     float64
	last    float64
}

// A processGC is the collections of one process.
type processGC struct {
	found   map[pauseKey]*pauses
	order   []pauseKey
	firstMS float64
	lastMS  float64
	counts  map[gc.Generation]int64 // of collections
	sum     float64                 // of all pauses, in seconds
	changed bool
}

func newProcessGC(firstMS float64) *processGC {
	return &processGC{found: make(map[pauseKey]*pauses), counts: make(map[gc.Generation]int64), firstMS: firstMS}
}

func (p *processGC) add(g *gc.GC) {
	p.counts[g.Generation]++
	p.changed = true
	p.lastMS = max(p.lastMS, g.StartMS)
	ms, ok := g.PauseMS.Get()
	if !ok {
		return
	}
	k := pauseKey{g.Generation, string(g.Kind), g.Reason}
	of := p.found[k]
	if of == nil {
		of = &pauses{buckets: make([]int64, len(pauseBounds)+1)}
		p.found[k] = of
		p.order = append(p.order, k)
	}
	at, _ := slices.BinarySearch(pauseBounds, ms/1000)
	of.buckets[at]++
	of.count++
	of.sum += ms / 1000
	of.last = max(of.last, g.StartMS+ms)
	p.sum += ms / 1000
	p.lastMS = max(p.lastMS, of.last)
}

// AppendGC appends the pauses for collections, a line for each runtime.
func (m *Metrics) AppendGC(b []byte, res *gc.Result) []byte {
	for _, rt := range res.Runtimes {
		p := newProcessGC(rt.FirstMS)
		for i := range rt.GCs {
			p.add(rt.GCs[i])
		}
		b = m.appendGC(b, rt.PID, p, false)
	}
	return b
}

// AddGC adds a collection of a process, as [gc.Analysis.Drain] has them, for
// [Metrics.AppendPauses].
func (m *Metrics) AddGC(pid int64, g *gc.GC) {
	p := m.gcs[pid]
	if p == nil {
		if m.gcs == nil {
			m.gcs = make(map[int64]*processGC)
		}
		p = newProcessGC(0)
		m.gcs[pid] = p
	}
	p.add(g)
}

// AppendPauses appends the pauses of all collections that were added, a line for each
// process that had one since the last call. With totals the counts of collections and
// the sum of their pauses are among it, under the names of the conventions: they must
// come from one source, and meters have them, too. With Delta they are of the time since
// the last call.
func (m *Metrics) AppendPauses(b []byte, totals bool) []byte {
	for _, pid := range slices.Sorted(maps.Keys(m.gcs)) {
		if p := m.gcs[pid]; p.changed {
			p.changed = false
			b = m.appendGC(b, pid, p, totals)
			if m.Delta {
				m.gcs[pid] = newProcessGC(p.lastMS)
			}
		}
	}
	return b
}

// appendGC appends the collections of a process as a line.
func (m *Metrics) appendGC(b []byte, pid int64, p *processGC, totals bool) []byte {
	var list []*family
	if len(p.order) > 0 {
		f := &family{scope: "etwgen", name: "etwgen.dotnet.gc.pause.duration", unit: "s", about: "how long threads were stopped for a collection", kind: "histogram", delta: m.Delta}
		for _, k := range p.order {
			f.points = append(f.points, m.histogram(p.firstMS, k, p.found[k]))
		}
		list = append(list, f)
	}
	if totals {
		list = append(list, m.collections(p), m.pauseTime(p))
	}
	if len(list) == 0 {
		return b
	}
	return append(m.families(m.process(b, pid), list), "]}]}\n"...)
}

// collections returns the counts of collections by generation.
func (m *Metrics) collections(p *processGC) *family {
	f := &family{scope: "etwgen", name: "dotnet.gc.collections", unit: "{collection}", about: "collections, by the oldest generation that was collected", kind: "sum", monotonic: true, absolute: true, delta: m.Delta}
	generations := slices.Collect(maps.Keys(p.counts))
	order.Sort(generations, cmp.Compare)
	for _, g := range generations {
		var list []Attribute
		if g >= 0 {
			list = []Attribute{{generationKey, "gen" + strconv.Itoa(int(g))}}
		}
		f.points = append(f.points, number(m.pointWith(p.firstMS, p.lastMS, list), float64(p.counts[g])))
	}
	return f
}

// pauseTime returns the sum of the pauses.
func (m *Metrics) pauseTime(p *processGC) *family {
	return &family{
		scope: "etwgen", name: "dotnet.gc.pause.time", unit: "s", about: "how long threads were stopped for collections", kind: "sum", monotonic: true, absolute: true, delta: m.Delta,
		points: [][]byte{number(m.pointWith(p.firstMS, p.lastMS, nil), p.sum)},
	}
}

// histogram returns the point of alike collections.
func (m *Metrics) histogram(fromMS float64, k pauseKey, p *pauses) []byte {
	b := appendNanos([]byte{'{'}, "timeUnixNano", m.nanos(p.last))
	b = appendNanos(append(b, ','), "startTimeUnixNano", m.nanos(fromMS))
	var list []Attribute
	if k.generation >= 0 {
		list = append(list, Attribute{generationKey, "gen" + strconv.Itoa(int(k.generation))})
	}
	list = append(list, Attribute{"etwgen.gc.type", k.kind}, Attribute{"etwgen.gc.reason", k.reason})
	b = appendAttributes(append(b, ','), list)
	b = strconv.AppendInt(append(b, `,"count":"`...), p.count, 10)
	b = appendNumber(append(b, `","sum":`...), p.sum)
	b = append(b, `,"bucketCounts":[`...)
	for i, n := range p.buckets {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '"'), n, 10)
		b = append(b, '"')
	}
	b = append(b, `],"explicitBounds":[`...)
	for i, v := range pauseBounds {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, "]}"...)
}
