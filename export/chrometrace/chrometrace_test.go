package chrometrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	trace := &Trace{
		Processes: []Process{{1, "shop"}},
		Threads:   []Thread{{1, 2, `"baker"`}},
		Spans: []Span{
			{Process: 1, Thread: 2, Name: "inner", From: 1500, Length: 1000},
			{Process: 1, Thread: 2, Name: "outer", Category: "jit", From: 1000, Length: 5001, Args: []Arg{{"tier", "1"}}},
			{Process: 1, Thread: 2, Name: "over the end", From: 5000, Length: 2000},
			{Process: 1, Thread: 2, Name: "after", From: 6001, Length: -1},
			{Process: 1, Thread: 3, Name: "request", From: -20, Length: 30, Apart: true, Parts: []Span{{Name: "running", From: -20, Length: 10}, {Name: "awaiting", From: -10, Length: 20}}},
		},
		Marks:    []Mark{{Process: 1, Thread: 2, Name: "thrown\xff", At: 7}},
		Counters: []Counter{{Process: 1, Name: "heap", At: 8000, Values: []Value{{"gen0", 1.5}, {"gen1", 2}}}},
	}
	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"shop"}}`,
		`{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"\"baker\""}}`,
		`{"ph":"X","name":"outer","pid":1,"tid":2,"cat":"jit","ts":1,"dur":5.001,"args":{"tier":1}}`,
		`{"ph":"X","name":"inner","pid":1,"tid":2,"cat":"etw","ts":1.5,"dur":1}`,
		`{"ph":"b","name":"over the end","pid":1,"tid":2,"cat":"etw","ts":5,"id":"2"}`,
		`{"ph":"e","name":"over the end","pid":1,"tid":2,"cat":"etw","ts":7,"id":"2"}`,
		`{"ph":"X","name":"after","pid":1,"tid":2,"cat":"etw","ts":6.001,"dur":0}`,
		`{"ph":"b","name":"request","pid":1,"tid":3,"cat":"etw","ts":-0.02,"id":"4"}`,
		`{"ph":"b","name":"running","pid":1,"tid":3,"cat":"etw","ts":-0.02,"id":"4"}`,
		`{"ph":"e","name":"running","pid":1,"tid":3,"cat":"etw","ts":-0.01,"id":"4"}`,
		`{"ph":"b","name":"awaiting","pid":1,"tid":3,"cat":"etw","ts":-0.01,"id":"4"}`,
		`{"ph":"e","name":"awaiting","pid":1,"tid":3,"cat":"etw","ts":0.01,"id":"4"}`,
		`{"ph":"e","name":"request","pid":1,"tid":3,"cat":"etw","ts":0.01,"id":"4"}`,
		`{"ph":"i","name":"thrown` + "\uFFFD" + `","pid":1,"tid":2,"cat":"etw","ts":0.007,"s":"t"}`,
		`{"ph":"C","name":"heap","pid":1,"tid":0,"cat":"counter","ts":8,"args":{"gen0":1.5,"gen1":2}}`,
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "]}\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	if diff := cmp.Diff(want, lines[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("it is no JSON")
	}
}

// A fullDisk takes nothing.
type fullDisk struct{}

var errFull = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	if err := new(Trace).Write(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
