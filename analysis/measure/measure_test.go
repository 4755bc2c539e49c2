package measure

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFloatJSON(t *testing.T) {
	type row struct {
		A Float `json:"a,omitzero"`
		B Float `json:"b,omitzero"`
		C Float `json:"c"`
	}
	b, err := json.Marshal(row{A: Known(0), B: Known(math.NaN())})
	if err != nil || string(b) != `{"a":0,"c":null}` {
		t.Fatalf("%s, %v", b, err)
	}
	var back row
	if err := json.Unmarshal(b, &back); err != nil || back != (row{A: Known(0)}) {
		t.Fatalf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"a":"x"}`), &back); err == nil {
		t.Error("a string is taken as a number")
	}
}

func TestFloat(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if f := Known(v); !f.IsZero() || f.String() != "-" || f.Or(7) != 7 {
			t.Errorf("%v is known as %v", v, f)
		}
	}
	f := Known(1.25)
	if v, ok := f.Get(); v != 1.25 || !ok || f.Or(7) != 1.25 || f.String() != "1.25" {
		t.Errorf("%v %v %v", v, ok, f)
	}
	if r := Ratio(Known(1), Known(4)); r != Known(0.25) {
		t.Errorf("1/4 = %v", r)
	}
	for _, r := range []Float{Ratio(Known(1), Known(0)), Ratio(Float{}, Known(1)), Ratio(Known(1), Float{})} {
		if !r.IsZero() {
			t.Errorf("%v is known", r)
		}
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize([]float64{4, 1, 3, 2})
	want := Summary{Count: 4, Total: 10, Mean: Known(2.5), Min: Known(1), Max: Known(4),
		StdDev: Known(math.Sqrt(5.0 / 3)), P50: Known(2.5), P95: Known(3.8499999999999996), P99: Known(3.9699999999999998)}
	if s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if s := Summarize(nil); s != (Summary{}) {
		t.Errorf("of nothing: %+v", s)
	}
	if s := Summarize([]float64{5}); s.P99 != Known(5) || !s.StdDev.IsZero() {
		t.Errorf("of one: %+v", s)
	}
	if p := Percentile(nil, 0.5); !p.IsZero() {
		t.Errorf("percentile of nothing: %v", p)
	}
}

func TestSeries(t *testing.T) {
	var s Series
	var l Levels
	for i := range 2001 {
		s.Add(float64(i)-1, 2)
		l.Set(float64(i)-1, float64(i%100))
	}
	c, h := s.Clone(), l.Clone()
	var sum float64
	var n uint64
	for i := range c.Counts {
		sum += c.Sums[i]
		n += c.Counts[i]
	}
	if n != 2001 || sum != 4002 || c.WidthMS != 4 || len(c.Counts) != 500 || c.Counts[0] != 5 {
		t.Errorf("%d values, %v, %v wide, %d buckets", n, sum, c.WidthMS, len(c.Counts))
	}
	if h.WidthMS != 4 || len(h.Highest) != 500 || h.Highest[24] != 97 && h.Highest[24] != 99 {
		t.Errorf("%v wide, %v", h.WidthMS, h.Highest[:30])
	}
	var gap Levels
	gap.Set(0, 3)
	gap.Set(5, 1)
	gap.Set(6, 2)
	if got := gap.Clone().Highest; len(got) != 7 || got[4] != 3 || got[5] != 3 || got[6] != 2 {
		t.Errorf("%v", got)
	}
}
