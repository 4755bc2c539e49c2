package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// simpleExample returns the arguments of an example that reads files and takes no shell.
func simpleExample(cmd *cobra.Command) []string {
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "etw "+cmd.Name()) && !strings.ContainsAny(line, "|'>") && livePlace.FindString(line) == "" && !strings.Contains(line, "--format") {
			return strings.Fields(line)[1:]
		}
	}
	return nil
}

// TestDocuments: the JSON of every command is one object with the same fields at its root,
// and its suggestions are command lines that make sense.
func TestDocuments(t *testing.T) {
	t.Chdir(exampleFolder(t))
	tested := 0
	for _, cmd := range newRoot().Commands() {
		if cmd.Flags().Lookup("json") == nil || slices.Contains([]string{"record", "sessions", "watch"}, cmd.Name()) {
			continue
		}
		args := simpleExample(cmd)
		if args == nil {
			t.Errorf("%s has no simple example", cmd.Name())
			continue
		}
		if i := slices.Index(args, "-o"); i > 0 { // a file is for a page
			args = slices.Delete(args, i, i+2)
		}
		tested++
		out, stderr, code := output(append(args, "--json")...)
		if code != 0 {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
		checkDocument(t, cmd, args, out)
	}
	if tested < 25 {
		t.Errorf("%d commands print JSON", tested)
	}
}

// checkDocument checks the common fields of documents.
func checkDocument(t *testing.T, cmd *cobra.Command, args []string, out string) {
	t.Helper()
	var root map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &root); err != nil {
		t.Errorf("%q: %v: %.300s", args, err, out)
		return
	}
	if keys := rootKeys(t, out); len(keys) != len(root) {
		t.Errorf("%q: a field is there twice: %v", args, keys)
	}
	for _, key := range []string{"schema", "trace", "warnings", "next"} {
		if root[key] == nil {
			t.Errorf("%q: there is no %s: %.300s", args, key, out)
		}
	}
	var doc struct {
		Schema   int
		Trace    map[string]any
		Warnings *[]string
		Next     *[]show.Suggestion
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Schema == 0 || doc.Warnings == nil || doc.Next == nil {
		t.Errorf("%q: %v: %.300s", args, err, out)
		return
	}
	if about := slices.Contains([]string{groupLook, groupAsk, groupCode, groupBox}, cmd.GroupID); about != (doc.Trace != nil) {
		t.Errorf("%q: the trace is %v", args, doc.Trace)
	} else if about {
		want := []string{"damaged", "events", "files", "lost", "lostBuffers", "namedPercent", "truncated", "undecodable"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(doc.Trace))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", args, diff)
		}
	}
	if asks := slices.Contains([]string{groupAsk, groupCode, groupBox}, cmd.GroupID); asks != (root["needs"] != nil) {
		t.Errorf("%q: it needs %s", args, root["needs"])
	}
	for _, s := range *doc.Next {
		checkSuggestion(t, args, s)
	}
}

// rootKeys returns the names of the fields of an object, as often as they are there.
func rootKeys(t *testing.T, object string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(object))
	var keys []string
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// checkSuggestion checks that a command line that is suggested makes sense.
func checkSuggestion(t *testing.T, args []string, s show.Suggestion) {
	t.Helper()
	words, own := strings.CutPrefix(s.Command, "etw ")
	if s.Why == "" || s.Command != "" && !own {
		t.Errorf("%q suggests %+v", args, s)
	}
	if !own || strings.Contains(words, "'") {
		return
	}
	cmd, rest, err := newRoot().Find(strings.Fields(words))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%q suggests %+v: %v", args, s, err)
	}
}

// TestQuality: losses, missing ends and missing kinds of events, are said in the document.
func TestQuality(t *testing.T) {
	read := func(args ...string) (a show.About) {
		out, _, _ := output(append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), &a); err != nil || a.Trace == nil {
			t.Fatalf("%q: %v: %.300s", args, err, out)
		}
		return a
	}
	for _, command := range []string{"stat", "info", "dump", "allocs", "top"} {
		a := read(command, recordedPath("lost.nettrace"))
		if a.Trace.LostEvents == 0 || len(a.Warnings) == 0 || !strings.Contains(a.Warnings[0], "were lost") {
			t.Errorf("%s of a trace with losses: %+v", command, a)
		}
	}
	if a := read("heap", recordedPath("gc.nettrace")); len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], "the trace has no events of") || len(a.Next) != 1 || !strings.HasPrefix(a.Next[0].Command, "etw collect ") {
		t.Errorf("heap of a trace without one: %+v", a)
	}
	if a := read("dump", "--limit", "1", recordedPath("gc.nettrace")); a.Trace.Truncated || a.Trace.Files[0].DurationMS != nil || len(a.Warnings) > 0 {
		t.Errorf("a dump that was enough: %+v", a)
	}
	a := read("info", recordedPath("gc.nettrace"))
	if !slices.ContainsFunc(a.Next, func(s show.Suggestion) bool { return strings.HasPrefix(s.Command, "etw gc ") }) {
		t.Errorf("info does not lead to gc: %+v", a.Next)
	}
}
