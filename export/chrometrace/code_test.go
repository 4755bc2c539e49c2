package chrometrace

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Calls are spans within those of their callers, for as long as samples follow each other.
func TestAddProfile(t *testing.T) {
	s := stacks.NewSamples("thread time", stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "time", Unit: "nanoseconds"})
	add := func(at, length int64, frames ...uint64) {
		s.AddStack(time.Unix(0, at), 1, 7, s.InternAddresses(1, frames), 0, 1, length)
	}
	add(110, 10, 0x20, 0x10)
	add(100, 10, 0x30, 0x10)
	add(121, 9, 0x20, 0x10) // a moment later, and so the same call
	add(130, 10, 0x10)
	add(500, 10, 0x10) // much later
	add(505, 10, 0x10) // it overlaps
	p := stacks.NewProfile(nil, stacks.Options{}, s)
	var tr Trace
	name := func(id int64) string { return fmt.Sprint("n", id) }
	tr.AddProfile(p, 100, name, name)
	var got []string
	for _, x := range slices.Concat(slices.Collect(tr.byTrack())...) {
		got = append(got, fmt.Sprintf("%s %d+%d", x.Name, x.From, x.Length))
	}
	want := []string{"0x10 0+40", "0x30 0+10", "0x20 10+20", "0x10 400+20"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(tr.Threads) != 1 || tr.Threads[0] != (Thread{codeBase + 1, 7, "n7"}) || tr.Processes[0].Name != "code of n1" {
		t.Errorf("%+v, %+v", tr.Threads, tr.Processes)
	}
	bytes := stacks.NewSamples("allocations", stacks.ValueType{Name: "bytes", Unit: "bytes"})
	bytes.AddStack(time.Unix(0, 0), 1, 7, bytes.InternAddresses(1, []uint64{1}), 0, 5)
	tr = Trace{}
	if tr.AddProfile(stacks.NewProfile(nil, stacks.Options{}, bytes), 0, name, name); !tr.IsEmpty() {
		t.Error("what is no time has no place in time")
	}
}

// The parts of a request adjoin, whatever their times are rounded to.
func TestAddRequests(t *testing.T) {
	var tr Trace
	tr.AddRequests(&requests.Result{Processes: []*requests.Process{{PID: 1, Tasks: []requests.Task{{Task: "Request", Slowest: []requests.Activity{{StartMS: 1.0000004, DurationMS: 2.0000004, Thread: 7,
		Path: []requests.Part{{StartMS: 1.0000004, DurationMS: 0.5000004, Kind: "running", Thread: 7}, {StartMS: 1.5000008, DurationMS: 1.5, Kind: "awaiting", Name: "Task.Delay"}}}}}}}}})
	x := tr.Spans[0]
	want := []Span{{Name: "running", From: 1000000, Length: 500001, Args: []Arg{{"tid", "7"}}}, {Name: "awaiting", From: 1500001, Length: 1499999, Args: []Arg{{"of", "Task.Delay"}}}}
	if diff := cmp.Diff(want, x.Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := x.Parts[1]; !x.Apart || last.From+last.Length != x.From+x.Length {
		t.Errorf("%+v", x)
	}
}
