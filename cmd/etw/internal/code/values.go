package code

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// lastOf returns the value of a sample that it is weighed by.
func lastOf(values []int64) int64 { return values[len(values)-1] }

// A valueUnit is how values of one type are shown.
type valueUnit struct {
	suffix string // of the names of columns
	per    float64
}

func unitOf(t stacks.ValueType) valueUnit {
	switch t.Unit {
	case "nanoseconds":
		return valueUnit{"Ms", 1e6}
	case "bytes":
		return valueUnit{"MB", 1e6}
	}
	return valueUnit{"", 1}
}

// text says a value in a sentence.
func (u valueUnit) text(v int64) string {
	switch u.suffix {
	case "Ms":
		return show.MS(float64(v) / u.per)
	case "MB":
		return show.Size(float64(v))
	}
	return show.Whole(v)
}

// share is a column of parts of all in percent.
func share[T any](name string, of func(T) (part, all int64)) views.Column[T] {
	return views.Amount(name, func(row T) (f measure.Float) {
		if part, all := of(row); all != 0 {
			f = measure.Known(100 * float64(part) / float64(all))
		}
		return f
	}).Under(show.Heading(strings.TrimSuffix(name, "Percent")) + " %")
}
