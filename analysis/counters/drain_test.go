package counters

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// TestDrain drains an analysis after each record: it hands each point over once, and
// all of them.
func TestDrain(t *testing.T) {
	const path = "../../tests/recorded/answers/counters-10.nettrace"
	whole := analyze(t, path).Processes[0].Counters[0].Points
	r := testio.Open(t, nettrace.Open, path)
	defer r.Close()
	a := new(Analysis)
	var got []Point
	for rec := range testio.Records(t, etw.Records(r)) {
		if err := a.record(rec); err != nil {
			t.Fatal(err)
		}
		for _, p := range a.Drain().Processes {
			for _, c := range p.Counters {
				got = append(got, c.Points...)
			}
		}
	}
	if len(got) != len(whole) || len(got) == 0 {
		t.Errorf("%d points, want %d", len(got), len(whole))
	}
	for i := range got {
		if diff := cmp.Diff(whole[i].Mean.Or(-1), got[i].Mean.Or(-2)); diff != "" {
			t.Errorf("point %d (-want +got):\n%s", i, diff)
		}
	}
}

// A series is summed up by all values of the program: an interval without any is not zero.
func TestSummary(t *testing.T) {
	known := measure.Known
	l := TimeSeries{Points: []TimePoint{
		{Value: known(4.5), Values: known(10), Min: known(0), Max: known(9)}, {}, {Value: known(2), Values: known(1), Min: known(2), Max: known(2)}, {Value: known(13)},
	}}
	s := l.Summary()
	if s.Count != 3 || s.Mean != known(5) || s.Min != known(0) || s.Max != known(13) {
		t.Errorf("%+v", s)
	}
}
