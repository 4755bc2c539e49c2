// Package testtrace opens the traces of the corpus for the tests of analyses. It is
// the one place below analysis that knows of file formats.
package testtrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// All returns the paths of all traces of .NET in the corpus, or skips the test.
func All(tb testing.TB) []string {
	tb.Helper()
	var all []string
	for _, pattern := range []string{"nettrace/*.net*", "dotnet10/*.net*", "etl/*.etl"} {
		for _, path := range corpus.Glob(tb, pattern) {
			if !strings.HasSuffix(path, ".txt") {
				all = append(all, path)
			}
		}
	}
	return all
}

// mostModerate is the size of traces that tests may read several times. There are few
// larger ones.
const mostModerate = 2 << 20

// Moderate returns the paths of the traces of .NET in the corpus that are not large, or
// skips the test.
func Moderate(tb testing.TB) []string {
	tb.Helper()
	var list []string
	for _, path := range All(tb) {
		if info, err := os.Stat(path); err != nil {
			tb.Fatal(err)
		} else if info.Size() <= mostModerate && filepath.Ext(path) != ".gz" {
			list = append(list, path)
		}
	}
	return list
}

// Analyze returns the result that an analysis, which begin registers at a mux, has for a trace.
// It has a form in JSON.
func Analyze[A interface{ Result() R }, R any](tb testing.TB, begin func(*etw.Mux) A, path string) R {
	tb.Helper()
	var mux etw.Mux
	a := begin(&mux)
	Run(tb, &mux, path)
	res := a.Result()
	if _, err := json.Marshal(res); err != nil {
		tb.Errorf("%s: %v", path, err)
	}
	return res
}

// Near reports whether a number is as wanted, within a tolerance.
func Near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// Run gives the records of a trace to mux, in the order of time.
func Run(tb testing.TB, mux *etw.Mux, path string) {
	tb.Helper()
	if err := mux.Run(tb.Context(), Open(tb, path)); err != nil && !Incomplete(err) {
		tb.Fatalf("%s: %v", path, err)
	}
}

// Incomplete reports whether err only says that the trace has no proper end.
func Incomplete(err error) bool { return errors.Is(err, etw.ErrIncomplete) }

// Open opens a trace, whose records come in the order of time. The end of the test
// closes it.
func Open(tb testing.TB, path string) etw.Source {
	tb.Helper()
	if filepath.Ext(path) == ".etl" {
		r, err := etl.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { r.Close() })
		return r
	}
	r, err := nettrace.NewReader(bytes.NewReader(testio.Unpacked(tb, path)))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return r
}

// Records returns copies of those records of a trace that keep is true for.
func Records(tb testing.TB, path string, keep func(*etw.Record) bool) []*etw.Record {
	tb.Helper()
	var all []*etw.Record
	for r, err := range etw.Records(Open(tb, path)) {
		if err != nil && !Incomplete(err) {
			tb.Fatalf("%s: %v", path, err)
		}
		if err == nil && keep(r) {
			all = append(all, r.Clone())
		}
	}
	return all
}

// Peer decodes TraceEvent's answer for a trace into v, and reports whether there is such an
// answer.
func Peer(tb testing.TB, path string, v any) bool {
	tb.Helper()
	return JSON(tb, filepath.Join(corpus.Dir(tb), "traceevent", strings.TrimSuffix(filepath.Base(path), ".gz")+".json.gz"), v)
}

// Truth decodes the own account of the program in a trace into v, and reports whether there
// is one.
func Truth(tb testing.TB, path string, v any) bool {
	tb.Helper()
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return JSON(tb, filepath.Join(filepath.Dir(path), strings.TrimSuffix(name, filepath.Ext(name))+".truth.json"), v)
}

// Name returns the name by which tests call a trace.
func Name(path string) string { return filepath.Base(path) }

// Named returns the path of the trace with a name, or skips the test.
func Named(tb testing.TB, name string) string {
	tb.Helper()
	all := All(tb)
	i := slices.IndexFunc(all, func(path string) bool { return Name(path) == name })
	if i < 0 {
		corpus.Missing(tb, "the corpus has no "+name)
	}
	return all[i]
}

// JSON decodes a file, which may be compressed, into v, and reports whether it is there.
func JSON(tb testing.TB, path string, v any) bool {
	tb.Helper()
	if _, err := os.Stat(path); err != nil {
		return false
	}
	testio.JSON(tb, testio.Unpacked(tb, path), v)
	return true
}
