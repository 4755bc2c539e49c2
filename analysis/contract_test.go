package analysis

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/internal/testio"
)

// The names in the JSON form are a contract. These are those that programs rely on
// most; a change of one takes a new version of the schema.
func TestContract(t *testing.T) {
	for _, test := range []struct {
		trace string
		paths [][]string
	}{
		{"gc-workstation.nettrace", [][]string{
			{"gc", "schema"},
			{"gc", "runtimes", "pid"}, {"gc", "runtimes", "clrInstance"}, {"gc", "runtimes", "count"}, {"gc", "runtimes", "pauseMs"},
			{"gc", "runtimes", "gcs", "number"}, {"gc", "runtimes", "gcs", "generation"}, {"gc", "runtimes", "gcs", "kind"},
			{"gc", "runtimes", "gcs", "reason"}, {"gc", "runtimes", "gcs", "startMs"}, {"gc", "runtimes", "gcs", "suspendMs"},
			{"gc", "runtimes", "gcs", "pauseMs"}, {"gc", "runtimes", "gcs", "durationMs"}, {"gc", "runtimes", "gcs", "beforeMB"},
			{"gc", "runtimes", "gcs", "afterMB"}, {"gc", "runtimes", "gcs", "promotedMB"},
			{"alloc", "types", "type"}, {"alloc", "types", "bytes"}, {"alloc", "types", "ticks"},
			{"handles", "runtimes", "kinds", "kind"},
		}},
		{"exceptions.nettrace", [][]string{{"exceptions", "count"}, {"exceptions", "types", "type"}, {"exceptions", "types", "count"}}},
		{"jit-tiering.nettrace", [][]string{
			{"jit", "count"}, {"jit", "inclusiveMs"}, {"jit", "exclusiveMs"}, {"jit", "methods", "method"}, {"jit", "methods", "inclusiveMs"},
			{"runtimes", "runtimes", "version"}, {"loader", "runtimes", "modules", "path"},
		}},
		{"contention.nettrace", [][]string{{"contention", "count"}, {"contention", "totalMs"}}},
		{"waits.nettrace", [][]string{{"waits", "count"}, {"waits", "totalMs"}}},
		{"threadpool.nettrace", [][]string{{"threadPool", "runtimes", "adjustments", "reason"}, {"threadPool", "runtimes", "starvation", "because"}}},
		{"aspnet.nettrace", [][]string{{"requests", "processes", "tasks", "task"}, {"requests", "processes", "tasks", "durationMs", "p95"}}},
		{"counters.nettrace", [][]string{{"counters", "processes", "counters", "points", "atMs"}}},
		{"metrics.nettrace", [][]string{{"counters", "processes", "metrics", "points", "value"}}},
		{"heap-1.nettrace", [][]string{{"heap", "snapshots", "types", "retainedBytes"}, {"heap", "snapshots", "largest", "path"}}},
	} {
		res, err := Run(t.Context(), testtrace.Open(t, testtrace.Named(t, test.trace)))
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		testio.JSON(t, []byte(marshal(t, res)), &tree)
		for _, path := range test.paths {
			if !has(tree, path) {
				t.Errorf("%s: there is no %v", test.trace, path)
			}
		}
	}
}

// has reports whether a value is at a path of names; of lists any element will do.
func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if has(e, path) {
				return true
			}
		}
	case map[string]any:
		next, ok := v[path[0]]
		return ok && has(next, path[1:])
	}
	return false
}
