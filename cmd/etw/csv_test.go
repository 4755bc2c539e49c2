package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
)

// decodeEvents returns the fields of the events of a document.
func decodeEvents(t *testing.T, document []byte) []map[string]any {
	t.Helper()
	var doc struct {
		Rows []struct{ Fields map[string]any }
	}
	testio.JSON(t, document, &doc)
	var list []map[string]any
	for _, e := range doc.Rows {
		list = append(list, e.Fields)
	}
	return list
}

// TestCSVIsTabular checks that each record has a cell for each column, and that
// numbers and names are in them as they are.
func TestCSVIsTabular(t *testing.T) {
	for _, name := range []string{"gc.nettrace", "alloc.nettrace", "eventsource.nettrace", "threads.nettrace"} {
		path := filepath.Join("..", "..", "tests", "recorded", name)
		var asCSV, asJSON bytes.Buffer
		if code := run([]string{"dump", "-f", "csv", path}, strings.NewReader(""), &asCSV, io.Discard); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		if code := run([]string{"dump", "-f", "json", path}, strings.NewReader(""), &asJSON, io.Discard); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		records, err := csv.NewReader(bytes.NewReader(asCSV.Bytes())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		events := decodeEvents(t, asJSON.Bytes())
		if len(records) != len(events)+1 {
			t.Fatalf("%s: %d records of %d events", name, len(records), len(events))
		}
		column := make(map[string]int)
		for i, c := range records[0] {
			if _, twice := column[c]; twice {
				t.Errorf("%s: there are two columns %s", name, c)
			}
			column[c] = i
		}
		for i, fields := range events {
			for key, value := range fields {
				at, ok := column["field_"+key] // it is called as a column of all events
				if !ok {
					at, ok = column[key]
				}
				if !ok {
					t.Fatalf("%s: no column %s", name, key)
				}
				cell := records[i+1][at]
				switch v := value.(type) {
				case float64:
					if got := json.Number(cell); !sameNumber(got, v) {
						t.Errorf("%s: event %d: %s is %q, in JSON %v", name, i, key, cell, v)
					}
				case string:
					if cell != v && cell != "'"+v && !strings.Contains(v, "\x00") && cli.Clean(v) != cell {
						t.Errorf("%s: event %d: %s is %q, in JSON %q", name, i, key, cell, v)
					}
				}
			}
		}
		checkPython(t, asCSV.Bytes(), len(records), len(records[0]))
	}
}

func sameNumber(n json.Number, want float64) bool {
	got, err := n.Float64()
	return err == nil && got == want
}

// checkPython loads CSV with Python's module, if there is Python.
func checkPython(t *testing.T, data []byte, rows, columns int) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		return
	}
	cmd := exec.Command(python, "-c", "import csv,sys\nrows=list(csv.reader(sys.stdin))\nprint(len(rows),set(map(len,rows)))")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("python does not run: %v", err)
	}
	want := testio.Marshal(t, []int{rows, columns})
	got := strings.NewReplacer(" {", ",", "}", "", "\n", "").Replace(string(out))
	if "["+got+"]" != string(want) {
		t.Errorf("Python reads %s, want %s", got, want)
	}
}
