package timeline

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is the course of events. Times are milliseconds since the session began.
type Result struct {
	Schema int `json:"schema"`
	// The buckets are of the time from FromMS to ToMS, each BucketMS long.
	FromMS   float64 `json:"fromMs"`
	ToMS     float64 `json:"toMs"`
	BucketMS float64 `json:"bucketMs"`
	// Lanes are ordered by kind, and those of one kind by their sums.
	Lanes []*Lane `json:"lanes"`

	doubts []string // of events that mislead
}

// Begin returns when bucket i begins.
func (r *Result) Begin(i int) float64 { return round(r.FromMS + float64(i)*r.BucketMS) }

// round rounds off the digits of a number that only its binary form has.
func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// How says how the entries of a bucket make its value.
type How string

// The ways to make a value.
const (
	Sum     How = "sum"     // added up
	Highest How = "highest" // the highest level in the bucket, which may have been set before
	Mean    How = "mean"    // the mean of what was measured in the bucket
)

// A Lane is one thing over time.
type Lane struct {
	Kind Kind  `json:"kind"`
	PID  int64 `json:"pid"`           // -1 if the trace does not tell the process
	TID  int64 `json:"tid,omitempty"` // of lanes of threads
	// Life and Process are of an id that several processes had in turn: 0 for the first, 1 for the
	// next, and its name.
	Life    int    `json:"life,omitempty"`
	Process string `json:"process,omitempty"`
	// Of is the subject of a lane beside its kind: the task of requests, the name of a counter.
	Of   string `json:"of,omitempty"`
	Unit string `json:"unit"` // ms, MB, count, or that of a counter
	How  How    `json:"how"`
	// Total is all of a sum.
	Total measure.Float `json:"total,omitzero"`
	// Highest is the largest value of a bucket, or of a level or a mean the largest that
	// was measured; HighestMS is when its bucket begins, or when it was measured.
	Highest   measure.Float `json:"highest,omitzero"`
	HighestMS measure.Float `json:"highestMs,omitzero"`
	// WithinMS says of a lane with more than 65,536 parts that they were summed up within so
	// long.
	WithinMS float64 `json:"withinMs,omitempty"`
	// Values has a value for each bucket, null where it is unknown.
	Values []measure.Float `json:"values"`

	several bool
	owner   string // Process, or that it is not known
}

// Options choose the part of a trace to show, and how finely.
type Options struct {
	// Origin is when the session began, in nanoseconds since 1970.
	Origin int64
	// From and To are the time that is shown, since the session began.
	From, To time.Duration
	// Buckets is the number of buckets.
	Buckets int
	// Threads has lanes of processors for each thread, not for each process.
	Threads bool
	// Cut leaves out entries before From, or from To on, and such parts of intervals. Levels
	// are known from before. Otherwise such things count in the first and in the last
	// bucket.
	Cut bool
}

// A key tells lanes apart.
type key struct {
	kind     Kind
	pid, tid int64
	life     int
	of       string
	cause    string    // of a lane that is not named yet
	code     stacks.ID // that tells more of that
	unit     string
	how      How
}

// A chart is a [Result] that is being made. Times are nanoseconds since the session
// began.
type chart struct {
	from, to, width int64
	cut             bool
	lanes           map[key]*row
}

// A row is a lane that is being made.
type row struct {
	key
	values []float64
	counts []int // of a mean
	total  float64
	points []point // of a level
	any    bool    // there is something in it
	within int64   // nanoseconds in which parts were summed up, if there were many
}

// A point is a value at a time.
type point struct {
	at    int64
	value float64
}

// maxBuckets bounds [Options].
const maxBuckets = 1 << 16

// mostNS bounds times such that no difference of two overflows.
const mostNS = math.MaxInt64 / 8

func newChart(o *Options) (*chart, int) {
	n := min(max(o.Buckets, 1), maxBuckets)
	from, to := clamp(int64(o.From)), clamp(int64(o.To))
	width := max((to-from+int64(n)-1)/int64(n), 1)
	return &chart{from: from, to: to, width: width, cut: o.Cut, lanes: make(map[key]*row)}, n
}

func clamp(ns int64) int64 { return min(max(ns, -mostNS), mostNS) }

// nanoseconds converts a time in milliseconds.
func nanoseconds(ms float64) int64 {
	return int64(min(max(math.Round(ms*1e6), -mostNS), mostNS))
}

// row returns the lane of a key, which has n buckets.
//
//go:noinline
func (c *chart) row(k key, n int) *row {
	r := c.lanes[k]
	if r == nil {
		r = &row{key: k, values: make([]float64, n)}
		if k.how == Mean {
			r.counts = make([]int, n)
		}
		c.lanes[k] = r
	}
	return r
}

// bucket returns the bucket of a time.
func (c *chart) bucket(r *row, at int64) int {
	if at < c.from {
		return 0
	}
	return int(min((clamp(at)-c.from)/c.width, int64(len(r.values)-1)))
}

// outside reports whether a time is cut off.
func (c *chart) outside(at int64) bool { return c.cut && (at < c.from || at >= c.to) }

// add adds an entry of one moment.
func (c *chart) add(r *row, at int64, weight float64) {
	if c.outside(at) {
		return
	}
	r.any = true
	r.total += weight
	r.values[c.bucket(r, at)] += weight
}

// spread adds an interval, to each bucket its part.
func (c *chart) spread(r *row, from, to int64, weight float64) {
	from, to = clamp(from), clamp(to)
	if c.cut && to > from {
		a, b := max(from, c.from), min(to, c.to)
		if b <= a {
			return
		}
		weight *= float64(b-a) / float64(to-from)
		from, to = a, b
	}
	first, last := c.bucket(r, from), c.bucket(r, to-1)
	if to <= from || first >= last {
		c.add(r, from, weight)
		return
	}
	r.any = true
	r.total += weight
	left, begin := weight, from
	for i := first; i < last; i++ {
		end := c.from + int64(i+1)*c.width
		part := weight * (float64(end-begin) / float64(to-from))
		r.values[i] += part
		left -= part
		begin = end
	}
	r.values[last] += max(left, 0)
}

// set sets a level, or adds to a mean.
func (c *chart) set(r *row, at int64, value float64) {
	if at = clamp(at); r.how == Mean && c.outside(at) || c.cut && at >= c.to {
		return
	}
	r.any = true
	r.points = append(r.points, point{at, value})
	if r.how == Mean {
		i := c.bucket(r, at)
		r.values[i] += value
		r.counts[i]++
	}
}

// result returns the sum.
func (c *chart) result(n int) *Result {
	at := func(i int) float64 { return float64(c.from+int64(i)*c.width) / 1e6 }
	res := &Result{Schema: Schema, FromMS: at(0), ToMS: at(n), BucketMS: float64(c.width) / 1e6, Lanes: []*Lane{}}
	for _, r := range c.lanes {
		if c.cut && !r.any {
			continue
		}
		l := &Lane{Kind: r.kind, PID: r.pid, TID: r.tid, Life: r.life, Of: r.of, Unit: r.unit, How: r.how, WithinMS: float64(r.within) / 1e6, Values: make([]measure.Float, len(r.values))}
		switch r.how {
		case Sum:
			r.sums(l, at)
		case Mean:
			r.means(l)
		default:
			c.levels(r, l)
		}
		res.Lanes = append(res.Lanes, l)
	}
	order.Sort(res.Lanes, func(a, b *Lane) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(b.Total.Or(0), a.Total.Or(0)),
			cmp.Compare(b.heaviest(), a.heaviest()), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Life, b.Life), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Of, b.Of),
			cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.How, b.How))
	})
	return res
}

// heaviest is the key to sort lanes of one kind by that have no sum. Counters, whose units
// differ, are in the order of their names.
func (l *Lane) heaviest() float64 {
	if l.Kind == Counter {
		return 0
	}
	return l.Highest.Or(0)
}

func (r *row) sums(l *Lane, at func(int) float64) {
	l.Total = measure.Known(round(r.total))
	for i, v := range r.values {
		v = round(v)
		l.Values[i] = measure.Known(v)
		if l.Highest.IsZero() || v > l.Highest.Or(0) {
			l.Highest, l.HighestMS = measure.Known(v), measure.Known(at(i))
		}
	}
}

func (r *row) means(l *Lane) {
	for i, v := range r.values {
		if r.counts[i] > 0 {
			l.Values[i] = measure.Known(v / float64(r.counts[i]))
		}
	}
	r.top(l)
}

// top finds the highest of all that was measured.
func (r *row) top(l *Lane) {
	for _, p := range r.points {
		if v, ok := l.Highest.Get(); !ok || p.value > v {
			l.Highest, l.HighestMS = measure.Known(p.value), measure.Known(float64(p.at)/1e6)
		}
	}
}

// carry leaves of the levels that were set before a time the last one, as that at the time.
func (r *row) carry(from int64) {
	before := 0
	for before < len(r.points) && r.points[before].at <= from {
		before++
	}
	if before > 0 {
		r.points = r.points[before-1:]
		r.points[0].at = from
	}
}

// levels fills the buckets of a level: each has the highest that it was at in there.
func (c *chart) levels(r *row, l *Lane) {
	order.Stable(r.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	if c.cut {
		r.carry(c.from)
	}
	level := measure.Float{}
	next := 0
	for i := range l.Values {
		l.Values[i] = level
		for ; next < len(r.points) && (c.bucket(r, r.points[next].at) <= i); next++ {
			level = measure.Known(r.points[next].value)
			if v, ok := l.Values[i].Get(); !ok || r.points[next].value > v {
				l.Values[i] = level
			}
		}
	}
	r.top(l)
}
