package counters

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the counters in a trace.
type Result struct {
	Schema    int       `json:"schema"`
	Processes []Process `json:"processes"`
}

// A Process is the counters of one process.
type Process struct {
	PID  int64 `json:"pid"`
	Life int   `json:"life,omitempty"`
	// Counters are event counters, Metrics those of System.Diagnostics.Metrics.
	Counters []Counter `json:"counters"`
	Metrics  []Metric  `json:"metrics"`
	// Notes are the faults: limits that were reached, and errors of sessions and of
	// callbacks.
	Notes []Note `json:"notes,omitempty"`
	// Published are the instruments that the program has, as METER/NAME, where a session asked
	// for them (keyword InstrumentPublishing, 0x4).
	Published []string `json:"published,omitempty"`
}

// A Counter is an event counter of an EventSource. Several sessions of one process
// have a series each.
type Counter struct {
	Provider    string `json:"provider"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	Unit        string `json:"unit,omitempty"`
	// KnownUnit is that of a well-known counter of which the program says none.
	KnownUnit string `json:"knownUnit,omitempty"`
	// Description explains a well-known counter.
	Description string `json:"description,omitempty"`
	// Type is Mean for values, and Sum for counts.
	Type     string  `json:"type"`
	Series   string  `json:"series,omitempty"`
	Metadata string  `json:"metadata,omitempty"`
	Points   []Point `json:"points"`
}

// A Point is the value of a counter in one interval.
type Point struct {
	// AtMS is the end of the interval, IntervalSec its length.
	AtMS        float64 `json:"atMs"`
	IntervalSec float64 `json:"intervalSec"`
	// Mean, StdDev, Count, Min and Max are of the values in the interval.
	Mean   measure.Float `json:"mean,omitzero"`
	StdDev measure.Float `json:"stdDev,omitzero"`
	Count  measure.Float `json:"count,omitzero"`
	Min    measure.Float `json:"min,omitzero"`
	Max    measure.Float `json:"max,omitzero"`
	// Increment is the count of the interval, PerSec the count by its length.
	Increment measure.Float `json:"increment,omitzero"`
	PerSec    measure.Float `json:"perSec,omitzero"`
}

// A Metric is one time series of an instrument.
type Metric struct {
	Session      string `json:"session"`
	Meter        string `json:"meter"`
	MeterVersion string `json:"meterVersion,omitempty"`
	Instrument   string `json:"instrument"`
	ID           int64  `json:"id,omitempty"` // of the instrument in its process, 0 if unknown
	Type         string `json:"type,omitempty"`
	Unit         string `json:"unit,omitempty"`
	// Description is the program's, or the known one of the instrument.
	Description string `json:"description,omitempty"`
	Tags        string `json:"tags,omitempty"`
	// Deltas says that exponential histograms of the session are each of one interval.
	// Otherwise, as far as they tell, each has all values since the session began.
	Deltas bool          `json:"deltas,omitempty"`
	Points []MetricPoint `json:"points"`
}

// upDown is the type of instruments that go down, too, as the trace may leave it out.
const upDown = "UpDownCounter"

// GoesDown reports whether the value of a series is a level, which goes up and down, such
// as the length of a queue. Its changes add up to nothing that matters.
func (m *Metric) GoesDown() bool {
	return strings.Contains(m.Type, upDown) || m.Meter == "System.Runtime" && wronglyCounters[m.Instrument]
}

// wronglyCounters are the instruments that the runtime declares as counters, though
// they shrink, too.
var wronglyCounters = map[string]bool{"dotnet.thread_pool.thread.count": true, "dotnet.thread_pool.queue.length": true}

// A MetricPoint is the value of an instrument in one interval.
type MetricPoint struct {
	AtMS float64 `json:"atMs"` // the end of the interval
	// Rate is the change in the interval of a counter, and Value its sum. The value of
	// a gauge is unknown if nothing was measured.
	Rate  measure.Float `json:"rate,omitzero"`
	Value measure.Float `json:"value,omitzero"`
	// Count and Sum are of a histogram, and Quantiles has the value of each, such as
	// 0.95: as the program says, or of an exponential histogram by its buckets.
	Count     measure.Float            `json:"count,omitzero"`
	Sum       measure.Float            `json:"sum,omitzero"`
	Quantiles map[string]measure.Float `json:"quantiles,omitempty"`
	// Scale and the others are of an exponential histogram of base 2: [MetricPoint.Exponential].
	Scale     measure.Float `json:"scale,omitzero"`
	ZeroCount measure.Float `json:"zeroCount,omitzero"`
	Min       measure.Float `json:"min,omitzero"`
	Max       measure.Float `json:"max,omitzero"`
	Buckets   string        `json:"buckets,omitempty"`
}

// A Note is something that went wrong.
type Note struct {
	AtMS  float64 `json:"atMs"`
	Event string  `json:"event"`
	Text  string  `json:"text"`
}
