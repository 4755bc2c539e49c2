package html

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/each"
)

// A chart is a chart of a page.
type chart struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Unit  string `json:"unit,omitempty"`
	// X are points in time, in seconds; of a histogram the bounds of its bars.
	X      *numbers  `json:"x"`
	Series []*series `json:"series"`
	// Category has the number of the series of each point of a scatter, whose
	// numbers are all in the first series.
	Category []int `json:"category,omitempty"`
	// Table is the table whose rows are the points, or which Rows says.
	Table string  `json:"table,omitempty"`
	Rows  []int   `json:"rows,omitempty"`
	Marks []mark  `json:"marks,omitempty"`
	Width float64 `json:"width,omitempty"` // of each bar, in seconds
	Small bool    `json:"small,omitempty"` // it is one of many
}

// The kinds of charts.
const (
	scatter   = "scatter"
	stacked   = "stacked" // areas one upon another
	steps     = "steps"   // levels that hold until the next point
	before    = "before"  // what holds from one point to the next, where it is known
	bars      = "bars"
	lines     = "lines"
	histogram = "histogram"
)

// A series is one of the things that a chart shows.
type series struct {
	Label  string   `json:"label"`
	Color  string   `json:"color"` // name of a colour of the style sheet
	Values *numbers `json:"y,omitempty"`
}

// A mark is a line at a value of a histogram.
type mark struct {
	Label string  `json:"label"`
	At    float64 `json:"at"`
}

// seconds converts points in time.
func seconds(ms []float64) *numbers {
	s := each.Of(ms, func(v float64) float64 { return v / 1000 })
	return &numbers{values: s, digits: 6}
}

// overTime returns a chart of a series, as bars whose height is value of the count and the
// sum of each bucket and of its width in seconds.
func overTime(id, title, unit, label, color string, s measure.Series, value func(count, sum, sec float64) float64) *chart {
	x := make([]float64, len(s.Counts))
	y := make([]float64, len(s.Counts))
	for i, n := range s.Counts {
		x[i] = float64(i) * s.WidthMS
		y[i] = value(float64(n), s.Sums[i], s.WidthMS/1000)
	}
	return &chart{ID: id, Kind: bars, Title: title, Unit: unit, Note: "In each " + span(s.WidthMS) + ".", X: seconds(x), Width: s.WidthMS / 1000,
		Series: []*series{{Label: label, Color: color, Values: &numbers{values: y, digits: 4}}}}
}

func countOnly(count, _, _ float64) float64 { return count }
func sumOnly(_, sum, _ float64) float64     { return sum }

// levelsChart returns a chart of levels.
func levelsChart(id, title, label, color string, l measure.Levels) *chart {
	x := make([]float64, len(l.Highest))
	for i := range x {
		x[i] = float64(i) * l.WidthMS
	}
	return &chart{ID: id, Kind: steps, Title: title, X: seconds(x),
		Series: []*series{{Label: label, Color: color, Values: &numbers{values: l.Highest, digits: 3}}}}
}
