package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// A chosenPart is a part of a trace, and the questions to which it answers without flags as the
// whole does with those that chose it.
type chosenPart struct {
	trace []string // in the corpus
	flags string
	asked []string
}

var chosenParts = []chosenPart{
	{[]string{"etl", "filtrace_etw.etl"}, "--from 500 --to 800", []string{"threads", "threads --by switch", "threads --by processor", "gc", "jit", "top", "top --of blocked", "startup"}},
	{[]string{"etl", "net.4.5.2.x64.etl"}, "--from 3000 --to 4000", []string{"gc", "jit", "top", "files", "files --disks", "network", "startup", "allocs"}},
	{[]string{"etl", "net.4.5.2.x64.etl"}, "--process Test.x64.exe", []string{"gc", "jit", "top", "files", "files --disks", "startup", "allocs", "timeline", "processes"}},
	{[]string{"etl", "filtrace_etw.etl"}, "--process 9144", []string{"threads", "threads --by switch", "top --of blocked", "jit", "top", "allocs", "timeline"}},
	{[]string{"etl", "filtrace_etw.etl"}, "--process 9144 --from 500 --to 1800", []string{"threads", "threads --by switch", "top --of blocked", "jit", "top", "timeline"}},
	{[]string{"dotnet10", "jit-tiering.nettrace"}, "--from 100 --to 300", []string{"jit", "startup", "timeline"}},
	{[]string{"dotnet10", "gc-workstation.nettrace"}, "--from 100 --to 400", []string{"startup", "allocs"}},
	// Collections, waits, requests and rounds of samples go over the ends of these.
	{[]string{"dotnet10", "gc-workstation.nettrace"}, "--from 208.51 --to 416.83", []string{"gc", "gc --by suspension", "allocs", "timeline"}},
	{[]string{"dotnet10", "waits.nettrace"}, "--from 131.321 --to 262.325", []string{"waits", "waits --by thread", "timeline"}},
	{[]string{"dotnet10", "contention.nettrace"}, "--from 117.652 --to 234.786", []string{"waits --locks", "timeline"}},
	{[]string{"dotnet10", "threadpool.nettrace"}, "--from 1460.099 --to 2919.825", []string{"threadpool", "timeline"}},
	{[]string{"dotnet10", "cpu-blocked.nettrace"}, "--from 216.826 --to 422.069", []string{"top", "tree", "threads", "timeline"}},
	{[]string{"dotnet10", "cpu-blocked.nettrace"}, "--tid 19205 --from 216.826 --to 422.069", []string{"top", "tree", "threads"}},
	{[]string{"dotnet10", "aspnet.nettrace"}, "--from 272.89 --to 483.99", []string{"requests", "requests --by activity", "timeline"}},
	{[]string{"dotnet10", "aspnet-activities.nettrace"}, "--from 353.875 --to 624.726", []string{"requests", "requests --by activity", "timeline"}},
	{[]string{"causes", "ferry-net10-full.nettrace.gz"}, "--from 736.621 --to 1469.597",
		[]string{"requests", "requests --by activity", "requests --by cause", "requests --by path", "waits", "top", "threads", "timeline", "gc --by suspension", "jit"}},
	{[]string{"universal", "universal-dotnet.nettrace"}, "--from 597.643 --to 1195.287", []string{"threads", "threads --by switch", "top", "top --of blocked", "processes", "timeline"}},
	{[]string{"universal", "universal-tracepoints.nettrace"}, "--from 300.945 --to 601.891", []string{"threads", "threads --by switch", "threads --by processor", "top", "top --of blocked", "processes", "timeline"}},
	{[]string{"causes", "ferry-net10-full.nettrace.gz"}, "--activity Request", []string{"requests", "gc", "jit", "allocs", "waits", "exceptions"}},
}

func TestPartAnswers(t *testing.T) {
	for _, p := range chosenParts {
		whole := corpus.File(t, p.trace...)
		part, flags := filepath.Join(t.TempDir(), "part"+filepath.Ext(strings.TrimSuffix(whole, ".gz"))), strings.Fields(p.flags)
		if said, code := filtered(slices.Concat(flags, []string{"-o", part, whole})...); code != 0 {
			t.Fatalf("%s %s: exit code %d: %s", p.trace, p.flags, code, said)
		}
		for _, ask := range p.asked {
			args := append(strings.Fields(ask), "--format", "csv")
			want, _, code := output(slices.Concat(args, flags, []string{whole})...)
			got, stderr, partCode := output(append(args, part)...)
			if got != want || code != partCode || code != 0 || strings.Count(want, "\n") < 2 {
				t.Errorf("%s %s, %s: codes %d and %d, %s; of the part\n%.600s\nof the whole\n%.600s", p.trace, p.flags, ask, partCode, code, stderr, got, want)
			}
		}
	}
}

// TestPartWaits: a part has, from before it, the last event of each kind of a thread. The end of a wait among
// them is no wait of the part.
func TestPartWaits(t *testing.T) {
	whole, part := corpus.File(t, "dotnet10", "waits.nettrace"), filepath.Join(t.TempDir(), "part.nettrace")
	flags := []string{"--from", "131.321", "--to", "262.325"}
	if said, code := filtered(slices.Concat(flags, []string{"-o", part, whole})...); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, args := range [][]string{append(flags, whole), {part}} {
		if got, said, _ := output(append([]string{"waits"}, args...)...); strings.Contains(got, "begin was not seen") || !strings.Contains(got, "waited") {
			t.Errorf("%q: %s%s", args, got, said)
		}
	}
}

// TestPartShares has shares of time, and figures per second, be those of the part.
func TestPartShares(t *testing.T) {
	whole, part := corpus.File(t, "etl", "net.4.5.2.x64.etl"), filepath.Join(t.TempDir(), "part.etl")
	flags := []string{"--from", "3000", "--to", "4000"}
	if said, code := filtered(slices.Concat(flags, []string{"-o", part, whole})...); code != 0 {
		t.Fatal(said)
	}
	lines := func(text string, has ...string) (found []string) {
		for line := range strings.Lines(text) {
			if slices.ContainsFunc(has, func(s string) bool { return strings.Contains(line, s) }) {
				found = append(found, line)
			}
		}
		return found
	}
	for _, c := range []struct {
		ask string
		has []string
	}{{"gc", []string{" % of 1.000 s"}}, {"compare --per second --all --format csv PART", []string{"gc.count", "gc.pause"}}} {
		ask := strings.Fields(c.ask)
		other := slices.Clone(ask)
		for i, arg := range ask {
			if arg == "PART" {
				ask[i], other[i] = part, whole
			}
		}
		want, _, _ := output(slices.Concat(other, flags, []string{whole})...)
		got, stderr, _ := output(append(ask, part)...)
		if a, b := lines(want, c.has...), lines(got, c.has...); len(b) == 0 || !slices.Equal(a[:min(len(a), len(b))], b) {
			t.Errorf("%s: of the part %q, of the whole %q, %s", c.ask, b, a, stderr)
		}
	}
}

// TestPartOfPart has a part of a part say both choices, and answer so.
func TestPartOfPart(t *testing.T) {
	whole, dir := corpus.File(t, "etl", "filtrace_etw.etl"), t.TempDir()
	one, two := filepath.Join(dir, "one.etl"), filepath.Join(dir, "two.etl")
	for _, args := range [][]string{{whole, "--from", "500", "--to", "1500", "-o", one}, {one, "--from", "0", "--to", "800", "-o", two}} {
		if said, code := filtered(args...); code != 0 {
			t.Fatal(said)
		}
	}
	if info, _, _ := output("info", two); !strings.Contains(info, "of another trace: from 500.000 ms, to 800.000 ms\n") {
		t.Errorf("info: %s", info)
	}
	want, _, _ := output("threads", "--format", "csv", "--from", "500", "--to", "800", whole)
	for _, args := range [][]string{{two}, {"--to", "800", one}, {"--to", "800", two}} {
		if got, stderr, _ := output(append([]string{"threads", "--format", "csv"}, args...)...); got != want {
			t.Errorf("%q: %s\n%.500s\nwant\n%.500s", args, stderr, got, want)
		}
	}
	if _, stderr, code := output("threads", "--to", "400", two); code != 2 || !strings.Contains(stderr, "only a part of another") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// TestPartCannotTell has answers of a part of a process say that they cannot tell of others.
func TestPartCannotTell(t *testing.T) {
	whole, part := corpus.File(t, "etl", "net.4.5.2.x64.etl"), filepath.Join(t.TempDir(), "part.etl")
	if said, code := filtered("--process", "Test.x64.exe", "-o", part, whole); code != 0 {
		t.Fatal(said)
	}
	for _, c := range []struct {
		ask  string
		code int
		want string
	}{
		{"network", 0, "only a part of another, process 3676 (Test.x64.exe): whether that has an answer is not known"},
		{"top --of blocked", 0, "only a part of another, process 3676 (Test.x64.exe): whether that has an answer is not known"},
		{"threads --by processor", 2, "of which the trace is only a part"},
		{"gc --process 4", 2, "only a part of another, process 3676 (Test.x64.exe)"},
	} {
		if _, stderr, code := output(append(strings.Fields(c.ask), part)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: code %d, %s", c.ask, code, stderr)
		}
	}
	wide, _, _ := output("files", "--disks", "--process", "Test.x64.exe", whole)
	if got, _, _ := output("files", "--disks", part); got != wide || !strings.Contains(got, "1982.860 ms, for all processes") {
		t.Errorf("disks of the part\n%s\nof the whole\n%s", got, wide)
	}
}

// TestPartOfThread has collections be those of the whole, though other threads tell of them.
func TestPartOfThread(t *testing.T) {
	whole, part := corpus.File(t, "dotnet10", "gc-workstation.nettrace"), filepath.Join(t.TempDir(), "part.nettrace")
	if said, code := filtered("--tid", "23878", "-o", part, whole); code != 0 {
		t.Fatal(said)
	}
	want, _, _ := output("gc", "--format", "csv", whole)
	got, stderr, code := output("gc", "--format", "csv", part)
	if got != want || code != 0 || strings.Count(want, "\n") != 50 {
		t.Errorf("code %d, %s; of the part\n%.500s\nof the whole\n%.500s", code, stderr, got, want)
	}
	if text, _, _ := output("gc", part); !strings.Contains(text, "a part of another by threads, but has this of all") || !strings.Contains(text, "43.3 % of 0.708 s") {
		t.Errorf("no note: %s", text)
	}
}
