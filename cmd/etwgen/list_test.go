package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestListFacts compares list --json for the newest manifest of the CLR with
// the tables of facts about it: every event, and every field of every template
// that an event has.
func TestListFacts(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"list", "--json", runtimeCLR(t)}, nil, &stdout, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	rows := decodeRows(t, &stdout)
	var events, fields []string
	listed := make(map[string]bool) // templates, by provider and name
	for _, r := range rows {
		events = append(events, strings.Join([]string{r.Provider, fmt.Sprint(r.ID), fmt.Sprint(r.Version), r.Event,
			r.Task, r.Opcode, strings.Join(r.Keywords, " "), r.Mask, r.Template, fmt.Sprint(r.Level)}, "\t"))
		template := r.Provider + "\t" + r.Template
		if !listed[template] {
			listed[template] = true
			index := 0
			fields = appendFieldFacts(fields, template, "", r.Fields, &index)
		}
	}
	same(t, "clr-events.tsv", events, facts(t, "clr-events.tsv", func(c []string) (string, bool) {
		return strings.Join(slices.Concat(c[:4], c[5:6], []string{withoutPrefix(c[7])}, c[9:13]), "\t"), true
	}))
	same(t, "clr-fields.tsv", fields, facts(t, "clr-fields.tsv", func(c []string) (string, bool) {
		c[5] = withoutPrefix(c[5])
		return strings.Join(c[:10], "\t"), listed[c[0]+"\t"+c[1]]
	}))
}

// decodeRows reads the output of list --json.
func decodeRows(t *testing.T, r io.Reader) []eventRow {
	t.Helper()
	var doc struct {
		Schema int
		Rows   []eventRow
	}
	if err := json.NewDecoder(r).Decode(&doc); err != nil || doc.Schema != 1 {
		t.Fatalf("schema %d, %v", doc.Schema, err)
	}
	return doc.Rows
}

// TestListIsLikeEvents compares list --json with etw events --json of the same manifest:
// objects of the one have all that those of the other have.
func TestListIsLikeEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the other command")
	}
	shop := filepath.Join("..", "..", "examples", "custom", "events", "shop.man")
	other, err := exec.Command("go", "run", "../etw", "events", "--format", "json", "--manifest", shop, "Example-Shop").Output()
	if err != nil {
		t.Fatal(err)
	}
	code, ours, stderr := etwgen(t, "", "list", "--json", shop)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	want, got := objects(t, string(other)), objects(t, ours)
	if len(want) == 0 || len(want) != len(got) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		for _, key := range []string{"template", "size32", "size64"} {
			if got[i][key] == nil {
				t.Errorf("event %d has no %s", i, key)
			}
			delete(got[i], key)
		}
		if d := gocmp.Diff(want[i], got[i]); d != "" {
			t.Errorf("event %d (-etw events +etwgen list):\n%s", i, d)
		}
	}
}

// objects reads the rows of a document.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Rows
}

// facts returns the rows of a table that choose wants, sorted.
func facts(t *testing.T, file string, choose func(cells []string) (string, bool)) []string {
	t.Helper()
	data := testio.Read(t, filepath.Join(corpus.Facts(t), file))
	var rows []string
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if i == 0 {
			continue // the names of the columns
		}
		if row, ok := choose(strings.Split(strings.TrimRight(line, "\r"), "\t")); ok {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

// same compares two tables, whatever the order of their rows.
func same(t *testing.T, name string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	if len(want) == 0 {
		t.Errorf("%s has no rows", name)
	}
	for _, row := range got {
		if _, found := slices.BinarySearch(want, row); !found {
			t.Errorf("%s: not in the facts: %q", name, row)
		}
	}
	for _, row := range want {
		if _, found := slices.BinarySearch(got, row); !found {
			t.Errorf("%s: not listed: %q", name, row)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
	}
}

// appendFieldFacts appends fields as the table has them, members behind their
// structs.
func appendFieldFacts(rows []string, template, path string, fields []fieldRow, index *int) []string {
	for _, f := range fields {
		kind, inType := "data", f.Type
		if len(f.Fields) > 0 {
			kind, inType = "struct", ""
		}
		rows = append(rows, strings.Join([]string{template, fmt.Sprint(*index), path + f.Name, kind, inType, f.OutType, f.Map, f.Count, f.Length}, "\t"))
		*index++
		rows = appendFieldFacts(rows, template, path+f.Name+".", f.Fields, index)
	}
	return rows
}

// TestListHostileNames: no name of a manifest is a command to the terminal, or makes
// a line of its own.
func TestListHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.man")
	text := `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="N&#x9b;31m&#x202e;&#10;FAKE" guid="{7c1d5e0a-3b0f-4f5e-8a52-0d6c1e2f3a4b}" symbol="P" resourceFileName="r" messageFileName="m">
<events><event value="1" symbol="E"/></events></provider></events></instrumentation></instrumentationManifest>`
	testio.Write(t, path, text)
	for _, args := range [][]string{{"list", path}, {"list", "--json", path}} {
		var stdout, stderr bytes.Buffer
		if code := run(args, nil, &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
		}
		out := strings.TrimSuffix(strings.TrimSuffix(stdout.String(), "\n"), "\n]}")
		if i := strings.LastIndex(out, "\n"); !strings.Contains(out[i+1:], "31m") || strings.Contains(out, "\nFAKE") {
			t.Errorf("%v: a line is forged: %q", args, out)
		}
		if strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), command.IsUnclean) >= 0 {
			t.Errorf("%v: %q", args, out)
		}
	}
}
