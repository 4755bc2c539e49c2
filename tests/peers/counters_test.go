package peers

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/measure"
)

// A peerCounter is an event of a counter or of a metric.
type peerCounter struct {
	MS             float64
	PID            int64
	Name, Provider string
	Payload        json.RawMessage
}

// A counterPayload is the payload of an event counter.
type counterPayload struct {
	Payload struct {
		Name, DisplayName, DisplayUnits, CounterType, Series, Metadata   string
		Mean, StandardDeviation, Count, Min, Max, Increment, IntervalSec *float64
	} `json:""`
}

// A metricPayload is the payload of an instrument. Values are text, in part.
type metricPayload struct {
	SessionID, MeterName, MeterVersion, InstrumentName, Tags, Unit string
	InstrumentID                                                   int64
	Rate, Value, LastValue, Quantiles, Buckets                     string
	Count, Sum, Scale, ZeroCount, Minimum, Maximum                 *wide
}

// A wide number is text if it has more than 53 bits.
type wide float64

func (w *wide) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*w = wide(v)
	return err
}

func compareCounters(s *sheet) {
	points := 0
	for i := range s.theirs.Counters {
		p := &s.theirs.Counters[i]
		switch {
		case p.Name == "EventCounters":
			points++
			compareCounter(s, p)
		case strings.HasSuffix(p.Name, "ValuePublished"):
			points++
			compareMetric(s, p)
		}
	}
	ours := 0
	for _, p := range s.ours.Counters.Processes {
		for _, c := range p.Counters {
			ours += len(c.Points)
		}
		for _, m := range p.Metrics {
			ours += len(m.Points)
		}
	}
	if points+ours > 0 {
		s.equal("points", ours, points)
	}
}

func (s *sheet) decode(raw json.RawMessage, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		s.t.Errorf("%s: %s: %v in %s", s.file, s.topic, err, raw)
	}
}

// number compares a value that either may lack.
func (s *sheet) number(field string, ours measure.Float, theirs *float64) {
	s.t.Helper()
	if theirs == nil {
		s.equal(field, ours.IsZero(), true)
		return
	}
	s.near(field, ours.Or(math.NaN()), *theirs)
}

func compareCounter(s *sheet, p *peerCounter) {
	var outer map[string]json.RawMessage // the fields have no name there
	var payload counterPayload
	s.decode(p.Payload, &outer)
	s.decode(outer[""], &payload)
	theirs := &payload.Payload
	for _, proc := range s.ours.Counters.Processes {
		for i := range proc.Counters {
			c := &proc.Counters[i]
			if proc.PID != p.PID || c.Provider != p.Provider || c.Name != theirs.Name || c.Series != theirs.Series {
				continue
			}
			pt := pointAt(c.Points, p.MS)
			if pt == nil {
				continue
			}
			s.equal("display name", c.DisplayName, theirs.DisplayName)
			s.equal("unit", c.Unit, theirs.DisplayUnits)
			s.equal("type", c.Type, theirs.CounterType)
			s.equal("metadata", c.Metadata, theirs.Metadata)
			s.number("interval of "+c.Name, measure.Known(pt.IntervalSec), theirs.IntervalSec)
			s.number("count of "+c.Name, pt.Count, theirs.Count)
			if theirs.Count != nil && *theirs.Count == 0 { // of no values nobody knows the rest
				if known := !pt.Mean.IsZero() || !pt.StdDev.IsZero() || !pt.Min.IsZero() || !pt.Max.IsZero(); known {
					s.near("values of "+c.Name, 1, 0)
				}
				return
			}
			s.number("mean of "+c.Name, pt.Mean, theirs.Mean)
			s.number("deviation of "+c.Name, pt.StdDev, theirs.StandardDeviation)
			s.number("least of "+c.Name, pt.Min, theirs.Min)
			s.number("greatest of "+c.Name, pt.Max, theirs.Max)
			s.number("increment of "+c.Name, pt.Increment, theirs.Increment)
			return
		}
	}
	s.t.Errorf("%s: counters: %s/%s has no value at %v", s.file, p.Provider, theirs.Name, p.MS)
}

func pointAt(points []counters.Point, ms float64) *counters.Point {
	for i := range points {
		if math.Abs(points[i].AtMS-ms) < 1e-6 {
			return &points[i]
		}
	}
	return nil
}

func compareMetric(s *sheet, p *peerCounter) {
	var theirs metricPayload
	s.decode(p.Payload, &theirs)
	for _, proc := range s.ours.Counters.Processes {
		for i := range proc.Metrics {
			m := &proc.Metrics[i]
			if proc.PID != p.PID || m.Session != theirs.SessionID || m.Meter != theirs.MeterName || m.Instrument != theirs.InstrumentName ||
				m.ID != theirs.InstrumentID || m.Tags != theirs.Tags {
				continue
			}
			for j := range m.Points {
				if math.Abs(m.Points[j].AtMS-p.MS) < 1e-6 {
					s.equal("unit", m.Unit, theirs.Unit)
					s.equal("version of the meter", m.MeterVersion, theirs.MeterVersion)
					compareMetricPoint(s, &m.Points[j], &theirs)
					return
				}
			}
		}
	}
	s.t.Errorf("%s: counters: %s/%s{%s} has no value at %v", s.file, theirs.MeterName, theirs.InstrumentName, theirs.Tags, p.MS)
}

func compareMetricPoint(s *sheet, pt *counters.MetricPoint, theirs *metricPayload) {
	name := theirs.InstrumentName
	s.number("rate of "+name, pt.Rate, parsed(theirs.Rate))
	s.number("value of "+name, pt.Value, parsed(theirs.Value+theirs.LastValue))
	s.number("count of "+name, pt.Count, (*float64)(theirs.Count))
	s.number("sum of "+name, pt.Sum, (*float64)(theirs.Sum))
	s.number("scale of "+name, pt.Scale, (*float64)(theirs.Scale))
	s.number("zeros of "+name, pt.ZeroCount, (*float64)(theirs.ZeroCount))
	s.number("least of "+name, pt.Min, (*float64)(theirs.Minimum))
	s.number("greatest of "+name, pt.Max, (*float64)(theirs.Maximum))
	s.equal("buckets of "+name, pt.Buckets, theirs.Buckets)
	quantiles := 0
	for pair := range strings.SplitSeq(theirs.Quantiles, ";") {
		if q, v, ok := strings.Cut(pair, "="); ok {
			quantiles++
			s.number("quantile "+q+" of "+name, pt.Quantiles[q], parsed(v))
		}
	}
	if theirs.Scale == nil { // those of base 2 are made of buckets, which the event has alone
		s.equal("quantiles of "+name, len(pt.Quantiles), quantiles)
	}
}

// parsed returns a number that is text, and nil for none.
func parsed(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &v
}
