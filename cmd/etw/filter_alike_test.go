package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/tests/corpus"
)

// alikeParts are parts of traces, to which every command answers as to the whole with the flags that
// chose them; those of one name are in tests/recorded.
var alikeParts = []struct {
	trace []string
	flags string
}{
	{[]string{"exceptions.nettrace"}, "--tid 27235"},
	{[]string{"jit.nettrace"}, "--tid 27263"},
	{[]string{"answers/gc-server-10.nettrace"}, "--process 25927"},
	{[]string{"answers/requests-10.nettrace"}, "--during Request"},
	{[]string{"causes/cause-10.nettrace.gz"}, "--activity Request"},
	{[]string{"dotnet10", "cpu-default-profile.nettrace"}, "--tid 19236"},
	{[]string{"causes", "ferry-net10-full.nettrace.gz"}, "--activity Request"},
	{[]string{"causes", "ferry-net31-full.nettrace.gz"}, "--during Request"},
}

// alikeViews are the sides of commands beside that which they show without flags.
var alikeViews = []string{"requests --by cause", "requests --by endpoint", "waits --locks", "waits --path", "files --disks", "allocs --by method",
	"timeline --by thread", "threads --by switch", "top --by thread", "top --by stack", "top --of exceptions", "top --of waits", "top --of allocs"}

// askable returns the commands that ask a trace with the flags of parts.
func askable() (names []string) {
	events := []string{"stat", "dump", "filter", "export", "watch", "collect", "record"} // which are about the records that there are
	for _, c := range newRoot().Commands() {
		if hasFlags(c, "process", "activity", "format") && !slices.Contains(events, c.Name()) {
			names = append(names, c.Name())
		}
	}
	return append(names, alikeViews...)
}

func hasFlags(c *cobra.Command, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.Flags().Lookup(name) == nil })
}

// partAnswer returns the output of a command about a trace, without what names the trace.
func partAnswer(command, path string, flags ...string) (answer, stderr string, code int) {
	args := append(strings.Fields(command), "--format", "csv")
	switch args[0] {
	case "report", "tree":
		args[len(args)-1] = "json"
	case "flame":
		args[len(args)-1] = "folded"
	case "compare":
		flags = append([]string{path}, flags...)
	}
	answer, stderr, code = output(slices.Concat(args, flags, []string{path})...)
	var doc map[string]any
	if json.Unmarshal([]byte(answer), &doc) == nil {
		maps.DeleteFunc(doc, func(key string, _ any) bool {
			return slices.Contains([]string{"trace", "next", "needs", "warnings"}, key)
		})
		text, _ := json.Marshal(doc)
		answer = string(text)
	}
	return strings.ReplaceAll(answer, path, "TRACE"), stderr, code
}

func TestPartsAlike(t *testing.T) {
	names := askable()
	if len(names) < 30 {
		t.Fatalf("there are too few commands: %q", names)
	}
	for _, p := range alikeParts {
		whole := filepath.Join(append([]string{"..", "..", "tests", "recorded"}, p.trace...)...)
		if len(p.trace) > 1 {
			whole = corpus.File(t, p.trace...)
		}
		part, flags, same := filepath.Join(t.TempDir(), "part.nettrace"), strings.Fields(p.flags), 0
		if said, code := filtered(slices.Concat(flags, []string{"-o", part, whole})...); code != 0 {
			t.Fatalf("%s %s: exit code %d: %s", p.trace, p.flags, code, said)
		}
		for _, name := range names {
			want, wholeSaid, wholeCode := partAnswer(name, whole, flags...)
			got, said, code := partAnswer(name, part)
			switch {
			case name == "gc" && flags[0] == "--tid":
				want, wholeSaid, wholeCode = partAnswer(name, whole)
			case wholeCode == 2 && code == 2 && strings.Contains(wholeSaid, "--tid") && !strings.Contains(said, "only a part of another, thread"):
				t.Errorf("%s %s, %s is refused: %s", p.trace, p.flags, name, said)
			}
			if strings.Contains(said, "whether that has an answer is not known") && (got == want && wholeCode == 5 || strings.Count(want, "\n") < 2) {
				continue
			}
			if got != want || code != wholeCode {
				t.Errorf("%s %s, %s: codes %d and %d, %s; of the part\n%.600s\nof the whole\n%.600s%s", p.trace, p.flags, name, code, wholeCode, said, got, want, wholeSaid)
			}
			if strings.Count(want, "\n") > 1 {
				same++
			}
		}
		if same == 0 {
			t.Errorf("%s %s: no answer has rows", p.trace, p.flags)
		}
	}
}
