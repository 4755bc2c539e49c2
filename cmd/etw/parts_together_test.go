package main

import (
	"path/filepath"
	"slices"
	"strings"
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

// Parts of some processes that are read together are a part of all of these, and answers as
// those of the whole with all the flags.
func TestPartsOfProcessesTogether(t *testing.T) {
	marked, real := markedTrace(t, nil), corpus.File(t, "etl", "filtrace_etw.etl")
	for _, x := range []struct{ path, one, other string }{
		{marked, "--process 200", "--process 300"}, {marked, "--process 300 --from 50ms", "--process 100 --from 50ms"},
		{real, "--process 40356", "--process 48348"},
	} {
		var parts []string
		for i, flags := range []string{x.one, x.other} {
			parts = append(parts, filepath.Join(t.TempDir(), string(rune('a'+i))+".etl"))
			if said, code := filtered(append(strings.Fields(flags), "-o", parts[i], x.path)...); code != 0 {
				t.Fatal(said)
			}
		}
		both := x.one + " " + strings.Join(strings.Fields(x.other)[:2], " ")
		for _, question := range []string{"threads", "top", "top --by process", "top --of blocked", "timeline --by thread", "processes", "images", "files", "network", "files --disks", "threads --by process"} {
			args := append(strings.Fields(question), "--format", "csv")
			want, _, wantCode := output(slices.Concat(args, strings.Fields(both), []string{x.path})...)
			if got, said, code := output(append(args, parts...)...); got != want || code != wantCode && wantCode == 0 {
				t.Errorf("%s %s: codes %d and %d, %s; of the parts together\n%.500s\nthe whole\n%.500s", question, both, code, wantCode, said, got, want)
			}
		}
	}
}
