// Package testtrace opens the traces of the corpus for the tests of analyses. It is
// the one place below analysis that knows of file formats.
package testtrace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
func Analyze[A interface{ Result() R }, R any](tb testing.TB, begin func(*etw.Mux) A, path string) R {
	tb.Helper()
	var mux etw.Mux
	a := begin(&mux)
	Run(tb, &mux, path)
	return a.Result()
}

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
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := nettrace.NewReader(unpacked(tb, path, b))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return r
}

func unpacked(tb testing.TB, path string, b []byte) io.Reader {
	if filepath.Ext(path) != ".gz" {
		return bytes.NewReader(b)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return z
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
	f, err := os.Open(filepath.Join(corpus.Dir(tb), "traceevent", strings.TrimSuffix(filepath.Base(path), ".gz")+".json.gz"))
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		tb.Fatalf("%s: %v", f.Name(), err)
	}
	return true
}

// Truth decodes the own account of the program in a trace into v, and reports whether there
// is one.
func Truth(tb testing.TB, path string, v any) bool {
	tb.Helper()
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), strings.TrimSuffix(name, filepath.Ext(name))+".truth.json"))
	if err != nil {
		return false
	}
	if err := json.Unmarshal(b, v); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return true
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
	b, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	if err := json.NewDecoder(unpacked(tb, path, b)).Decode(v); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return true
}
