package lake

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// hostileNames are possible names of providers, events and fields.
var hostileNames = []string{
	"plain", "", ".", "..", "../../up", "/root", `C:\x`, `a\b`, "a=b", "event=x", "a/b", "a'b", `a"b`, "a;b", "%2e%2e", "*", "[x]", "{x}", "con", "NUL.txt",
	"line\nbreak", "\r", "\t", "\u202e", "\ud7ff", "e\u0301", "\U0001f4a5", "time", "Time", "TIME", "payload", "host", "trace", strings.Repeat("n", 200), strings.Repeat("\u00e9", 3000),
}

// hostileTrace has an event for each name, which is that of its provider, and of two of its
// fields, and the value of one of them.
func hostileTrace(t *testing.T) []byte {
	t.Helper()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Pointer: etw.Ptr64, ProcessID: 7})
	for i, name := range hostileNames {
		const integer, text = 9, 18
		w.Metadata(nettracetest.Row{ID: uint32(i + 1), Provider: "P" + name, EventID: uint32(i + 1), Name: name, Fields: []nettracetest.Field{{Name: name, Type: integer}, {Name: name, Type: text}, {Name: "n", Type: integer}}})
		payload := append([]byte{byte(i), 0, 0, 0}, etw.MakeUTF16(name)...)
		w.Events(nettracetest.Event{Metadata: uint32(i + 1), Time: int64(i + 1), Thread: 8, Capture: 8, Payload: append(payload, 0, 0, byte(i), 0, 0, 0)})
	}
	w.End()
	return w.Bytes()
}

// TestHostileNames exports a trace whose names are made to leave the lake, to be SQL or to be
// of one another's column: DuckDB reads each file, with each value, and nothing lies outside.
func TestHostileNames(t *testing.T) {
	d := startDuck(t)
	r := testio.Reader(t, nettrace.NewReader, hostileTrace(t))
	dir := t.TempDir()
	m, err := parquet.Export(context.Background(), r, parquet.Options{Dir: dir + "/lake", Host: "../h=1'", Trace: "../a'\nb.nettrace", ID: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Events != int64(len(hostileNames)) {
		t.Errorf("%+v", m)
	}
	got, want := make(map[string]int), make(map[string]int)
	for i, name := range hostileNames {
		want[fmt.Sprint(i, " ", name)]++
	}
	for _, f := range m.Files {
		if f.Table != "" {
			continue
		}
		path := strings.ReplaceAll(dir+"/lake/"+f.Path, "'", "''")
		a := d.query(t, "SELECT * FROM read_parquet('"+path+"', hive_partitioning = false)")
		for _, row := range a.Rows {
			n, text := row[len(row)-1], row[len(row)-2]
			got[fmt.Sprint(n, " ", text)]++
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the files have %v\nwant %v", got, want)
	}
	if a := d.query(t, "SELECT count(*), count(DISTINCT event) FROM read_parquet('"+dir+"/lake/event=*/**/*.parquet', hive_partitioning = true, union_by_name = true)"); fmt.Sprint(a.Rows[0][0]) != fmt.Sprint(len(hostileNames)) {
		t.Errorf("the lake has %v", a.Rows)
	}
	if a := d.query(t, "SELECT count(*) FROM glob('"+dir+"/**') WHERE file NOT LIKE '"+dir+"/lake/%'"); fmt.Sprint(a.Rows[0][0]) != "0" {
		t.Errorf("%v files lie outside of the lake", a.Rows[0][0])
	}
}
