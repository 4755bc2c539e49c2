package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The tests of this file hold our manifest of the CLR against the runtime's own. They may
// differ in the entries of corrections.tsv, with a reason for each line, and in nothing
// else.

var ourCLR = filepath.Join("..", "..", "generated", "clr", "clr.man")

func runtimeCLR(t *testing.T) string {
	return corpus.File(t, "manifests", "clr", "ClrEtwAll.latest-partial.man")
}

// A correction is a line of corrections.tsv.
type correction struct{ provider, kind, place, item, runtime, here, reason string }

func readCorrections(t *testing.T) []correction {
	t.Helper()
	data := testio.Read(t, filepath.Join("..", "..", "generated", "clr", "testdata", "corrections.tsv"))
	var list []correction
	head := true
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if head {
			head = false
			continue
		}
		v := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(v) != 7 || v[6] == "" {
			t.Fatalf("bad correction %q", line)
		}
		list = append(list, correction{v[0], v[1], v[2], v[3], v[4], v[5], v[6]})
	}
	return list
}

// listed runs list --json.
func listed(t *testing.T, path string) []eventRow {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"list", "--json", path}, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("list --json %s: exit code %d\n%s", path, code, &stderr)
	}
	rows := decodeRows(t, &stdout)
	slices.SortFunc(rows, func(a, b eventRow) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	return rows
}

func TestListOfCLR(t *testing.T) {
	want, got := listed(t, runtimeCLR(t)), listed(t, ourCLR)
	used := 0
	for _, c := range readCorrections(t) {
		if c.kind != "field" {
			continue
		}
		what, here, _ := strings.Cut(c.here, "=")
		_, was, _ := strings.Cut(c.runtime, "=")
		found := false
		for i := range got {
			row := &got[i]
			if row.Provider != c.provider || row.Template != c.place {
				continue
			}
			f := findField(row.Fields, c.item)
			if f == nil {
				t.Fatalf("template %s has no %s", c.place, c.item)
			}
			if what != "map" { // the size follows
				for _, other := range want {
					if other.Provider == row.Provider && other.ID == row.ID && other.Version == row.Version {
						row.Size32, row.Size64 = other.Size32, other.Size64
					}
				}
			}
			if what == "added" {
				row.Fields = removeField(row.Fields, c.item)
				found = true
				continue
			}
			at := map[string]*string{"map": &f.Map, "count": &f.Count, "inType": &f.Type, "outType": &f.OutType}[what]
			if at == nil {
				t.Fatalf("bad correction %+v", c)
			}
			if what == "inType" {
				here, was = withoutPrefix(here), withoutPrefix(was)
			}
			if *at != here {
				t.Errorf("%s of %s has %s %q, not %q as the corrections say", c.item, c.place, what, *at, here)
			}
			*at, found = was, true
		}
		if !found {
			t.Errorf("correction of %s, which no event has", c.place)
		}
		used++
	}
	t.Logf("%d events, %d corrections of fields", len(got), used)
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("the list differs by more than the corrections (-runtime +ours):\n%s", d)
	}
}

// findField finds a field by its path, such as Values.Flags.
func findField(fields []fieldRow, path string) *fieldRow {
	name, rest, deeper := strings.Cut(path, ".")
	for i := range fields {
		switch {
		case fields[i].Name != name:
		case deeper:
			return findField(fields[i].Fields, rest)
		default:
			return &fields[i]
		}
	}
	return nil
}

// removeField removes the field with a path.
func removeField(fields []fieldRow, path string) []fieldRow {
	name, rest, deeper := strings.Cut(path, ".")
	for i := range fields {
		if fields[i].Name == name && deeper {
			fields[i].Fields = removeField(fields[i].Fields, rest)
		}
	}
	return slices.DeleteFunc(fields, func(f fieldRow) bool { return f.Name == name && !deeper })
}

// TestNamesOfCLR compares the facts that list does not show: GUIDs, symbols, masks, the
// values of tasks and opcodes, and the entries of maps.
func TestNamesOfCLR(t *testing.T) {
	want, got := namesOf(t, runtimeCLR(t)), namesOf(t, ourCLR)
	for _, c := range readCorrections(t) {
		at := c.provider + " map " + c.place
		switch {
		case c.kind != "map":
			continue
		case c.item == "": // the whole map
			n := 0
			for key := range got {
				if strings.HasPrefix(key, at+" ") {
					delete(got, key)
					n++
				}
			}
			if c.here != fmt.Sprintf("%d entries", n) {
				t.Errorf("%s has %d entries, not %s as the corrections say", c.place, n, c.here)
			}
		default:
			key := at + " " + c.item
			if got[key] != c.here {
				t.Errorf("%s is %q, not %q as the corrections say", key, got[key], c.here)
			}
			delete(got, key)
			if c.runtime != "" {
				got[key] = c.runtime
			}
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("names differ by more than the corrections (-runtime +ours):\n%s", d)
	}
}

// TestGoNamesOfCLR checks that events have other Go names than their symbols only
// where the corrections say so.
func TestGoNamesOfCLR(t *testing.T) {
	m := testio.ParseFile(t, manifest.ParseFile, ourCLR, manifest.Options{})
	want, got := make(map[string]string), make(map[string]string)
	for _, c := range readCorrections(t) {
		if c.kind == "name" {
			want[c.provider+" "+c.place+" "+c.item] = c.here
		}
	}
	for _, p := range m.Providers {
		for _, e := range p.Events {
			if e.GoName != "" {
				got[fmt.Sprintf("%s %d.%d %s", p.Name, e.ID, e.Version, e.Symbol)] = e.GoName
			}
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("Go names (-corrections +manifest):\n%s", d)
	}
}

// namesOf flattens the declarations of a manifest.
func namesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	m := testio.ParseFile(t, manifest.ParseFile, path, manifest.Options{})
	names := make(map[string]string)
	for _, p := range m.Providers {
		names[p.Name] = p.GUID.String() + " " + p.Symbol
		for _, k := range p.Keywords {
			names[p.Name+" keyword "+k.Name] = fmt.Sprintf("%#x %s", k.Mask, k.Symbol)
		}
		for _, task := range p.Tasks {
			names[p.Name+" task "+task.Name] = fmt.Sprintf("%d %s %v", task.Value, task.Symbol, task.EventGUID)
			for _, o := range task.Opcodes {
				names[p.Name+" opcode "+task.Name+" "+o.Name] = fmt.Sprintf("%d %s", o.Value, o.Symbol)
			}
		}
		for _, mp := range p.Maps {
			for _, e := range mp.Entries {
				names[fmt.Sprintf("%s map %s %#x", p.Name, mp.Name, e.Value)] = e.Message
			}
		}
	}
	return names
}

// TestDocOfCLR checks that our manifest says something of every provider,
// keyword, task, event, field and map.
func TestDocOfCLR(t *testing.T) {
	m, warnings, err := manifest.ParseFile(ourCLR, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("strict parsing warns:\n%v", warnings)
	}
	events, fields := 0, 0
	say := func(what, name, doc string) {
		if doc == "" {
			t.Errorf("%s %s has no documentation", what, name)
		} else if !strings.HasSuffix(doc, ".") {
			t.Errorf("documentation of %s %s is no sentence: %q", what, name, doc)
		}
	}
	var sayFields func(path string, list []*manifest.Field)
	sayFields = func(path string, list []*manifest.Field) {
		for _, f := range list {
			fields++
			say("field", path+"."+f.Name, f.Doc)
			sayFields(path+"."+f.Name, f.Fields)
		}
	}
	for _, p := range m.Providers {
		say("provider", p.Name, p.Doc)
		for _, k := range p.Keywords {
			say("keyword", k.Name, k.Doc)
		}
		for _, task := range p.Tasks {
			say("task", task.Name, task.Doc)
		}
		for _, e := range p.Events {
			events++
			say("event", e.Symbol, e.Doc)
		}
		for _, mp := range p.Maps {
			say("map", mp.Name, mp.Doc)
		}
		for _, tpl := range p.Templates {
			sayFields(tpl.ID, tpl.Fields)
		}
	}
	t.Logf("%d events and %d fields with documentation", events, fields)
}

// TestFactsOfCLR holds our manifest of the CLR against the resource of a real runtime, as a
// table: numbers, names and types.
func TestFactsOfCLR(t *testing.T) {
	data := testio.Read(t, filepath.Join("..", "..", "generated", "clr", "testdata", "runtime-3.1.2.tsv"))
	added := make(map[string]bool) // by template: fields that only ours has, with a reason
	for _, c := range readCorrections(t) {
		if c.kind == "field" && c.here == "added" {
			added[c.provider+" "+c.place] = true
		}
	}
	ours := make(map[string]eventRow)
	for _, row := range listed(t, ourCLR) {
		ours[fmt.Sprintf("%s %d.%d", row.Provider, row.ID, row.Version)] = row
	}
	events, fields := 0, 0
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i < 2 {
			continue // a comment and the names of the columns
		}
		v := strings.Split(line, "\t")
		if len(v) != 8 {
			t.Fatalf("line %d has %d columns", i+1, len(v))
		}
		provider := "Microsoft-Windows-DotNETRuntime" + strings.TrimPrefix(v[0], "-")
		what := fmt.Sprintf("%s %s.%s", provider, v[1], v[2])
		row, ok := ours[what]
		if !ok {
			t.Errorf("%s is missing", what)
			continue
		}
		got := fmt.Sprintf("%d %s/%s %s", row.Level, row.Task, row.Opcode, row.Mask)
		if want := fmt.Sprintf("%s %s/%s %s", v[3], v[4], v[5], v[6]); got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
		layout := factsOf(row.Fields)
		if rest, ok := strings.CutPrefix(layout, v[7]); !ok || rest != "" && !added[provider+" "+row.Template] {
			t.Errorf("%s has the fields\n%s, want\n%s", what, layout, v[7])
		}
		events++
		fields += len(row.Fields)
	}
	t.Logf("%d events with %d fields", events, fields)
	if events != 410 {
		t.Errorf("%d events, want the 410 of the runtime", events)
	}
}

// factsOf returns fields as the table has them.
func factsOf(fields []fieldRow) string {
	var list []string
	for _, f := range fields {
		text := f.Name + ":" + f.Type
		if len(f.Fields) > 0 {
			text = f.Name + ":{" + factsOf(f.Fields) + "}"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}
