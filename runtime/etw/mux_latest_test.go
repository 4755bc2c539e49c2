package etw

import "testing"

// TestLatest: the latest time of each clock in each file, of whatever comes, where others come in between.
func TestLatest(t *testing.T) {
	var m Mux
	aside := GUID{1}
	m.Aside(aside)
	if _, ok := m.Latest(nil, ""); ok {
		t.Error("a time before any record")
	}
	a, same, b := &Clock{Frequency: 1000}, &Clock{Frequency: 1000}, &Clock{Frequency: 2000}
	for _, x := range []struct {
		clock *Clock
		ticks int64
		file  string
	}{{nil, -5, ""}, {a, 3, ""}, {a, 9, ""}, {a, 20, "x"}, {b, 1, ""}, {a, 4, ""}, {a, 30, "x"}, {same, 7, ""}, {same, 29, "x"}, {nil, -7, ""}} {
		if err := m.Dispatch(&Record{Timestamp: x.ticks, Clock: x.clock, File: x.file}); err != nil {
			t.Fatal(err)
		}
	}
	for _, clock := range []*Clock{same, b, {Frequency: 4}} {
		if err := m.Dispatch(&Record{Timestamp: 100, Clock: clock, Provider: aside}); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := m.Latest(&Clock{Frequency: 4}, ""); ok {
		t.Errorf("%d: a time of a clock whose records do not count", got)
	}
	for c, want := range map[*Clock]int64{a: 9, same: 9, b: 1} {
		if got, ok := m.Latest(c, ""); got != want || !ok {
			t.Errorf("%v: %d, %v, want %d", c, got, ok, want)
		}
	}
	if got, ok := m.Latest(a, "x"); got != 30 || !ok {
		t.Errorf("of the file: %d, %v", got, ok)
	}
	if _, ok := m.Latest(a, "y"); ok {
		t.Error("a time of a file that no record is from")
	}
	if _, ok := m.Latest(&Clock{Frequency: 3}, ""); ok {
		t.Error("a time of a clock that no record has")
	}
}
