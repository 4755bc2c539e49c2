package trace

import (
	"testing"
	"time"
)

// TestMarks reads marks as they were written, and leaves out nonsense.
func TestMarks(t *testing.T) {
	ms := func(n int) *time.Duration { d := time.Duration(n) * time.Millisecond; return &d }
	p := &Part{From: ms(1), To: ms(5), Processes: "1,5-9", Activities: []string{"A; b"}}
	name, got := CutMark(p.MarkFile("a.etl"))
	if name != "a.etl" || got.String() != p.String() || got.String() != "from 1.000 ms, to 5.000 ms, process 1,5-9, activity A; b" {
		t.Errorf("%q, %v", name, got)
	}
	told := *p
	told.Interval = 1e6
	if _, got := CutMark(told.MarkFile("a.etl")); got == nil || got.Interval != 1e6 || len(told.MarkText()) != len(p.MarkText()) {
		t.Errorf("an interval: %v, %q", got, told.MarkText())
	}
	for _, text := range []string{"", "{", "{}", `{"from":5,"to":5}`, `{"processes":"x"}`, `{"from":"a"}`} {
		if got := readPart(text); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	if long := (&Part{Activities: []string{string(make([]byte, mostMark))}}); long.MarkFile("a") != "a" {
		t.Error("a mark is too long for a header")
	}
}

// TestPartsTogether has parts that adjoin make the whole again, and others make nothing.
func TestPartsTogether(t *testing.T) {
	at := func(n int) *time.Duration { d := time.Duration(n); return &d }
	for _, c := range []struct {
		what   string
		parts  []*Part
		want   string
		differ bool
	}{
		{"halves", []*Part{{From: at(1e6)}, {To: at(1e6)}}, "", false},
		{"thirds", []*Part{{From: at(2e6), To: at(3e6)}, {To: at(2e6)}}, "to 3.000 ms", false},
		{"a gap", []*Part{{To: at(1e6)}, {From: at(2e6)}}, "", true},
		{"processes", []*Part{{Processes: "1", To: at(1e6)}, {Processes: "2", To: at(1e6)}}, "to 1.000 ms, process 1,2", false},
		{"processes of other times", []*Part{{Processes: "1", To: at(1e6)}, {Processes: "2", To: at(2e6)}}, "", true},
		{"threads of processes", []*Part{{Processes: "1", Threads: "7"}, {Processes: "2"}}, "", true},
		{"the same", []*Part{{Processes: "1"}, {Processes: "1"}}, "process 1", false},
		{"a part and another trace", []*Part{{Processes: "1"}, nil}, "", true},
	} {
		all, differ := together(c.parts)
		got := ""
		if all != nil {
			got = all.String()
		}
		if got != c.want || differ != c.differ {
			t.Errorf("%s: %q, %t", c.what, got, differ)
		}
	}
	if later := (&Part{From: at(1e6)}).since(time.Second); later.String() != "from 1001.000 ms" {
		t.Errorf("in another session: %v", later)
	}
}
