package counters

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result {
	tb.Helper()
	var mux etw.Mux
	a := New(&mux)
	testtrace.Run(tb, &mux, path)
	return a.Result()
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Counters []struct {
				MS       float64
				Name     string
				Provider string
				Payload  map[string]json.RawMessage
			}
		}
		if !testtrace.Peer(t, path, &peer) || len(peer.Counters) == 0 {
			continue
		}
		res := analyze(t, path)
		for _, want := range peer.Counters {
			if want.Name == "EventCounters" {
				compared += compareCounter(t, res, want.Provider, want.MS, want.Payload)
			}
		}
	}
	t.Logf("%d points compared", compared)
}

func compareCounter(t *testing.T, res *Result, provider string, ms float64, payload map[string]json.RawMessage) int {
	var p struct {
		Payload struct {
			Name, DisplayUnits, CounterType                                  string
			Mean, Count, Max, Min, Increment, IntervalSec, StandardDeviation float64
		}
	}
	if err := json.Unmarshal(payload[""], &p); err != nil {
		t.Error(err)
		return 0
	}
	want := p.Payload
	for _, proc := range res.Processes {
		for _, c := range proc.Counters {
			if c.Provider != provider || c.Name != want.Name {
				continue
			}
			for _, pt := range c.Points {
				if !testtrace.Near(pt.AtMS, ms, 1e-6) {
					continue
				}
				if c.Type != want.CounterType || c.Unit != want.DisplayUnits || pt.Mean.Or(0) != want.Mean || pt.Increment.Or(0) != want.Increment ||
					pt.Count.Or(0) != want.Count || pt.Min.Or(0) != want.Min || pt.Max.Or(0) != want.Max || pt.StdDev.Or(0) != want.StandardDeviation || pt.IntervalSec != want.IntervalSec {
					t.Errorf("%+v, and TraceEvent says %+v", pt, want)
				}
				return 1
			}
		}
	}
	t.Errorf("there is no point of %s/%s at %v ms", provider, want.Name, ms)
	return 0
}

// The program's own counts. Its last, unfinished interval is in no event.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "counters.nettrace")
	var truth struct {
		Dough struct{ Count, Sum float64 } `json:"dough-weight"`
		Sold  float64                      `json:"loaves-sold_total"`
		Ticks float64                      `json:"clock-ticks_total"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	sums := map[string]float64{}
	for _, c := range analyze(t, path).Processes[0].Counters {
		for _, p := range c.Points {
			sums[c.Name] += p.Increment.Or(p.Count.Or(0) * p.Mean.Or(0))
			sums[c.Name+" count"] += p.Count.Or(0)
		}
	}
	for name, want := range map[string]float64{"dough-weight": truth.Dough.Sum, "dough-weight count": truth.Dough.Count, "loaves-sold": truth.Sold, "clock-ticks": truth.Ticks} {
		if got := sums[name]; got > want || got < 0.85*want {
			t.Errorf("%s is %v, and the program counted %v", name, got, want)
		}
	}
}

func TestTruthOfMetrics(t *testing.T) {
	path := testtrace.Named(t, "metrics.nettrace")
	var truth struct {
		Loaves  float64 `json:"loaves_total"`
		Serving struct{ Count, Sum float64 }
		Steps   float64 `json:"steps_total"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	last, types := map[string]float64{}, map[string]string{}
	for _, m := range analyze(t, path).Processes[0].Metrics {
		types[m.Meter+"/"+m.Instrument] = m.Type
		p := m.Points[len(m.Points)-1]
		last[m.Meter+"/"+m.Instrument] += p.Value.Or(p.Count.Or(0))
	}
	for name, want := range map[string]float64{"Bakery.Meter/loaves": truth.Loaves, "Bakery.Meter/steps": truth.Steps} {
		if got := last[name]; got > want || got < 0.85*want {
			t.Errorf("%s is %v at last, and the program counted %v (%v)", name, got, want, last)
		}
	}
	if types["Bakery.Meter/loaves"] != "Counter`1" {
		t.Errorf("types %v", types)
	}
	for name := range last {
		if name == "Bakery.Other/unseen" {
			t.Error("a meter that was not asked for is there")
		}
	}
}

func TestResultsAreJSON(t *testing.T) {
	for _, path := range testtrace.All(t) {
		if _, err := json.Marshal(analyze(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A sender makes metric events whose fields are all text.
func sender(s *testtrace.Script) func(event string, fields ...string) {
	return func(event string, fields ...string) {
		d := &etw.EventDesc{Name: event}
		var p []byte
		for i := 0; i < len(fields); i += 2 {
			d.Fields = append(d.Fields, etw.FieldDesc{Name: fields[i], Type: etw.InUnicodeString})
			p = append(append(p, etw.MakeUTF16(fields[i+1])...), 0, 0)
		}
		s.Record(time.Second, 1, &etw.Record{ProviderName: metricsProvider, Schema: d, Payload: p, PointerSize: etw.Ptr64})
	}
}

func TestMetrics(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	send := sender(testtrace.NewScript(t, &mux))
	id := []string{"sessionId", "s", "meterName", "m", "instrumentName", "i"}
	with := func(more ...string) []string { return append(append([]string{}, id...), more...) }
	send("BeginInstrumentReporting", with("instrumentType", "Histogram")...)
	send("HistogramValuePublished", with("unit", "ms", "tags", "a=b", "quantiles", "0.5=1;0.95=x;0.99=3", "count", "4", "sum", "9")...)
	send("Base2ExponentialHistogramValuePublished", with("tags", "c", "count", "4", "scale", "2", "zeroCount", "1", "minimum", "0.5", "maximum", "7", "buckets", "1,2")...)
	send("UpDownCounterRateValuePublished", with("tags", "d", "rate", "", "value", "5")...)
	send("GaugeValuePublished", with("tags", "e", "lastValue", "")...)
	send("HistogramValuePublished", with("tags", "f", "quantiles", "")...)
	send("CollectionStart", id...)
	send("Error", "sessionId", "s", "errorMessage", "bad")
	send("TimeSeriesLimitReached", "sessionId", "s")
	send("Nothing")
	for range maxNotes {
		send("Error", "sessionId", "s")
	}
	p := a.Result().Processes[0]
	if len(p.Metrics) != 5 || len(p.Notes) != maxNotes || p.Notes[0].Text != "bad" || p.Notes[1].Text != "s" {
		t.Fatalf("%+v", p)
	}
	m := p.Metrics[0]
	if q := m.Points[0].Quantiles; m.Type != "Histogram" || m.Tags != "a=b" || len(q) != 2 || q["0.99"].Or(0) != 3 || m.Points[0].Sum.Or(0) != 9 {
		t.Errorf("%+v", m)
	}
	for _, s := range m.timeSeries(p.PID) {
		if counts := s.Of == "count"; counts == (s.Unit == "ms") {
			t.Errorf("%s in %q", s.Of, s.Unit)
		}
	}
	if pt := p.Metrics[1].Points[0]; pt.Scale.Or(0) != 2 || pt.Max.Or(0) != 7 || pt.Buckets != "1,2" {
		t.Errorf("%+v", pt)
	}
	if pt := p.Metrics[2].Points[0]; !pt.Rate.IsZero() || pt.Value.Or(0) != 5 {
		t.Errorf("%+v", pt)
	}
}

func TestDamage(t *testing.T) {
	a := new(Analysis)
	counter := &etw.EventDesc{Name: "EventCounters"}
	long := &etw.EventDesc{Name: "EventCounters", Fields: []etw.FieldDesc{{Name: "x", Type: etw.InUInt64}}}
	for _, r := range []*etw.Record{{}, {Schema: counter}, {Schema: long}, {Schema: long, Payload: make([]byte, 8)}, {Schema: &etw.EventDesc{Name: "Error", Fields: long.Fields}, ProviderName: metricsProvider}} {
		if err := a.record(r); err != nil {
			t.Error(err)
		}
	}
	if res := a.Result(); len(res.Processes) != 0 {
		t.Errorf("%+v", res)
	}
}
