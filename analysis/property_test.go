package analysis

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
	gocmp "github.com/google/go-cmp/cmp"
)

func everything(*etw.Record) bool { return true }

func dispatch(tb testing.TB, records []*etw.Record) *Result {
	tb.Helper()
	var mux etw.Mux
	set := New(&mux)
	for _, r := range records {
		if err := mux.Dispatch(r); err != nil {
			tb.Fatal(err)
		}
	}
	return set.Result()
}

// Records of one time may come in any order of their threads.
func TestPermutation(t *testing.T) {
	for _, path := range testtrace.Moderate(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, everything)
		want := dispatch(t, records)
		slices.SortStableFunc(records, func(a, b *etw.Record) int {
			return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), cmp.Compare(b.ThreadID, a.ThreadID))
		})
		if diff := gocmp.Diff(marshal(t, want), marshal(t, dispatch(t, records))); diff != "" {
			t.Errorf("%s: in another order of threads (-want +got):\n%s", name, diff)
		}
	}
}

// Counts of a part of a trace are in those of the whole, and a result does not change when
// more records come.
func TestPrefix(t *testing.T) {
	for _, path := range testtrace.Moderate(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, everything)
		var mux etw.Mux
		set := New(&mux)
		var last map[string]float64
		var kept *Result
		var before []byte
		for i, r := range records {
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
			if i%(len(records)/5+1) != 0 {
				continue
			}
			res := set.Result()
			sums := total(res)
			for key, v := range last {
				if sums[key] < v-1e-6 {
					t.Errorf("%s: %s falls from %v to %v after %d records", name, key, v, sums[key], i)
				}
			}
			if kept != nil {
				if after, _ := json.Marshal(kept); string(after) != string(before) {
					t.Errorf("%s: the result after %d records changed later", name, i)
				}
			}
			last, kept = sums, res
			before, _ = json.Marshal(res)
		}
	}
}

// The numbers of two halves add up to those of the whole, but for operations under way where
// the trace is cut.
func TestMerge(t *testing.T) {
	for _, path := range testtrace.Moderate(t) {
		name, records := testtrace.Name(path), testtrace.Records(t, path, everything)
		whole := total(dispatch(t, records))
		cut := len(records) / 2
		a, b := total(dispatch(t, records[:cut])), total(dispatch(t, records[cut:]))
		for _, key := range []string{"ticks", "bytes", "exceptions", "methods", "points", "enqueued", "handles"} {
			if sum := a[key] + b[key]; sum < whole[key]-1e-6 || sum > whole[key]+1e-6 {
				t.Errorf("%s: %s is %v, of the halves %v and %v", name, key, whole[key], a[key], b[key])
			}
		}
	}
}

// total adds up the additive figures.
func total(r *Result) map[string]float64 {
	sums := map[string]float64{"exceptions": float64(r.Exceptions.Count), "jit": float64(r.JIT.Count), "jit ms": r.JIT.InclusiveMS,
		"contention": float64(r.Contention.Count), "contention ms": r.Contention.TotalMS, "waits": float64(r.Waits.Count), "waits ms": r.Waits.TotalMS,
		"bytes": r.Alloc.Bytes}
	for _, rt := range r.GC.Runtimes {
		sums["pause ms"] += rt.PauseMS
		sums["collections"] += float64(rt.All.Count)
	}
	for _, rt := range r.Alloc.Runtimes {
		if rt.Ticks != nil {
			sums["ticks"] += float64(rt.Ticks.Count)
		}
	}
	for _, rt := range r.Loader.Runtimes {
		sums["methods"] += float64(rt.Methods)
	}
	for _, rt := range r.ThreadPool.Runtimes {
		sums["requested"] += float64(rt.WorkersRequested)
		if rt.Queue != nil {
			sums["enqueued"] += float64(rt.Queue.Enqueued)
		}
	}
	for _, rt := range r.Handles.Runtimes {
		sums["handles"] += float64(rt.Created)
	}
	for _, p := range r.Requests.Processes {
		sums["started"] += float64(p.Started)
	}
	for _, p := range r.Counters.Processes {
		for _, c := range p.Counters {
			sums["points"] += float64(len(c.Points))
		}
	}
	return sums
}
