package peers

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// A fact is what the manifest of the runtime says of an event, as tables have it that
// nothing of ours made.
type fact struct {
	opcode, task, level int
	fields              []string // in lower case
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
		all[k] = &fact{number("opcodevalue"), number("taskvalue"), number("levelvalue"), fields[row["provider"]+" "+row["template"]]}
	}
	return all
}

// table iterates over the rows of a table, by the names of their columns.
func table(t *testing.T, name string) func(yield func(map[string]string) bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus.Facts(t), name))
	if err != nil {
		t.Fatal(err)
	}
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
