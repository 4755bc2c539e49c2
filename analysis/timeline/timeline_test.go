package timeline

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// values are those of a lane, with -1 for unknown ones.
func values(l *Lane) []float64 {
	list := make([]float64, len(l.Values))
	for i, v := range l.Values {
		list[i] = v.Or(-1)
	}
	return list
}

// chartOf is a chart of ten buckets of 10 ms from 100 ms on.
func chartOf() (*chart, int) {
	return newChart(&Options{From: 100 * time.Millisecond, To: 200 * time.Millisecond, Buckets: 10})
}

const milli = int64(time.Millisecond)

func TestSpread(t *testing.T) {
	c, n := chartOf()
	r := c.row(key{kind: GCPause, unit: "ms", how: Sum}, n)
	for _, x := range []struct{ from, to int64 }{
		{105, 125}, // half of a bucket, one, half
		{130, 140}, // just one
		{90, 105},  // 10 before the first
		{195, 230}, // 30 after the last
		{150, 150}, // a moment
		{10, 20}, {500, 510},
	} {
		c.spread(r, x.from*milli, x.to*milli, float64(x.to-x.from))
	}
	l := c.result(n).Lanes[0]
	if diff := cmp.Diff([]float64{5 + 15 + 10, 10, 5, 10, 0, 0, 0, 0, 0, 35 + 10}, values(l)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.Total.Or(0) != 100 || l.Highest.Or(0) != 45 || l.HighestMS.Or(0) != 190 {
		t.Errorf("%+v", l)
	}
}

func TestLevelsAndMeans(t *testing.T) {
	c, n := chartOf()
	heap, mean := c.row(key{kind: Heap, unit: "MB", how: Highest}, n), c.row(key{kind: Counter, how: Mean}, n)
	for _, x := range []struct {
		at    int64
		value float64
	}{{141, 8}, {115, 3}, {143, 2}, {117, 5}, {118, 4}} {
		c.set(heap, x.at*milli, x.value)
		c.set(mean, x.at*milli, x.value)
	}
	c.set(heap, 50*milli, 1) // before what is shown
	res := c.result(n)
	if diff := cmp.Diff([]float64{1, 5, 4, 4, 8, 2, 2, 2, 2, 2}, values(res.Lanes[0])); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{-1, 4, -1, -1, 5, -1, -1, -1, -1, -1}, values(res.Lanes[1])); diff != "" {
		t.Errorf("means (-want +got):\n%s", diff)
	}
	if l := res.Lanes[1]; l.Highest.Or(0) != 8 || l.HighestMS.Or(0) != 141 || !l.Total.IsZero() {
		t.Errorf("%+v", l)
	}
}

// A part of the time has its part of intervals that are cut, and levels from before.
func TestCut(t *testing.T) {
	c, n := newChart(&Options{From: 100 * time.Millisecond, To: 200 * time.Millisecond, Buckets: 2, Cut: true})
	pauses, heap := c.row(key{kind: GCPause, how: Sum}, n), c.row(key{kind: Heap, how: Highest}, n)
	mean, none := c.row(key{kind: Counter, how: Mean}, n), c.row(key{kind: Waits, how: Sum}, n)
	for _, x := range []struct{ from, to int64 }{{50, 150}, {190, 240}, {10, 20}, {200, 210}} {
		c.spread(pauses, x.from*milli, x.to*milli, float64(x.to-x.from))
	}
	c.add(none, 99*milli, 1)
	c.add(none, 200*milli, 1)
	for _, x := range []struct{ at, value int64 }{{10, 9}, {60, 3}, {160, 2}, {220, 8}} {
		c.set(heap, x.at*milli, float64(x.value))
		c.set(mean, x.at*milli, float64(x.value))
	}
	res := c.result(n)
	var got [][]float64
	for _, l := range res.Lanes {
		got = append(got, values(l))
	}
	if diff := cmp.Diff([][]float64{{50, 10}, {3, 3}, {-1, 2}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l := res.Lanes; l[0].Total.Or(0) != 60 || l[1].Highest.Or(0) != 3 || l[1].HighestMS.Or(0) != 100 {
		t.Errorf("%+v, %+v", l[0], l[1])
	}
}

// However the time is parted, and whatever lies where, a sum is the sum of its buckets.
func TestSumsStay(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	for range 200 {
		at := func() int64 { return random.Int63n(2000)*milli/7 - 300*milli }
		o := Options{From: time.Duration(at()), To: time.Duration(at()), Buckets: 1 + random.Intn(300)}
		c, n := newChart(&o)
		r := c.row(key{kind: CPU, how: Sum}, n)
		want := 0.0
		for range 50 {
			from, to := at(), at()
			c.spread(r, from, to, 3.25)
			want += 3.25
		}
		sum := 0.0
		l := c.result(n).Lanes[0]
		for _, v := range l.Values {
			if v.Or(-1) < 0 {
				t.Fatalf("%+v: a bucket of %v", o, v)
			}
			sum += v.Or(0)
		}
		if math.Abs(sum-want) > 1e-6*float64(n) || l.Total.Or(0) != want {
			t.Fatalf("%+v: %v in the buckets, %v in all, of %v", o, sum, l.Total, want)
		}
	}
}

// Times that no trace has neither overflow nor take memory.
func TestFarApart(t *testing.T) {
	c, n := newChart(&Options{From: math.MinInt64, To: math.MaxInt64, Buckets: math.MaxInt})
	r := c.row(key{kind: CPU, how: Sum}, n)
	c.spread(r, math.MinInt64, math.MaxInt64, 1)
	c.add(r, math.MaxInt64, 1)
	c.set(r, math.MinInt64, 1)
	if l := c.result(n).Lanes[0]; len(l.Values) != maxBuckets || l.Total.Or(0) != 2 {
		t.Errorf("%d buckets, %v", len(l.Values), l.Total)
	}
}

func TestAnalysis(t *testing.T) {
	var mux etw.Mux
	p := Parts{Analyses: []any{gc.New(&mux), exceptions.New(&mux), threadpool.New(&mux)}}
	a := New(p)
	s := testtrace.NewScript(t, &mux)
	s.Event(10*time.Millisecond, 3, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC})
	s.Event(15*time.Millisecond, 3, &clr.GCRestartEEEndV1{})
	s.Event(16*time.Millisecond, 3, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendOther})
	s.Event(18*time.Millisecond, 3, &clr.GCRestartEEEndV1{})
	s.Event(21*time.Millisecond, 4, &clr.ExceptionThrownV1{})
	s.Event(30*time.Millisecond, 4, &clr.ThreadPoolWorkerThreadWait{ActiveWorkerThreadCount: 6})
	res := a.Result(Options{To: 40 * time.Millisecond, Buckets: 4})
	var got [][]float64
	for _, l := range res.Lanes {
		got = append(got, values(l))
	}
	if diff := cmp.Diff([][]float64{{0, 5, 0, 0}, {0, 0, 1, 0}, {-1, -1, -1, 6}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res.BucketMS != 10 || res.Begin(3) != 30 {
		t.Errorf("%+v", res)
	}
}

// TestGrid holds lanes that are summed up against those that are not: nothing is lost, each
// bucket has nearly the same, and the memory does not grow.
func TestGrid(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, most := range []int64{0, 5 * milli, 40_000 * milli} {
		const n = 400_000
		k := key{kind: Requests, unit: "count", how: Sum}
		whole, buckets := newChart(&Options{To: 100 * time.Second, Buckets: 50})
		summed, _ := newChart(&Options{To: 100 * time.Second, Buckets: 50})
		tr := new(track)
		for i := range int64(n) {
			e := entry{from: i * (60_000 * milli / n), value: 1}
			if e.to = e.from; most > 0 {
				e.to += random.Int63n(most)
			}
			tr.keep(e, Sum)
			whole.put(whole.row(k, buckets), e)
		}
		if len(tr.entries) > 0 || tr.grid == nil || len(tr.grid.values) != gridSlots {
			t.Fatalf("%d entries are kept", len(tr.entries))
		}
		tr.add(summed, summed.row(k, buckets))
		want, res := whole.result(buckets).Lanes[0], summed.result(buckets)
		got := res.Lanes[0]
		if d := want.Total.Or(0) - got.Total.Or(0); math.Abs(d) > 1e-3 {
			t.Errorf("parts of up to %d ns: %v is lost of %v", most, d, want.Total)
		}
		for i, v := range values(got) {
			if w := values(want)[i]; math.Abs(v-w) > 0.002*n/50 {
				t.Errorf("parts of up to %d ns: bucket %d has %v, want %v", most, i, v, w)
			}
		}
		if len(res.Warnings()) != 1 || got.WithinMS <= 0 || got.WithinMS > 100_000.0/gridSlots*2 {
			t.Errorf("within %v ms: %q", got.WithinMS, res.Warnings())
		}
	}
}

// Times that threads ran are joined with those nearby once there are many: no time is lost, and none is
// outside of those.
func TestJoined(t *testing.T) {
	threads := []*system.Thread{{TID: 1}, {TID: 2}, {TID: 3}}
	var list []ran
	ns := make(map[*system.Thread]int64)
	last := int64(0)
	for i := range int64(10_000) {
		x := threads[i%3]
		list = joined(append(list, ran{x, 1e6 * i, 1e6*i + 1000*(i%7), 1000 * (i % 7)}), 100)
		ns[x] += 1000 * (i % 7)
		last = 1e6*i + 1000*(i%7)
	}
	if len(list) > 100 {
		t.Errorf("%d are left", len(list))
	}
	for _, x := range list {
		ns[x.thread] -= x.ns
		if x.from < 0 || x.to > last || x.to-x.from < x.ns {
			t.Errorf("it ran for %d from %d to %d", x.ns, x.from, x.to)
		}
	}
	for x, n := range ns {
		if n != 0 {
			t.Errorf("thread %d: %d ns are missing", x.TID, n)
		}
	}
}
