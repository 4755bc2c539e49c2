package filter

import (
	"math"
	"reflect"
	"testing"
	"time"
)

func TestDuring(t *testing.T) {
	d, any7 := During{}, Worker{7, AnyThread}
	d.Add(Worker{8, 1}, Span{30, 31})
	for _, s := range []Span{{30, 40}, {10, 20}, {15, 18}, {20, 25}, {35, 36}} {
		d.Add(any7, s)
	}
	d.Sort()
	if len(d[any7]) != 2 {
		t.Errorf("%v", d)
	}
	for _, test := range []struct {
		process int64
		at      time.Duration
		want    bool
	}{{7, 9, false}, {7, 10, true}, {7, 19, true}, {7, 25, true}, {7, 26, false}, {7, 30, true}, {7, 40, true}, {7, 41, false}, {8, 30, false}} {
		if got := d.Has(Worker{test.process, 2}, test.at); got != test.want {
			t.Errorf("process %d at %d: %v", test.process, test.at, got)
		}
	}
	if !d.Has(Worker{8, 1}, 30) || d.Has(Worker{8, 1}, 32) {
		t.Error("a thread has other times than its own")
	}
	if (During{}).Has(Worker{7, 2}, 10) {
		t.Error("no time has one")
	}
}

// TestNarrow: of the times that flags and a span leave, the later begin and the earlier end count.
func TestNarrow(t *testing.T) {
	ms := func(n time.Duration) *Moment { return &Moment{Elapsed: n} }
	for _, x := range []struct {
		from, to         *Moment
		span             Span
		wantFrom, wantTo *Moment
		ok               bool
	}{
		{nil, nil, Span{5, 9}, ms(5), ms(10), true},
		{nil, nil, Span{5, math.MaxInt64}, ms(5), nil, true},
		{ms(7), ms(8), Span{5, 9}, ms(7), ms(8), true},
		{ms(2), ms(12), Span{5, 9}, ms(5), ms(10), true},
		{ms(2), ms(12), Span{5, math.MaxInt64}, ms(5), ms(12), true},
		{ms(10), nil, Span{5, 9}, ms(10), nil, false},
		{nil, ms(5), Span{5, 9}, nil, ms(5), false},
	} {
		h := Header{From: x.from, To: x.to, During: During{Everyone: {x.span}}}
		if h.Narrow(time.Unix(0, 0)); (h.During == nil) != x.ok || !reflect.DeepEqual([]*Moment{h.From, h.To}, []*Moment{x.wantFrom, x.wantTo}) {
			t.Errorf("%v: %v, %v, %v", x, h.During, h.From, h.To)
		}
	}
	for _, d := range []During{nil, {Everyone: {{1, 2}, {4, 5}}}, {Everyone: {{1, 2}}, {7, AnyThread}: {{1, 2}}}, {{7, AnyThread}: {{1, 2}}}} {
		h := Header{During: d}
		if h.Narrow(time.Unix(0, 0)); h.From != nil || h.To != nil || len(h.During) != len(d) {
			t.Errorf("%v: %v", d, h)
		}
	}
}
