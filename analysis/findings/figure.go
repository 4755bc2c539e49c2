package findings

import "github.com/etwgen/etwgen/analysis/measure"

// A Figure is a number in a sentence.
type Figure struct {
	Name  string  `json:"name"` // as results call it, such as pauseMs
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // one of the constants
	text  string
}

// The units of figures.
const (
	Milliseconds = "ms"
	Percent      = "%"
	Bytes        = "bytes"
	Count        = "count"
)

// String returns the number as the sentence has it: with three digits and the unit that fits.
func (f Figure) String() string { return f.text }

func span(name string, ms float64) Figure {
	return Figure{name, ms, Milliseconds, measure.Span(ms)}
}

// moment is a point in time, since the trace began.
func moment(name string, ms float64) Figure {
	return Figure{name, ms, Milliseconds, measure.At(ms)}
}

func share(name string, percent float64) Figure {
	return Figure{name, percent, Percent, measure.Percent(percent)}
}

func size(name string, bytes float64) Figure {
	return Figure{name, bytes, Bytes, measure.Size(bytes)}
}

func number[N int | int64 | float64](name string, n N) Figure {
	return Figure{name, float64(n), Count, measure.Grouped(float64(n), 0)}
}

// things is a number of things, with the word for one and for many.
func things[N int | int64](name string, n N, one, many string) Figure {
	return Figure{name, float64(n), Count, measure.Count(n, one, many)}
}

// times says how often: once, twice, 3 times.
func times(name string, n int) Figure { return Figure{name, float64(n), Count, measure.Times(n)} }
