package filter

import (
	"testing"
	"time"
)

func TestDuring(t *testing.T) {
	d, any7 := During{}, Worker{7, AnyThread}
	d.Add(Worker{8, 1}, Span{30, 31})
	for _, s := range []Span{{30, 40}, {10, 20}, {15, 18}, {20, 25}, {35, 36}} {
		d.Add(any7, s)
	}
	d.Sort()
	if len(d[any7]) != 2 {
		t.Errorf("%v", d)
	}
	for _, test := range []struct {
		process int64
		at      time.Duration
		want    bool
	}{{7, 9, false}, {7, 10, true}, {7, 19, true}, {7, 25, true}, {7, 26, false}, {7, 30, true}, {7, 40, true}, {7, 41, false}, {8, 30, false}} {
		if got := d.Has(Worker{test.process, 2}, test.at); got != test.want {
			t.Errorf("process %d at %d: %v", test.process, test.at, got)
		}
	}
	if !d.Has(Worker{8, 1}, 30) || d.Has(Worker{8, 1}, 32) {
		t.Error("a thread has other times than its own")
	}
	if (During{}).Has(Worker{7, 2}, 10) {
		t.Error("no time has one")
	}
}
