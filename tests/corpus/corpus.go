// Package corpus finds the collection of real manifests and traces that the
// conformance tests read. It is no part of the project: the tests take it from
// the folder that ETWGEN_CORPUS names, or from ../shared/corpus beside the
// module, and skip where there is none. With ETWGEN_CORPUS_REQUIRED=1 they fail
// instead.
//
// Slow tests go through a share, the same one every time, unless [All] says that all is
// wanted: see [Every] and [Share].
package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
)

// Dir returns the folder of the corpus, or skips the test.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("ETWGEN_CORPUS")
	if dir == "" {
		dir = filepath.Join(moduleRoot(tb), "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		Missing(tb, "the corpus is absent; set ETWGEN_CORPUS to its folder to run this test")
	}
	return dir
}

// File returns the path of one file of the corpus, or skips the test.
func File(tb testing.TB, elem ...string) string {
	tb.Helper()
	path := filepath.Join(append([]string{Dir(tb)}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		Missing(tb, "the corpus has no "+filepath.Join(elem...))
	}
	return path
}

// Glob returns the files of the corpus that match a pattern, sorted. It skips
// the test if there is none.
func Glob(tb testing.TB, pattern ...string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(append([]string{Dir(tb)}, pattern...)...))
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		Missing(tb, "the corpus has no "+filepath.Join(pattern...))
	}
	sort.Strings(files)
	return files
}

// Traces returns the traces of the corpus of all formats.
func Traces(tb testing.TB) []string {
	tb.Helper()
	var list []string
	for _, pattern := range []string{"dotnet10/*.nettrace", "dotnet10/*.netperf", "nettrace/*.nettrace", "nettrace/*.netperf", "etl/*.etl", "universal/*.nettrace"} {
		list = append(list, Glob(tb, pattern)...)
	}
	return list
}

// Facts returns the folder with the tables of facts, which lies beside the
// corpus, or skips the test.
func Facts(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(Dir(tb), "..", "facts")
	if _, err := os.Stat(dir); err != nil {
		Missing(tb, "there are no fact tables beside the corpus")
	}
	return dir
}

// Missing skips the test, or fails it where the corpus is required.
func Missing(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("ETWGEN_CORPUS_REQUIRED") == "1" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

// moduleRoot returns the folder of go.mod, above the folder that go test runs
// the package in.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// All reports whether tests are to go through all that there is, as those of .ci/run do:
// ETWGEN_TESTS=all asks for it, ETWGEN_TESTS=some for a share. Where neither does, a corpus
// that is required is read whole.
func All() bool {
	switch os.Getenv("ETWGEN_TESTS") {
	case "all":
		return true
	case "some":
		return false
	}
	return os.Getenv("ETWGEN_CORPUS_REQUIRED") == "1"
}

// Every returns n, or 1 if all is wanted: slow tests take every nth.
func Every(n int) int {
	if All() {
		return 1
	}
	return n
}

// Share returns some n of a long list, from all parts of it, or the list if all is wanted.
func Share[T any](list []T, n int) []T {
	if All() || len(list) <= n {
		return list
	}
	share := make([]T, n)
	for i := range share {
		share[i] = list[i*len(list)/n]
	}
	return share
}

// mostSome is the size of files that are always in slow tests.
const mostSome = 1 << 20

// Some leaves out large files, unless ETWGEN_FILTER=all asks for all of them.
func Some(tb testing.TB, files []string) []string {
	tb.Helper()
	if os.Getenv("ETWGEN_FILTER") == "all" {
		return files
	}
	return slices.DeleteFunc(files, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > mostSome
	})
}
