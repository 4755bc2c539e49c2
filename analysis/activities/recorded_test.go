package activities

import (
	"math"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A truth is a program's own account of its work, in ticks of its clock, which is that of
// the trace.
type truth struct {
	Requests []trueRequest
}

type trueRequest struct {
	Kind        string
	ID          int
	Start, Stop int64
	StartTid    int64
	Segments    []trueSegment
}

type trueSegment struct {
	Type, Name string
	Tid        int64
	From, To   int64
}

// followed holds the findings of the analysis in a trace, with the requests by the program's
// names.
type followed struct {
	*Analysis
	spans    []Span
	requests map[*Activity]*trueRequest
	all      []*Activity
	layer    Layer
}

func follow(t *testing.T, path string, truth *truth) *followed {
	var mux etw.Mux
	f := &followed{Analysis: New(&mux), requests: make(map[*Activity]*trueRequest)}
	var pid int64
	f.OnSpan(func(p int64, s Span) { f.spans = append(f.spans, s); pid = p })
	byID := make(map[int]*trueRequest)
	for i := range truth.Requests {
		byID[truth.Requests[i].ID] = &truth.Requests[i]
	}
	var fields dyn.Reader
	mux.HandleRest(func(r *etw.Record) error {
		if r.Opcode != etw.OpcodeStart || r.Schema == nil {
			return nil
		}
		x := f.Lookup(r, r.ActivityID)
		if x == nil {
			return nil
		}
		f.all = append(f.all, x)
		if !fields.Read(r) {
			return nil
		}
		switch {
		case r.ProviderName == "Ferry" && strings.HasPrefix(r.Schema.Name, "Request"):
			n, _ := fields.Float("id").Get()
			f.requests[x] = byID[int(n)]
		case r.ProviderName == "Microsoft.AspNetCore.Hosting" && r.Schema.Name == "RequestStart",
			strings.HasSuffix(fields.Text("ActivityName"), "HttpRequestIn"):
			for i := range truth.Requests { // the one that begins next on this thread
				q := &truth.Requests[i]
				if q.StartTid == r.ThreadID && q.Start > r.Timestamp && (f.requests[x] == nil || q.Start < f.requests[x].Start) {
					f.requests[x] = q
				}
			}
		}
		return nil
	})
	testtrace.Run(t, &mux, path)
	f.Finish()
	f.layer = f.Layer(pid)
	return f
}

// TestTruth: work of threads for a request, by the program's account, is given to it and to
// no other one: all of it where the runtime says for whom threads work, and most where tasks
// do.
func TestTruth(t *testing.T) {
	for _, path := range corpus.Glob(t, "causes/*.nettrace.gz") {
		var truth truth
		if !testtrace.JSON(t, strings.TrimSuffix(path, ".nettrace.gz")+".truth.json.gz", &truth) || len(truth.Requests) == 0 {
			continue
		}
		f, name := follow(t, path, &truth), testtrace.Name(path)
		if len(f.requests) != len(truth.Requests) {
			t.Errorf("%s: %d requests, want %d", name, len(f.requests), len(truth.Requests))
		}
		right, wrong, unknown := f.hold(&truth)
		all := float64(right+wrong+unknown) / 100
		t.Logf("%s: by %v %.3f %% right, %.3f wrong, %.3f unknown of %.0f ms", name, f.layer, float64(right)/all, float64(wrong)/all, float64(unknown)/all, all/1e4)
		layer, least := Flow, 99.9
		switch {
		case strings.Contains(name, "-tpl"):
			layer, least = Tasks, 90
		case strings.Contains(name, "-ids"):
			layer, least = None, 0
		}
		if f.layer != layer {
			t.Errorf("%s: by %v, want %v", name, f.layer, layer)
		}
		if wrong != 0 || float64(right)/all < least {
			t.Errorf("%s: %d ns right, %d wrong, %d unknown", name, right, wrong, unknown)
		}
		if f.layer == None && len(f.spans) > 0 {
			t.Errorf("%s: %d spans from ids alone", name, len(f.spans))
		}
		f.addUp(t, name)
	}
}

// hold returns how much of the work within requests, as the program measured it, is in the
// spans of its request, in those of others, and in none.
func (f *followed) hold(truth *truth) (right, wrong, unknown int64) {
	byThread := make(map[int64][]*Span)
	for i := range f.spans {
		s := &f.spans[i]
		byThread[s.Thread] = append(byThread[s.Thread], s)
	}
	for i := range truth.Requests {
		q := &truth.Requests[i]
		for _, seg := range q.Segments {
			from, to := max(seg.From, q.Start), min(seg.To, q.Stop)
			if seg.Type != "cpu" || from >= to {
				continue
			}
			unknown += to - from
			for _, s := range byThread[seg.Tid] {
				n := max(0, min(s.To, to)-max(s.From, from))
				switch f.of(s.Of) {
				case q:
					right += n
					unknown -= n
				case nil:
				default:
					wrong += n
					unknown -= n
				}
			}
		}
	}
	return right, wrong, unknown
}

// of returns the request that an activity is part of, or nil.
func (f *followed) of(x *Activity) (q *trueRequest) {
	x.Within(func(x *Activity) bool { q = f.requests[x]; return q != nil })
	return q
}

// addUp checks the invariants of all activities: their parts adjoin and make up their time,
// and a thread works for one at a time.
func (f *followed) addUp(t *testing.T, name string) {
	t.Helper()
	for _, x := range f.all {
		if x.Causes == nil {
			continue
		}
		var sum int64
		for k, n := range x.Causes.Spent {
			sum += n
			if n < 0 {
				t.Errorf("%s: %s of %d ticks", name, Kind(k), n)
			}
		}
		at := x.End
		for _, p := range x.Causes.Path {
			if p.To != at || p.From >= p.To {
				t.Errorf("%s: a part from %d to %d before %d", name, p.From, p.To, at)
			}
			at = p.From
		}
		if sum != x.End-x.Begin || at != x.Begin || x.Causes.Parallel < 0 || x.Late < 0 {
			t.Errorf("%s: %s has %+v in %d", name, x.Task, x.Causes.Spent, x.End-x.Begin)
		}
	}
	last := make(map[int64]int64)
	for _, s := range f.spans {
		if s.From > s.To || s.From < last[s.Thread] {
			t.Errorf("%s: thread %d works from %d to %d, and to %d before", name, s.Thread, s.From, s.To, last[s.Thread])
		}
		last[s.Thread] = s.To
	}
}

// TestInvariants: whatever the trace.
func TestInvariants(t *testing.T) {
	with := 0
	for _, path := range testtrace.All(t) {
		f := follow(t, path, new(truth))
		f.addUp(t, testtrace.Name(path))
		if len(f.spans) > 0 {
			with++
		}
	}
	t.Logf("%d traces say for whom threads work", with)
}

// TestKinds: the time of requests of kinds that do one thing goes where the program measured
// it.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		kind, segment string
		of            Kind
		within        float64 // of the program's figure
	}{
		{"lock", "lock", Lock, 0.02},
		{"starved", "queue", Queued, 0.02},
		{"suppressed", "proxy", Others, 0.06},
		{"fresh", "jit", JIT, 0.1},
	} {
		for _, path := range corpus.Glob(t, "causes/ferry-net10-full.nettrace.gz") {
			var truth truth
			testtrace.JSON(t, strings.TrimSuffix(path, ".nettrace.gz")+".truth.json.gz", &truth)
			f := follow(t, path, &truth)
			var got, want int64
			for x, q := range f.requests {
				if q.Kind != test.kind {
					continue
				}
				got += x.Causes.Spent[test.of]
				for _, seg := range q.Segments {
					if seg.Type == test.segment {
						want += max(0, min(seg.To, q.Stop)-max(seg.From, q.Start))
					}
				}
			}
			t.Logf("%s: %s %.2f ms, %.2f by the program", test.kind, test.of, float64(got)/1e6, float64(want)/1e6)
			if off := math.Abs(float64(got-want)) / float64(want); !(off <= test.within) {
				t.Errorf("%s: %s %d ns, %d by the program", test.kind, test.of, got, want)
			}
		}
	}
}
