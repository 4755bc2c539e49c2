package main

import (
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// Parts that lie next to each other have the records at their ends both. Read together each comes
// once, so that answers are those of the whole.
func TestPartsTogether(t *testing.T) {
	whole, dir := corpus.File(t, "etl", "filtrace_etw.etl"), t.TempDir()
	before, after := filepath.Join(dir, "before.etl"), filepath.Join(dir, "after.etl")
	for _, args := range [][]string{{"--to", "3s", "-o", before}, {"--from", "3s", "-o", after}} {
		if _, stderr, code := output(append([]string{"filter", whole}, args...)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	for _, question := range [][]string{{"stat", "-e", "Thread/*"}, {"threads"}, {"threads", "--by", "processor"}, {"network"}} {
		args := append(question, "--format", "csv")
		want, _, _ := output(append(args, whole)...)
		if got, _, _ := output(append(args, before, after)...); got != want {
			t.Errorf("%q: the parts together have\n%.500s\nthe whole\n%.500s", question, got, want)
		}
	}
}
