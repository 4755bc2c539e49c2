package ask

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A course is a timeline of a trace that is being read.
type course struct {
	mux   etw.Mux
	names *frames.CodeMap
	*timelineAnswer
}

func newCourse(tr *trace.Trace, by string) *course {
	c := &course{names: frames.NewCodeMap(nil)}
	c.timelineAnswer = newTimelineAnswer(&c.mux, new(timelineFlags), &Question{by: by, named: c.names})
	c.samplesEach(code.SamplingInterval(tr))
	return c
}

// TestSoFar: a timeline ends as it does where nobody asked for the lanes so far.
func TestSoFar(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	asked := 0
	for _, path := range timelineTraces(t) {
		by := []string{"process", byThread}[r.IntN(2)]
		where := fmt.Sprintf("seed %d, %s, --by %s", seed, filepath.Base(path), by)
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		alone, midway := newCourse(tr, by), newCourse(tr, by)
		begin, last, n := time.Duration(0), time.Duration(0), 0
		next := 1 + r.IntN(100)
		for rec, err := range tr.Records() {
			if err != nil {
				break // what is good was delivered
			}
			for _, c := range []*course{alone, midway} {
				if err := cmp.Or(c.names.Mux.Dispatch(rec), c.mux.Dispatch(rec), c.wholeMux.Dispatch(rec)); err != nil {
					t.Fatalf("%s: %v", where, err)
				}
			}
			at := tr.Elapsed(rec)
			if n++; n == 1 {
				begin, last = at, at
			}
			begin, last = min(begin, at), max(last, at)
			if n == next {
				asked += len(midway.soFar(placement{origin: tr.Start().UnixNano(), from: begin, to: last}).(*timeline.Result).Lanes)
				next += 1 + r.IntN(10*next)
			}
		}
		for _, c := range []*course{alone, midway} {
			c.place(placement{origin: tr.Start().UnixNano(), from: begin, to: last + 1})
			c.take()
		}
		sameLanes(t, where, alone.res.Lanes, midway.res.Lanes)
		tr.Close()
	}
	if asked == 0 {
		t.Error("no trace has lanes midway")
	}
}

func sameLanes(t *testing.T, where string, want, got []*timeline.Lane) {
	t.Helper()
	name := func(l *timeline.Lane) string {
		return fmt.Sprint(l.Kind, l.PID, l.TID, l.Of, l.Unit, l.How, l.WithinMS)
	}
	lanes := make(map[string]*timeline.Lane)
	for _, l := range got {
		lanes[name(l)] = l
	}
	for _, l := range want {
		x := lanes[name(l)]
		if x == nil || !near(l.Total.Or(-1), x.Total.Or(-1), 1) || !near(l.Highest.Or(-1), x.Highest.Or(-1), 1) {
			t.Errorf("%s: %s: %+v, want %+v", where, name(l), x, l)
			continue
		}
		for i, v := range l.Values {
			if !near(v.Or(-1), x.Values[i].Or(-1), 1) {
				t.Errorf("%s: %s: bucket %d has %v, want %v", where, name(l), i, x.Values[i], v)
				break
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d lanes, want %d", where, len(got), len(want))
	}
}
