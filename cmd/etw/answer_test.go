package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// questions returns the commands that analyses answer, with their views.
func questions(group string) map[string][]string {
	all := map[string][]string{}
	for _, cmd := range newRoot().Commands() {
		by := cmd.Flags().Lookup("by")
		if by == nil || cmd.GroupID != group {
			continue
		}
		_, list, _ := strings.Cut(by.Usage, ": ")
		sides := strings.Split(list, "; with ")
		all[cmd.Name()] = strings.Split(sides[0], ", ")
		for _, side := range sides[1:] {
			flag, list, _ := strings.Cut(side, "\n")
			all[cmd.Name()+" "+flag] = strings.Split(list, ", ")
		}
	}
	return all
}

// output runs the tool. The first argument may be a command with a flag.
func output(args ...string) (stdout, stderr string, code int) {
	args = append(strings.Fields(args[0]), args[1:]...)
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

// outputKeeping returns a function that runs the tool as a server does: of a trace that it
// has read, another view takes no further pass.
func outputKeeping() func(args ...string) (stdout, stderr string, code int) {
	ctx := context.WithValue(context.Background(), cli.ShelfKey{}, new(cli.Shelf))
	return func(args ...string) (string, string, int) {
		args = append(strings.Fields(args[0]), args[1:]...)
		var out, errs bytes.Buffer
		code := runIn(ctx, args, strings.NewReader(""), &out, &errs)
		return out.String(), errs.String(), code
	}
}

// TestViews asks for every view in every format: tables are whole, numbers are numbers, and
// empty answers are said to be missing.
func TestViews(t *testing.T) {
	traces := testio.Glob(t, filepath.Join("..", "..", "tests", "recorded", "*.nettrace"))
	newer := testio.Glob(t, filepath.Join("..", "..", "tests", "recorded", "answers", "*.nettrace*"))
	async := filepath.Join(t.TempDir(), "async.nettrace") // which no runtime of the recorded traces tells of
	if data, err := asyncTrace(); err != nil || os.WriteFile(async, data, 0o666) != nil {
		t.Fatalf("%s: %v", async, err)
	}
	traces = append(append(traces, newer...), recordedPath("causes/cause-light-10.nettrace.gz"), async)
	filled := map[string]bool{"heap --by change": true} // which takes two snapshots
	for name, views := range questions(groupAsk) {
		for _, path := range traces {
			checkContract(t, name, path)
			output := outputKeeping()
			for _, view := range views {
				if !corpus.All() && filled[name+" --by "+view] {
					continue
				}
				if checkView(t, output, name, view, path) {
					filled[name+" --by "+view] = true
				}
			}
		}
		for _, view := range views {
			if !filled[name+" --by "+view] {
				t.Errorf("no trace has rows for %s --by %s", name, view)
			}
		}
	}
}

// checkView checks one view in the formats of tables, and reports whether it has
// rows.
func checkView(t *testing.T, output func(...string) (string, string, int), name, view, path string) bool {
	t.Helper()
	where := strings.Join([]string{name, "--by", view, path}, " ")
	out, stderr, code := output(name, "--by", view, "--format", "csv", path)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) == 0 || code > 1 && code != cli.ExitNone {
		t.Fatalf("%s: %v, %s", where, err, stderr)
	}
	for _, name := range rows[0] {
		if !oneName.MatchString(name) {
			t.Errorf("%s: the column %q is not called as all are", where, name)
		}
	}
	if len(rows) == 1 {
		return false
	}
	lines, _, _ := output(name, "--by", view, "--format", "jsonl", path)
	if n := strings.Count(lines, "\n"); n != len(rows)-1 {
		t.Errorf("%s: %d lines of JSON, %d rows", where, n, len(rows)-1)
	}
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("%s: %s", where, line)
		}
	}
	text, _, _ := output(name, "--by", view, "--top", "3", path)
	md, _, _ := output(name, "--by", view, "--top", "3", "--format", "md", path)
	perBucket := name == "timeline" // people see a row for each lane
	if n := strings.Count(md, "\n"); n != min(len(rows)-1, 3)+2 && !perBucket {
		t.Errorf("%s: %d lines of Markdown of %d rows", where, n, len(rows)-1)
	}
	if len(rows) > 4 && !perBucket && !strings.Contains(text, "3 of ") {
		t.Errorf("%s does not say how many rows there are:\n%s", where, text)
	}
	for _, s := range []string{out, lines, text, md} {
		if bad := noNumber.FindString(s); bad != "" {
			t.Errorf("%s: %q", where, bad)
		}
	}
	return true
}

// noNumber finds texts that must not be in any output.
var noNumber = regexp.MustCompile(`(?m)(^|[,:| ])[+-]?(NaN|Inf)([,}| ]|$)|%!`)

// oneName is how columns are called, in every format.
var oneName = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// strokes finds fields of JSON that are not.
var strokes = regexp.MustCompile(`[{,]"\w*_\w*":`)

// checkContract checks the document in JSON.
func checkContract(t *testing.T, name, path string) {
	t.Helper()
	out, stderr, code := output(name, "--format", "json", path)
	var doc struct {
		Schema   int
		Lost     *int64
		Warnings *[]string
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code > 1 && code != cli.ExitNone {
		t.Fatalf("%s %s: %v, %s\n%s", name, path, err, stderr, out)
	}
	if bad := strokes.FindString(out); bad != "" {
		t.Errorf("%s %s: the field %s is not called as all are", name, path, bad)
	}
	if doc.Schema == 0 || doc.Lost == nil || doc.Warnings == nil {
		t.Errorf("%s %s: %.200s", name, path, out)
	}
	if text, _, _ := output(name, path); text == "" && !strings.Contains(stderr, "to record them: etw collect") && !strings.Contains(stderr, "they were recorded") {
		t.Errorf("%s %s: there is neither an answer nor how to record one: %s", name, path, stderr)
	}
}

// Samples alone tell the allocations: nothing is said to be missing.
func TestInstead(t *testing.T) {
	for _, name := range []string{"alloc-sampled-10.nettrace", "alloc-10.nettrace"} {
		text, stderr, code := output("allocs", recordedPath("answers/"+name))
		if code != 0 || strings.Contains(text+stderr, "no events of allocations") {
			t.Errorf("%s: exit code %d: %s%s", name, code, text, stderr)
		}
	}
}
