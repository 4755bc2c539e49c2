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

// Each part of a .nettrace has the runtime's list of its methods, and that which goes over the ends: read
// together each comes once.
func TestNettracePartsTogether(t *testing.T) {
	whole, dir := corpus.File(t, "causes", "ferry-net10-full.nettrace.gz"), t.TempDir()
	var parts []string
	for i, flags := range [][]string{{"--to", "700"}, {"--from", "700", "--to", "1400"}, {"--from", "1400"}} {
		parts = append(parts, filepath.Join(dir, string(rune('a'+i))+".nettrace"))
		if _, stderr, code := output(append([]string{"filter", whole, "-o", parts[i]}, flags...)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	for _, question := range [][]string{{"jit"}, {"gc"}, {"waits"}, {"threads"}, {"requests", "--by", "cause"}, {"threadpool"}, {"timeline"}} {
		args := append(question, "--format", "csv")
		want, _, _ := output(append(args, whole)...)
		if got, _, _ := output(append(args, parts...)...); got != want {
			t.Errorf("%q: the parts together have\n%.500s\nthe whole\n%.500s", question, got, want)
		}
	}
}
