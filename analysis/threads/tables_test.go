package threads

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/table"
)

// TestBusyPercent: a time of which nothing is known makes no processor idle.
func TestBusyPercent(t *testing.T) {
	r := &Result{Processors: []Processor{{SpanMS: 100, BusyMS: 40, IdleMS: 10, UnknownMS: 50}, {SpanMS: 9, UnknownMS: 9}}}
	v, _ := table.Find(r.Tables(), "processor")
	percent := v.Column("busyPercent")
	if got, ok := v.At(0, percent).Float(); !ok || got != 80 {
		t.Errorf("%v %%, want 80", got)
	}
	if got, ok := v.At(1, percent).Float(); ok {
		t.Errorf("%+v of no time that is known", got)
	}
}
