package stacks

import (
	"slices"
	"testing"
	"time"
)

// TestThreads: each thread has its own samples, in the order of time.
func TestThreads(t *testing.T) {
	s := NewSamples("x", ValueType{"samples", "count"}, ValueType{"time", "nanoseconds"})
	a, b := s.InternAddresses(1, []uint64{0x10}), s.InternAddresses(1, []uint64{0x20})
	s.AddStack(time.Unix(0, 30), 1, 7, a, 0, 1, 300)
	s.AddStack(time.Unix(0, 20), 1, 8, b, 0, 1, 200)
	s.AddStack(time.Unix(0, 10), 1, 7, b, 0, 1, 100)
	p := NewProfile(nil, Options{}, s)
	got := p.Threads()
	if len(got) != 2 || got[0].Thread != 7 || got[1].Thread != 8 || len(got[1].Samples) != 1 {
		t.Fatalf("%+v", got)
	}
	list := got[0].Samples
	if len(list) != 2 || list[0].Time != 10 || list[0].Value != 100 || list[1].Time != 30 || list[1].Value != 300 ||
		slices.Equal(slices.Collect(p.Stack(list[0].Stack)), slices.Collect(p.Stack(list[1].Stack))) {
		t.Errorf("%+v", list)
	}
	if p.Len() != 3 {
		t.Errorf("%d samples", p.Len())
	}
}
