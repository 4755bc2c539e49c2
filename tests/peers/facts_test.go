package peers

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A fact is an entry of the runtime's manifest for an event, as tables have it that nothing
// of ours made.
type fact struct {
	opcode, task int
	fields       []string // in lower case
}

// runtimeFacts reads the tables.
func runtimeFacts(t *testing.T) map[kind]*fact {
	t.Helper()
	fields := map[string][]string{}
	for row := range table(t, "clr-fields.tsv") {
		if !strings.Contains(row["path"], ".") {
			template := row["provider"] + " " + row["template"]
			fields[template] = append(fields[template], strings.ToLower(row["path"]))
		}
	}
	all := map[kind]*fact{}
	for row := range table(t, "clr-events.tsv") {
		number := func(column string) int {
			n, err := strconv.Atoi(row[column])
			if err != nil && row[column] != "" {
				t.Fatalf("clr-events.tsv: %v", err)
			}
			return n
		}
		k := kind{row["provider"], uint16(number("id")), uint8(number("version"))}
		all[k] = &fact{number("opcodevalue"), number("taskvalue"), fields[row["provider"]+" "+row["template"]]}
	}
	return all
}

// table iterates over the rows of a table, by the names of their columns.
func table(t *testing.T, name string) func(yield func(map[string]string) bool) {
	t.Helper()
	b := testio.Read(t, filepath.Join(corpus.Facts(t), name))
	lines := strings.Split(strings.TrimRight(string(b), "\r\n"), "\n")
	columns := strings.Split(lines[0], "\t")
	return func(yield func(map[string]string) bool) {
		for _, line := range lines[1:] {
			row := map[string]string{}
			for i, cell := range strings.Split(strings.TrimRight(line, "\r"), "\t") {
				if i < len(columns) {
					row[columns[i]] = cell
				}
			}
			if !yield(row) {
				return
			}
		}
	}
}

// TestManifestOfTheRuntime holds the runtime's events against these tables: opcode and
// task, which streams of EventPipe lack, and that no field is missing. Levels are those
// of the stream: the runtime writes some events at another one.
func TestManifestOfTheRuntime(t *testing.T) {
	facts := runtimeFacts(t)
	events, fields := 0, 0
	for _, path := range slices.Concat(corpus.Glob(t, "nettrace/*.net*"), corpus.Glob(t, "dotnet10/*.nettrace"), corpus.Glob(t, "dotnet10/*.netperf")) {
		if strings.HasSuffix(path, ".txt") {
			continue
		}
		source := testio.Open(t, nettrace.Open, path)
		decoder := builtin.NewDecoder()
		seen := map[kind]bool{} // all of a kind are alike
		for r, err := range source.Records() {
			if err != nil {
				break // a trace that was not stopped
			}
			k := kind{decoder.Event(r).Provider, r.ID, r.Version}
			f := facts[k]
			if f == nil || seen[k] {
				continue
			}
			seen[k] = true
			events++
			values, err := decoder.Decode(r)
			if err != nil || values == nil {
				t.Errorf("%s: %v: %v", path, k, err)
				continue
			}
			desc := values.EventDesc()
			if int(desc.Opcode) != f.opcode || int(desc.Task) != f.task {
				t.Errorf("%s: %s has opcode %d and task %d, want %+v", path, desc.Name, desc.Opcode, desc.Task, f)
			}
			for _, name := range f.fields {
				fields++
				if !slices.ContainsFunc(desc.Fields, func(d etw.FieldDesc) bool { return strings.EqualFold(d.Name, name) }) {
					t.Errorf("%s: %s has no field %s", path, desc.Name, name)
				}
			}
		}
		source.Close()
	}
	t.Logf("%d kinds of events with %d fields, of all traces", events, fields)
	if events < 500 || fields < 2000 {
		t.Errorf("only %d kinds of events with %d fields", events, fields)
	}
}
