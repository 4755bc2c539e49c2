package analysis

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzSequences plays records of real runtimes, whole in themselves, in orders that no
// runtime sends: parts are left out, repeated, put on other threads and mixed with those of
// other recordings. Nothing panics, and the invariants of every trace hold.
func FuzzSequences(f *testing.F) {
	var recorded [][]*etw.Record
	for _, name := range []string{"gc-background-10", "gc-server-10", "exceptions-10", "locks-10", "waits-10", "pool-10", "requests-10", "counters-10", "alloc-10", "alloc-sampled-10"} {
		recorded = append(recorded, testtrace.Records(f, filepath.Join("..", "tests", "recorded", "answers", name+".nettrace"), everything))
	}
	for i := range recorded {
		f.Add([]byte{opTrace, byte(i), opPlay, 255, opPlay, 255, opSkip, 3, opPlay, 60, opBack, 40, opThread, 1, opPlay, 80})
	}
	f.Add([]byte{opTrace, 0, opPlay, 90, opTrace, 3, opPlay, 9, opTrace, 0, opPlay, 200, opSkip, 200, opPlay, 200, opTrace, 4, opThread, 2, opPlay, 50})
	f.Fuzz(func(t *testing.T, script []byte) {
		p := player{t: t, traces: recorded, clock: &etw.Clock{Frequency: 1e9}}
		set := New(&p.mux)
		for ; len(script) >= 2 && p.played < 1000; script = script[2:] {
			p.step(script[0], int(script[1]))
		}
		res := set.Result()
		checkTree(t, "", decoded(t, res))
		checkSums(t, res)
		if first, second := marshal(t, res), marshal(t, set.Result()); first != second {
			diff := cmp.Diff(first, second)
			t.Errorf("the result, asked for again, is another (-first +second):\n%s", diff)
		}
	})
}

// The steps of a script of [FuzzSequences], each with a number: choose a trace, play records
// of it, leave some out, go back, use another thread from there on.
const (
	opTrace = iota
	opPlay
	opSkip
	opBack
	opThread
	ops
)

// A player plays records to a mux.
type player struct {
	t      *testing.T
	mux    etw.Mux
	traces [][]*etw.Record
	clock  *etw.Clock
	trace  int
	at     [16]int // by trace
	now    int64
	thread int64
	played int
}

func (p *player) step(op byte, n int) {
	at := &p.at[p.trace]
	switch op % ops {
	case opTrace:
		p.trace = n % len(p.traces)
	case opPlay:
		for ; n > 0 && *at < len(p.traces[p.trace]); n-- {
			p.play(p.traces[p.trace][*at])
			*at++
		}
	case opSkip:
		*at = min(*at+n, len(p.traces[p.trace]))
	case opBack:
		*at = max(*at-n, 0)
	case opThread:
		p.thread = int64(n % 4)
	}
}

func (p *player) play(r *etw.Record) {
	x := *r
	p.now += 1000 + int64(p.played%7)*100
	p.played++
	x.Timestamp, x.Clock, x.ProcessID = p.now, p.clock, 1
	x.ThreadID = r.ThreadID%5 + 8*p.thread
	if err := p.mux.Dispatch(&x); err != nil {
		p.t.Fatal(err)
	}
}

// TestTrees looks for numbers that cannot be in the results of all traces.
func TestTrees(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res, err := Run(t.Context(), testtrace.Open(t, path))
		if err != nil && !testtrace.Incomplete(err) {
			t.Fatal(err)
		}
		checkTree(t, testtrace.Name(path), decoded(t, res))
		checkSums(t, res)
	}
}

func decoded(t *testing.T, v any) any {
	t.Helper()
	var tree any
	testio.JSON(t, []byte(marshal(t, v)), &tree)
	return tree
}

// signed are the names of numbers that may be negative: metrics can be anything, and a
// checkpoint can have been before the session.
var signed = []string{".metrics", ".counters", ".checkpoints.atMs"}

// checkTree reports the numbers in a JSON value that are negative and cannot be.
func checkTree(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			checkTree(t, path+"."+name, x)
		}
	case []any:
		for _, x := range v {
			checkTree(t, path, x)
		}
	case float64:
		name := path[strings.LastIndexByte(path, '.')+1:]
		if v >= 0 || !strings.HasSuffix(name, "Ms") && !strings.HasSuffix(name, "MB") && !strings.HasSuffix(name, "Percent") &&
			!strings.HasSuffix(strings.ToLower(name), "count") && !strings.HasSuffix(strings.ToLower(name), "bytes") {
			return
		}
		for _, s := range signed {
			if strings.Contains(path, s) {
				return
			}
		}
		t.Errorf("%s is %v", path, v)
	}
}

// checkSums checks that several ways of counting agree.
func checkSums(t *testing.T, r *Result) {
	t.Helper()
	same := func(what string, want, got float64) {
		if d := want - got; d > 1e-6*(1+want) || -d > 1e-6*(1+want) {
			t.Errorf("%s: %v and %v", what, want, got)
		}
	}
	for _, rt := range r.Exceptions.Runtimes {
		types, threads := 0, 0
		for _, x := range rt.Types {
			types += x.Count
		}
		for _, x := range rt.Threads {
			threads += x.Count
		}
		same("exceptions by type", float64(rt.Count), float64(types))
		same("exceptions by thread", float64(rt.Count), float64(threads))
	}
	for _, rt := range r.Contention.Runtimes {
		var ms float64
		for _, x := range rt.Threads {
			ms += x.TotalMS
		}
		same("contention by thread", rt.TotalMS, ms)
		held := 0.0
		for _, x := range rt.Owners {
			held += x.TotalMS
		}
		if x := rt.WithoutOwner; x != nil {
			held += x.TotalMS
		}
		same("contention by owner", rt.TotalMS, held)
	}
	for _, rt := range r.Waits.Runtimes {
		var ms float64
		for _, x := range rt.Sources {
			ms += x.TotalMS
		}
		same("waits by source", rt.TotalMS, ms)
		same("waits of the pool and others", rt.TotalMS, rt.PoolMS+rt.OtherMS)
	}
	for _, rt := range r.GC.Runtimes {
		same("collections", float64(rt.Count), float64(rt.All.Count+rt.Unfinished+rt.Partial))
	}
	for _, p := range r.Requests.Processes {
		ended, open := 0, 0
		for _, x := range p.Tasks {
			ended, open = ended+x.Count, open+x.Open
		}
		same("activities", float64(p.Stopped), float64(ended+p.StopsWithoutStart))
		same("open activities", float64(p.Open), float64(open))
	}
}

// A result is the same however often it is asked for: no sum depends on the order of a
// map.
func TestResultsAreStable(t *testing.T) {
	for _, name := range []string{"alloc-sampled-10.nettrace", "gc-server-10.nettrace", "requests-10.nettrace", "waits-10.nettrace", "heap-10.nettrace.gz"} {
		var mux etw.Mux
		set := New(&mux)
		if err := mux.Run(t.Context(), testtrace.Open(t, filepath.Join("..", "tests", "recorded", "answers", name))); err != nil {
			t.Fatal(err)
		}
		first := marshal(t, set.Result())
		for range 20 {
			if diff := cmp.Diff(first, marshal(t, set.Result())); diff != "" {
				t.Fatalf("%s (-first +later):\n%s", name, diff)
			}
		}
	}
}
