package pick

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/filter"
)

// TestChildren: a process has the children that began while it had its number, and no others.
func TestChildren(t *testing.T) {
	at := func(ms float64) int64 { return int64(ms) * 1000 }
	process := func(pid, parent int64, name string, start, end float64) system.ProcessFacts {
		return system.ProcessFacts{PID: pid, ParentPID: system.ID(parent), Name: name, StartMS: measure.Known(start), EndMS: measure.Known(end)}
	}
	list := []system.ProcessFacts{
		process(200, 4, "web.exe", 1, 200), process(200, 4, "reborn.exe", 310, 900),
		process(210, 200, "a.exe", 10, 300), process(210, 200, "b.exe", 320, 330), process(211, 210, "c.exe", 20, 30),
	}
	lives := func(name string) map[int64][]filter.Life {
		return map[int64][]filter.Life{200: {{Name: name, From: math.MinInt64, To: math.MaxInt64}}}
	}
	for name, want := range map[string][]filter.Life{
		"web.exe":    {{Name: "a.exe", From: 10000, To: 320000}},
		"reborn.exe": {{Name: "b.exe", From: 320000, To: math.MaxInt64}},
	} {
		h := &filter.Header{Processes: filter.Number(200), Lives: lives(name)}
		addChildren(h, list, at)
		if diff := cmp.Diff(want, h.Lives[210]); diff != "" || !h.Processes.Has(210) {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if h.Processes.Has(211) != (name == "web.exe") {
			t.Errorf("%s: %v", name, h.Processes)
		}
	}
	h := &filter.Header{Processes: filter.Number(200)}
	if addChildren(h, list, at); h.Lives != nil || !h.Processes.Has(211) {
		t.Errorf("a number has all of its children: %+v", h)
	}
}
