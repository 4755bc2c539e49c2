package clr_test

import (
	"bufio"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// providers are the four of the runtime, by the names that the tables in
// testdata give them.
var providers = map[string]*etw.Provider{
	"Runtime": clr.Provider,
	"Rundown": rundown.Provider,
	"Private": private.Provider,
	"Stress":  stress.Provider,
}

// TestProviders holds the identities of the providers, which no other table has.
func TestProviders(t *testing.T) {
	for name, want := range map[string]string{
		"Runtime": "Microsoft-Windows-DotNETRuntime {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}",
		"Rundown": "Microsoft-Windows-DotNETRuntimeRundown {a669021c-c450-4609-a035-5af59af4df18}",
		"Private": "Microsoft-Windows-DotNETRuntimePrivate {763fd754-7086-4dfe-95eb-c01a46faf4ca}",
		"Stress":  "Microsoft-Windows-DotNETRuntimeStress {cc2bcbba-16b6-4cf3-8990-d74c2e8af500}",
	} {
		d := providers[name].Desc
		if got := fmt.Sprintf("%s {%s}", d.Name, strings.Trim(d.GUID.String(), "{}")); got != want {
			t.Errorf("provider %s is %s, want %s", name, got, want)
		}
	}
}

// TestEvents compares all events with the facts: each has a description and a
// type with exactly its layout, and there are no others.
func TestEvents(t *testing.T) {
	registry := etw.NewRegistry(clr.Provider, rundown.Provider, private.Provider, stress.Provider)
	seen := make(map[etw.Key]bool)
	good := 0
	table := readTable(t, "layouts.tsv")
	for _, row := range table {
		d := lookup(t, registry, row)
		if d == nil {
			continue
		}
		seen[d.Key()] = true
		if check(t, row, d) {
			good++
		}
		if got, want := fmt.Sprint(d.Task, " ", uint8(d.Opcode)), row["task"]+" "+row["opcode"]; got != want {
			t.Errorf("%s: task and opcode %s, want %s", row["symbol"], got, want)
		}
	}
	t.Logf("%d of %d events are as the facts say", good, len(table))
	if good != 449 || len(table) != 449 {
		t.Errorf("%d of %d events, want 449 of 449", good, len(table))
	}
	for name, p := range providers {
		for _, d := range p.Events {
			if !seen[d.Key()] {
				t.Errorf("provider %s: event %d version %d, %s, is not among the facts", name, d.ID, d.Version, d.Name)
			}
		}
	}
}

// TestDocumentedEvents looks up each event that the public pages describe, as it
// really is.
func TestDocumentedEvents(t *testing.T) {
	registry := etw.NewRegistry(clr.Provider, rundown.Provider, private.Provider)
	good := 0
	table := readTable(t, "documented.tsv")
	for _, row := range table {
		if d := lookup(t, registry, row); d != nil && check(t, row, d) {
			good++
		}
	}
	t.Logf("%d of %d entries of the pages", good, len(table))
	if good != 127 || len(table) != 127 {
		t.Errorf("%d of %d entries, want 127 of 127", good, len(table))
	}
}

// TestErrata checks that the entries of docs/clr/errata.md are those of the table:
// the same pages and names, and the events that they really mean.
func TestErrata(t *testing.T) {
	text := testio.Read(t, "../../docs/clr/errata.md")
	_, entries, _ := strings.Cut(string(text), "\n## Entry by entry\n")
	wrong := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `(\\w+)` of (\\w+) \\| (\\d+) v(\\d+) \\|")
	right := regexp.MustCompile(`(\w[^,]*) \((Runtime|Rundown|Private) (\d+) v(\d+)\)`)
	pages := map[string]string{"Loader": "loader", "Overview": "overview", "Methods": "method", "Providers": "provider", "Garbage collection": "gc"}
	got := make(map[string]int)
	for _, section := range strings.Split(entries, "\n### ")[1:] {
		name, _, _ := strings.Cut(section, " page\n")
		for _, m := range wrong.FindAllStringSubmatch(section, -1) {
			got[fmt.Sprint(pages[name], " ", m[1], " ", m[3], " ", m[4], ".", m[5])]++
		}
		_, asDescribed, _ := strings.Cut(section, "\nAs described: ")
		for _, m := range right.FindAllStringSubmatch(asDescribed, -1) {
			got[fmt.Sprint(pages[name], " ", m[1], " ", m[2], " ", m[3], ".", m[4])]++
		}
	}
	for _, row := range readTable(t, "documented.tsv") {
		got[fmt.Sprint(row["page"], " ", row["entry"], " ", row["provider"], " ", row["id"], ".", row["version"])]--
	}
	for entry, n := range got {
		if n != 0 {
			t.Errorf("%s: %+d entries in errata.md", entry, n)
		}
	}
}

// TestKeywords looks up each keyword that the overview page lists.
func TestKeywords(t *testing.T) {
	good := 0
	table := readTable(t, "keywords.tsv")
	for _, row := range table {
		for _, k := range providers[row["provider"]].Keywords {
			if k.Name == row["name"] && fmt.Sprintf("%#x", k.Mask) == row["mask"] {
				good++
			}
		}
	}
	t.Logf("%d of %d keywords", good, len(table))
	if good != 21 || len(table) != 21 {
		t.Errorf("%d of %d keywords, want 21 of 21", good, len(table))
	}
}

// TestPadding decodes the payloads that the .NET Framework pads.
func TestPadding(t *testing.T) {
	tests := []struct {
		event     etw.Event
		own, long int
	}{
		{new(clr.GCHeapStats), 92, 96},
		{new(clr.GCCreateSegment), 20, 24},
		{new(clr.GCEnd), 6, 8},
		{new(clr.GCSuspendEEBegin), 2, 4},
		{new(clr.GCBulkRootEdge), 10, 12},
	}
	for _, test := range tests {
		name := test.event.EventDesc().Name
		if n, err := test.event.DecodePayload(make([]byte, test.long), etw.Ptr64); n != test.own || err != nil {
			t.Errorf("%s with padding: read %d bytes, error %v; want %d, none", name, n, err, test.own)
		}
	}
}

// lookup finds the event of a row, as a program does that reads a trace.
func lookup(t *testing.T, registry *etw.Registry, row map[string]string) *etw.EventDesc {
	t.Helper()
	id, err := strconv.ParseUint(row["id"], 10, 16)
	version, err2 := strconv.ParseUint(row["version"], 10, 8)
	p := providers[row["provider"]]
	if err != nil || err2 != nil || p == nil {
		t.Fatalf("bad row %v", row)
	}
	d := registry.Lookup(etw.Key{Provider: p.Desc.GUID, ID: uint16(id), Version: uint8(version)})
	if d == nil {
		t.Errorf("%s: no event %d version %d, %s", row["provider"], id, version, row["symbol"])
	}
	return d
}

// types are those of all events, by their descriptions.
var types = func() map[*etw.EventDesc]reflect.Type {
	m := make(map[*etw.EventDesc]reflect.Type)
	for _, e := range slices.Concat(clr.Types(), rundown.Types(), private.Types(), stress.Types()) {
		m[e.EventDesc()] = reflect.TypeOf(e).Elem()
	}
	return m
}()

// check compares an event with a row: its description and, by reflection, its
// type.
func check(t *testing.T, row map[string]string, d *etw.EventDesc) bool {
	t.Helper()
	ok := true
	compare := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s %s %s.%s, %s:\n got %s\nwant %s", what, row["provider"], row["id"], row["version"], row["symbol"], got, want)
			ok = false
		}
	}
	fields := row["fields"]
	if fields == "-" {
		fields = ""
	}
	compare("symbol of", d.Name, row["symbol"])
	compare("level of", fmt.Sprint(uint8(d.Level)), row["level"])
	compare("mask of", fmt.Sprintf("%#x", d.Keywords), row["mask"])
	compare("described fields of", described(d.Fields), fields)
	event := types[d]
	if event == nil {
		t.Errorf("%s has no type", d.Name)
		return false
	}
	// Go has its initialisms in capitals: ModuleID for ModuleId.
	letters := strings.ToLower
	compare("fields of the type of", letters(typed(event)), letters(unsized(fields)))
	name := strings.ReplaceAll(d.Name, "_", "")
	switch d.Name { // as testdata/corrections.tsv says
	case "Contention":
		name = "ContentionStart"
	case "CLRStackWalk", "StressLogEvent", "StressLogEvent_V1":
		name = strings.TrimPrefix(strings.TrimPrefix(name, "CLR"), "Stress")
	}
	compare("name of the type of", letters(event.Name()), letters(name))
	return ok
}

// inNames are the types of the tables.
var inNames = map[etw.InType]string{
	etw.InUInt8: "u8", etw.InUInt16: "u16", etw.InUInt32: "u32", etw.InUInt64: "u64",
	etw.InInt32: "i32", etw.InInt64: "i64", etw.InDouble: "f64", etw.InBoolean: "bool32",
	etw.InUnicodeString: "wstr", etw.InAnsiString: "astr", etw.InBinary: "bin",
	etw.InPointer: "ptr", etw.InGUID: "guid",
}

// described writes a layout, from descriptions, as the tables do.
func described(fields []etw.FieldDesc) string {
	var parts []string
	size := func(s etw.Size, open, end string) string {
		switch s.Kind {
		case etw.SizeNone:
			return ""
		case etw.SizeConst:
			return open + fmt.Sprint(s.N) + end
		case etw.SizeRest:
			return open + "*" + end
		case etw.SizeField:
			if s.Up == 0 {
				return open + fields[s.N].Name + end
			}
		}
		return open + "?" + end
	}
	for _, f := range fields {
		name := inNames[f.Type]
		if f.Type == etw.InStruct {
			name = "{ " + described(f.Fields) + " }"
		}
		parts = append(parts, f.Name+":"+name+size(f.Length, "(", ")")+size(f.Count, "[", "]"))
	}
	return strings.Join(parts, " ")
}

// unsized removes the facts from a layout that no Go type shows: lengths, and where a count
// comes from.
func unsized(layout string) string {
	var b strings.Builder
	inside := false
	for _, c := range layout {
		switch {
		case c == '(':
			inside = true
		case c == ')':
			inside = false
		case c == '[':
			b.WriteRune(c)
			inside = true
		case c == ']':
			b.WriteRune(c)
			inside = false
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// goNames are the types of the tables by the Go types of fields.
var goNames = map[reflect.Type]string{
	reflect.TypeFor[etw.Bool]():     "bool32",
	reflect.TypeFor[etw.UTF16]():    "wstr",
	reflect.TypeFor[etw.ANSI]():     "astr",
	reflect.TypeFor[etw.Binary]():   "bin",
	reflect.TypeFor[etw.Pointer]():  "ptr",
	reflect.TypeFor[etw.GUID]():     "guid",
	reflect.TypeFor[etw.Uint8s]():   "u8[]",
	reflect.TypeFor[etw.Uint32s]():  "u32[]",
	reflect.TypeFor[etw.Uint64s]():  "u64[]",
	reflect.TypeFor[etw.Pointers](): "ptr[]",
}

// kindNames are those of numbers, which have a type of a map or none.
var kindNames = map[reflect.Kind]string{
	reflect.Uint8: "u8", reflect.Uint16: "u16", reflect.Uint32: "u32", reflect.Uint64: "u64",
	reflect.Int32: "i32", reflect.Int64: "i64", reflect.Float64: "f64",
}

// typed writes a layout, from a Go type, as the tables do but unsized.
func typed(event reflect.Type) string {
	var parts []string
	for i := range event.NumField() {
		f := event.Field(i)
		if !f.IsExported() || f.Anonymous {
			continue
		}
		name := goNames[f.Type]
		if name == "" {
			name = kindNames[f.Type.Kind()]
		}
		if all, ok := f.Type.MethodByName("All"); name == "" && ok {
			// All() iter.Seq[T], that is func(yield func(T) bool)
			name = "{ " + typed(all.Type.Out(0).In(0).In(0)) + " }[]"
		}
		parts = append(parts, f.Name+":"+name)
	}
	return strings.Join(parts, " ")
}

// readTable reads a table of testdata: lines of values between tabs, the first
// one with the names of the columns.
func readTable(t *testing.T, name string) []map[string]string {
	t.Helper()
	f := testio.File(t, "testdata/"+name)
	defer f.Close()
	var columns []string
	var rows []map[string]string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		values := strings.Split(line, "\t")
		if columns == nil {
			columns = values
			continue
		}
		row := make(map[string]string)
		for i, column := range columns {
			row[column] = values[i]
		}
		rows = append(rows, row)
	}
	return rows
}
