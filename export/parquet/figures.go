package parquet

import (
	"fmt"
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/export/parquet/internal/file"
)

// FiguresSchema is the version of the JSON of [Figures].
const FiguresSchema = 1

// Figures are the numbers by which a recording is compared with others: a table of their own.
type Figures struct {
	// Of a recording of a lake: its names and losses.
	Schema   int    `json:"schema"`
	Trace    string `json:"trace"`
	TraceID  string `json:"traceId"`
	Lost     int64  `json:"lost"` // events and buffers of them
	Complete bool   `json:"complete"`

	// Samples is the kind of samples that times of code were made of.
	Samples string `json:"samples,omitempty"`
	// Runtime says that there are events of the runtime of .NET, and an area without figures had nothing to tell.
	Runtime bool `json:"runtime"`
	// Requests are those that were served, or made where none were, and RequestsOf says which these are.
	Requests   int64            `json:"requests"`
	RequestsOf string           `json:"requestsOf,omitempty"`
	List       []compare.Figure `json:"figures"`
}

// figuresTable is the table of figures.
const figuresTable = "figures"

// figureColumns are those of the table, in the order in which they are written.
var figureColumns = []struct {
	name string
	typ  file.Type
	of   func(*figureRow) any // a pointer to the value
}{
	{"trace_id", file.Text, func(r *figureRow) any { return &r.traceID }}, // of all tables
	{"metric", file.Text, func(r *figureRow) any { return &r.Metric }},
	{"value", file.Double, func(r *figureRow) any { return &r.Value }},
	{"unit", file.Text, func(r *figureRow) any { return &r.Unit }},
	{"area", file.Text, func(r *figureRow) any { return &r.Area }},
	{"name", file.Text, func(r *figureRow) any { return &r.Name }},
	{"noise", file.Double, func(r *figureRow) any { return &r.Noise }},
	{"alone", file.Double, func(r *figureRow) any { return &r.Alone }},
	{"moreIsWorse", file.Bool, func(r *figureRow) any { return &r.MoreIsWorse }},
	{"sum", file.Bool, func(r *figureRow) any { return &r.Sum }},
	{"grows", file.Bool, func(r *figureRow) any { return &r.Grows }},
	{"whole", file.Text, func(r *figureRow) any { return &r.Whole }},
	{"samples", file.Text, func(r *figureRow) any { return &r.of.Samples }},
	{"runtime", file.Bool, func(r *figureRow) any { return &r.of.Runtime }},
	{"requests", file.Int64, func(r *figureRow) any { return &r.of.Requests }},
	{"requestsOf", file.Text, func(r *figureRow) any { return &r.of.RequestsOf }},
}

// A figureRow is a row of the table.
type figureRow struct {
	traceID string
	compare.Figure
	of Figures // without the list
}

// Figures writes the table of figures: a row for each. Their times are that at which the session began.
func (w *Writer) Figures(f *Figures, start time.Time) error {
	var columns []*file.Node
	for _, c := range figureColumns[1:] {
		columns = append(columns, column1(c.name, c.typ))
	}
	t := w.newResult(figuresTable, columns...)
	for _, x := range f.List {
		row := figureRow{Figure: x, of: *f}
		t.begin(start.UnixNano(), -1)
		for _, c := range figureColumns[1:] {
			switch v := c.of(&row).(type) {
			case *string:
				t.text(*v)
			case *float64:
				t.real(*v)
			case *int64:
				t.integer(*v)
			case *bool:
				t.integer(int64(b2u(*v)))
			}
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// Figures reads the figures of recordings, in their order. Those whose export has made no such table
// have none.
func (l *Lake) Figures(of []*Manifest) ([]*Figures, error) {
	var list []*Figures
	own := make(map[*compaction]map[string]*Figures) // by trace id
	for _, m := range of {
		f := &Figures{Schema: FiguresSchema, Trace: m.Trace, TraceID: m.TraceID, Lost: m.Lost + m.LostBuffers, Complete: m.Complete}
		list = append(list, f)
		c := l.in[m]
		if c == nil {
			if err := l.readFigures(m.Files, map[string]*Figures{m.TraceID: f}); err != nil {
				return nil, err
			}
			continue
		}
		if own[c] == nil {
			own[c] = make(map[string]*Figures)
		}
		own[c][m.TraceID] = f
	}
	for c, wanted := range own {
		if err := l.readFigures(c.Files, wanted); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readFigures adds the figures that files have of the wanted recordings.
func (l *Lake) readFigures(files []*File, wanted map[string]*Figures) error {
	var names []string
	for _, c := range figureColumns {
		names = append(names, c.name)
	}
	var d file.Decoder
	for _, f := range files {
		if f.Table != figuresTable {
			continue
		}
		err := openFile(l.Dir, f.Path, func(r *file.Reader) error {
			return r.Values(&d, names, func(cells []file.Cell) error {
				f := wanted[string(cells[0].Text)]
				if f == nil {
					return nil
				}
				var row figureRow
				for i, c := range figureColumns {
					switch to := c.of(&row).(type) {
					case *string:
						*to = string(cells[i].Text)
					case *float64:
						*to = math.Float64frombits(cells[i].Number)
					case *int64:
						*to = int64(cells[i].Number)
					case *bool:
						*to = cells[i].Number != 0
					}
				}
				f.Samples, f.Runtime, f.Requests, f.RequestsOf = row.of.Samples, row.of.Runtime, row.of.Requests, row.of.RequestsOf
				f.List = append(f.List, row.Figure)
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}
