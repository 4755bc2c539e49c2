package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// TestListFacts compares list --json for the newest manifest of the CLR with
// the tables of facts about it: every event, and every field of every template
// that an event has.
func TestListFacts(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"list", "--json", runtimeCLR(t)}, nil, &stdout, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	var rows []eventRow
	if err := json.Unmarshal([]byte(stdout.String()), &rows); err != nil {
		t.Fatal(err)
	}
	var events, fields []string
	listed := make(map[string]bool) // templates, by provider and name
	for _, r := range rows {
		events = append(events, strings.Join([]string{r.Provider, fmt.Sprint(r.ID), fmt.Sprint(r.Version), r.Symbol, r.Level,
			r.Task, r.Opcode, strings.Join(r.Keywords, " "), r.Mask, r.Template}, "\t"))
		template := r.Provider + "\t" + r.Template
		if !listed[template] {
			listed[template] = true
			index := 0
			fields = appendFieldFacts(fields, template, "", r.Fields, &index)
		}
	}
	same(t, "clr-events.tsv", events, facts(t, "clr-events.tsv", func(c []string) (string, bool) {
		return strings.Join(slices.Concat(c[:6], c[7:8], c[9:12]), "\t"), true
	}))
	same(t, "clr-fields.tsv", fields, facts(t, "clr-fields.tsv", func(c []string) (string, bool) {
		return strings.Join(c[:10], "\t"), listed[c[0]+"\t"+c[1]]
	}))
}

// facts returns the rows of a table that choose wants, sorted.
func facts(t *testing.T, file string, choose func(cells []string) (string, bool)) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus.Facts(t), file))
	if err != nil {
		t.Fatal(err)
	}
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
		kind := "data"
		if len(f.Fields) > 0 {
			kind = "struct"
		}
		rows = append(rows, strings.Join([]string{template, fmt.Sprint(*index), path + f.Name, kind, f.InType, f.OutType, f.Map, f.Count, f.Length}, "\t"))
		*index++
		rows = appendFieldFacts(rows, template, path+f.Name+".", f.Fields, index)
	}
	return rows
}
