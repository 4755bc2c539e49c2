package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// filtered runs etw filter, and returns its output and exit code.
func filtered(args ...string) (said string, code int) {
	var out bytes.Buffer
	code = run(append([]string{"filter"}, args...), strings.NewReader(""), &out, &out)
	return out.String(), code
}

// A recordList has the contents of the records of a trace, as text.
type recordList struct {
	texts []string
	times []etw.FileTime
}

// listRecords reads a trace. Of an .etl file the header of the log file, which tells of
// the file itself, is left out.
func listRecords(t *testing.T, path string) recordList {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	var l recordList
	header := new(kernel.AnyEventTraceHeader).EventDesc()
	for r, err := range f.Records() {
		if err != nil {
			if !errors.Is(err, etw.ErrIncomplete) {
				t.Fatal(err)
			}
			break
		}
		if r.Provider == header.Class && r.Opcode == header.Opcode {
			continue
		}
		l.times = append(l.times, r.Clock.FileTime(r.Timestamp))
		l.texts = append(l.texts, recordText(r))
	}
	return l
}

func recordText(r *etw.Record) string {
	var b strings.Builder
	fmt.Fprint(&b, r.Time(), " ", r.Key(), " ", r.ProviderName, " ", r.Level, r.Opcode, r.Channel, r.Task, " ", r.Keywords, " ", r.PointerSize, " ", r.Processor, " ", r.ProcessID, r.ThreadID)
	b.Write(r.ActivityID[:])
	b.Write(r.RelatedActivityID[:])
	fmt.Fprintf(&b, "%q %q", r.Payload, r.Stack.Addresses)
	for _, item := range r.Extended {
		fmt.Fprint(&b, item.Type, " ", item.Data)
	}
	if r.Schema != nil {
		fmt.Fprint(&b, r.Schema.Name, r.Schema.TaskName, r.Schema.OpcodeName, len(r.Schema.Fields))
	}
	return b.String()
}

// outputFor returns where to write the output made of a trace.
func outputFor(t *testing.T, path, name string) string {
	suffix := ".nettrace"
	if strings.HasSuffix(path, ".etl") {
		suffix = ".etl"
	}
	return filepath.Join(t.TempDir(), name+suffix)
}

// sameRecords reports where two lists differ.
func sameRecords(want, got recordList) error {
	if len(want.texts) != len(got.texts) {
		return fmt.Errorf("%d records, want %d", len(got.texts), len(want.texts))
	}
	for i := range want.texts {
		if want.texts[i] != got.texts[i] {
			return fmt.Errorf("record %d:\n%s\nwant\n%s", i, got.texts[i], want.texts[i])
		}
	}
	return nil
}

// checkFilter filters a trace by nothing, and in two halves by time that are merged.
// Both give the same records in the same order.
func checkFilter(t *testing.T, path string) error {
	want := listRecords(t, path)
	whole := outputFor(t, path, "whole")
	if said, code := filtered(path, "-o", whole); code == cli.ExitUsage {
		return errors.New(said)
	}
	if err := sameRecords(want, listRecords(t, whole)); err != nil {
		return fmt.Errorf("all: %w", err)
	}
	if len(want.times) < 2 {
		return nil
	}
	cut := want.times[len(want.times)/4].Time().Format("2006-01-02T15:04:05.0000000Z")
	first, second, both := outputFor(t, path, "first"), outputFor(t, path, "second"), outputFor(t, path, "both")
	for _, args := range [][]string{{path, "--to", cut, "-o", first}, {path, "--from", cut, "-o", second}, {first, second, "-o", both}} {
		if said, code := filtered(args...); code == cli.ExitUsage {
			return errors.New(said)
		}
	}
	if err := sameRecords(want, listRecords(t, both)); err != nil {
		return fmt.Errorf("two halves: %w", err)
	}
	return nil
}

func TestFilter(t *testing.T) {
	files := testio.Glob(t, "../../tests/recorded/*.net*")
	for _, path := range files {
		if err := checkFilter(t, path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFilterCorpus copies traces, whole and as two halves that are put together again. All
// of them take a minute and more: ETWGEN_FILTER=all.
func TestFilterCorpus(t *testing.T) {
	files := corpus.Glob(t, "etl", "*.etl")
	for _, p := range [][2]string{{"nettrace", "*.net*[ef]"}, {"dotnet10", "*.net*[ef]"}, {"universal", "*.nettrace"}} {
		files = append(files, corpus.Glob(t, p[0], p[1])...)
	}
	files = corpus.Share(corpus.Some(t, files), 30)
	same := 0
	for _, path := range files {
		if err := checkFilter(t, path); err != nil {
			text := err.Error()
			t.Errorf("%s: %.3000s", filepath.Base(path), text)
			continue
		}
		same++
	}
	t.Logf("%d of %d traces are the same, whole and of two halves", same, len(files))
}

// TestFilterChooses filters by an event: the records needed to understand it stay.
func TestFilterChooses(t *testing.T) {
	path := "../../tests/recorded/rundown.nettrace"
	out := outputFor(t, path, "gc")
	said, code := filtered(path, "-e", "MethodDCEndILToNativeMap", "--no-rundown", "-o", out)
	if code != 0 || !strings.HasSuffix(strings.TrimSpace(said), " events") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, text := range listRecords(t, out).texts {
		if !strings.Contains(text, "a669021c-c450-4609-a035-5af59af4df18/150.0") {
			t.Fatalf("%q", text)
		}
	}
	if said, code := filtered(path, "-e", "MethodDCEndILToNativeMap", "-o", out); code != 0 || !strings.Contains(said, "that the rest needs") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if !slices.ContainsFunc(listRecords(t, out).texts, func(s string) bool { return strings.Contains(s, "a669021c-c450-4609-a035-5af59af4df18/144.1") }) {
		t.Error("there are no names of methods")
	}
}

// TestFilterRedacts replaces text and numbers, and nothing else.
func TestFilterRedacts(t *testing.T) {
	path := "../../tests/recorded/eventsource.nettrace"
	dump := func(path string) string {
		var out, trouble bytes.Buffer
		if code := run([]string{"dump", "--provider", "Etwgen-Workload", "--format", "jsonl", path}, nil, &out, &trouble); code != 0 {
			t.Fatalf("%d: %s", code, trouble.String())
		}
		return out.String()
	}
	before := dump(path)
	if !strings.Contains(before, `"text":"plain"`) {
		t.Fatalf("there is no text in %.500s", before)
	}
	one, two, blank := outputFor(t, path, "one"), outputFor(t, path, "two"), outputFor(t, path, "blank")
	for _, args := range [][]string{{"-o", one}, {"-o", two, "--redact-key", "secret"}, {"-o", blank, "--redact-as", "blank"}} {
		if said, code := filtered(append([]string{path, "--redact", "text,u32"}, args...)...); code != cli.ExitTrouble || !strings.Contains(said, "4 events were left out") {
			t.Fatalf("exit code %d: %s", code, said)
		}
	}
	a, b, c := dump(one), dump(two), dump(blank)
	switch {
	case strings.Contains(a+b+c, `"text":"plain"`), !strings.Contains(a, `"u32":0`), strings.Contains(a, `"u32":4000000000`), !strings.Contains(a, `"u64":18000000000000000000`):
		t.Errorf("redacted:\n%.2000s", a)
	case a == b:
		t.Error("another key makes the same hash")
	case !strings.Contains(c, `"text":"*****"`):
		t.Errorf("blank:\n%.2000s", c)
	case strings.Count(a, "\n") != strings.Count(before, "\n")-3: // of which the trace has no fields
		t.Errorf("%d events of %d", strings.Count(a, "\n"), strings.Count(before, "\n"))
	}
}

// TestFilterWritesAtomically leaves nothing behind where it fails.
func TestFilterWritesAtomically(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.nettrace")
	data := testio.Read(t, "../../tests/recorded/gc.nettrace")
	testio.Write(t, path, data[:len(data)*2/3])
	if said, code := filtered(path, "-o", path); code != cli.ExitUsage || !strings.Contains(said, "the trace itself") {
		t.Errorf("onto itself: %d, %s", code, said)
	}
	if said, code := filtered(path); code != cli.ExitUsage || !strings.Contains(said, "--output") {
		t.Errorf("without an output: %d, %s", code, said)
	}
	out := filepath.Join(dir, "out.nettrace")
	if said, code := filtered(path, "-o", out); code != cli.ExitTrouble || !strings.Contains(said, "in.nettrace: offset") {
		t.Errorf("cut off: %d, %s", code, said)
	}
	if err := sameRecords(listRecords(t, path), listRecords(t, out)); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
