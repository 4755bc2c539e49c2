package lake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// A fleet is recordings of services in two versions on several hosts, and their contents.
type fleet struct {
	paths []string
	truth map[string]int64 // by question, service and version
}

func (f *fleet) add(question, service, version string, n int64) {
	f.truth[question+" "+service+" "+version] += n
}

// makeFleet writes n recordings, all of one name and many of the same start, below folders that say
// whose they are.
func makeFleet(t *testing.T, dir string, n int) *fleet {
	t.Helper()
	f := &fleet{truth: make(map[string]int64)}
	r := rand.New(rand.NewPCG(7, 45))
	begin := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	for i := range n {
		service, version, host := []string{"cart", "search", "auth"}[i%3], []string{"1.4.0", "1.5.0"}[i/3%2], fmt.Sprintf("node%03d", i%150)
		start := begin.Add(time.Duration(i%7)*24*time.Hour + time.Duration(r.IntN(3))*time.Hour)
		w := nettracetest.NewWriter(4, nettracetest.Trace{Start: start, Pointer: etw.Ptr64, ProcessID: 7})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "Microsoft-Windows-DotNETRuntime", EventID: 1, Version: 2})
		w.Metadata(nettracetest.Row{ID: 2, Provider: "Fleet", EventID: 1, Name: "Order", Fields: []nettracetest.Field{{Name: "cents", Type: 9}, {Name: "shop", Type: 18}}})
		collections, orders := 1+r.IntN(5), 1+r.IntN(20)
		for k := range collections {
			reason := clr.GCReason(r.IntN(2))
			p, err := (&clr.GCStartV2{Count: uint32(k), Depth: uint32(k % 3), Reason: reason}).AppendPayload(nil, etw.Ptr64)
			if err != nil {
				t.Fatal(err)
			}
			w.Events(nettracetest.Event{Metadata: 1, Time: int64(1+k) * 1e6, Thread: 8, Capture: 8, Payload: p})
			f.add("collections", service, version, 1)
			if k%3 == 2 {
				f.add("full", service, version, 1)
			}
			if reason == clr.GCReasonInduced {
				f.add("induced", service, version, 1)
			}
		}
		for k := range orders {
			cents := int64(r.IntN(100_000))
			p := []byte{byte(cents), byte(cents >> 8), byte(cents >> 16), 0}
			w.Events(nettracetest.Event{Metadata: 2, Time: int64(20+k) * 1e6, Thread: 8, Capture: 8, Payload: append(p, append(etw.MakeUTF16("s"+fmt.Sprint(k%4)), 0, 0)...)})
			f.add("orders", service, version, 1)
			f.add("cents", service, version, cents)
			key := "most " + service + " " + version
			f.truth[key] = max(f.truth[key], cents)
		}
		f.add("recordings", service, version, 1)
		w.End()
		path := filepath.Join(dir, "fl", service, version, host, fmt.Sprint(i), "app.nettrace")
		testio.Write(t, path, w.Bytes())
		f.paths = append(f.paths, path)
	}
	return f
}

// fleetQuestions have an answer for each service and version.
var fleetQuestions = map[string]string{
	"recordings":  `SELECT service, service_version, count(DISTINCT trace_id) FROM traces GROUP BY ALL`,
	"collections": `SELECT service, service_version, count(*) FROM "Microsoft-Windows-DotNETRuntime.GCStart" GROUP BY ALL`,
	"full":        `SELECT service, service_version, count(*) FROM "Microsoft-Windows-DotNETRuntime.GCStart" WHERE Depth = 2 GROUP BY ALL`,
	"induced":     `SELECT service, service_version, count(*) FROM "Microsoft-Windows-DotNETRuntime.GCStart" WHERE Reason = 'Induced' GROUP BY ALL`,
	"orders":      `SELECT service, service_version, count(*) FROM "Fleet.Order" GROUP BY ALL`,
	"cents":       `SELECT service, service_version, sum(cents) FROM "Fleet.Order" GROUP BY ALL`,
	"most":        `SELECT service, service_version, max(cents) FROM "Fleet.Order" GROUP BY ALL`,
}

// TestFleet exports recordings of a fleet, and asks by service and version for the facts that
// the maker knows. ETWGEN_TESTS=all makes 500.
func TestFleet(t *testing.T) {
	d := startDuck(t)
	if testing.Short() {
		t.Skip("builds the tool")
	}
	tool := buildTool(t, "etw")
	dir := t.TempDir()
	n := 40
	if os.Getenv("ETWGEN_TESTS") == "all" {
		n = 500
	}
	f := makeFleet(t, dir, n)
	lake := f.export(t, tool, dir, n)
	views(t, d, tool, "lake", "view", lake)
	f.ask(t, d)
	compareWithStat(t, d, tool, f)
	inTimeZones(t, d)
	haveStatistics(t, d, lake)

	before := parquetFiles(t, lake)
	if err := parquet.Compact(t.Context(), lake, parquet.Day, func(parquet.Compacted) {}); err != nil {
		t.Fatal(err)
	}
	if after := parquetFiles(t, lake); n == 500 && after > before/20 || after > before/5 {
		t.Errorf("%d files became %d", before, after)
	}
	views(t, d, tool, "lake", "view", lake)
	f.ask(t, d)
	if err := parquet.Compact(t.Context(), lake, parquet.Week, func(parquet.Compacted) {}); err != nil {
		t.Fatal(err)
	}
	views(t, d, tool, "lake", "view", lake)
	f.ask(t, d)
	inTimeZones(t, d)
	haveStatistics(t, d, lake)
	// Recordings that are exported again have rows in the merged files, too, which do not count.
	f.export(t, tool, dir, 3)
	views(t, d, tool, "lake", "view", lake)
	f.ask(t, d)
}

// export exports the first n recordings, leaves an orphan beside them, and returns the lake.
func (f *fleet) export(t *testing.T, tool, dir string, n int) string {
	t.Helper()
	lake := filepath.Join(dir, "lake")
	args := append([]string{"export", "-o", lake, "--from-path", "fl/{service}/{version}/{host}/*/*"}, f.paths[:n]...)
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	leaveOrphan(t, lake)
	return lake
}

// parquetFiles returns how many files of Parquet a lake has.
func parquetFiles(t *testing.T, lake string) int {
	t.Helper()
	list := testio.Glob(t, filepath.Join(lake, "*", "*", "*.parquet"))
	return len(list)
}

// ask holds the answers of the views against the truth.
func (f *fleet) ask(t *testing.T, d *engine) {
	t.Helper()
	for question, sql := range fleetQuestions {
		rows := d.query(t, sql).Rows
		seen := 0
		for _, row := range rows {
			key := fmt.Sprint(question, " ", row[0], " ", row[1])
			if got := fmt.Sprint(row[2]); got != fmt.Sprint(f.truth[key]) {
				t.Errorf("%s: %s, not %d", key, got, f.truth[key])
			}
			seen++
		}
		want := 0
		for key := range f.truth {
			if strings.HasPrefix(key, question+" ") {
				want++
			}
		}
		if seen != want || seen == 0 {
			t.Errorf("%s: %d answers, not %d", question, seen, want)
		}
	}
}

// views makes the views that a tool prints.
func views(t *testing.T, d *engine, tool string, args ...string) {
	t.Helper()
	sql, err := exec.Command(tool, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(sql), ";\n") {
		if strings.TrimSpace(statement) != "" {
			d.query(t, statement)
		}
	}
}

// leaveOrphan copies a file of a lake to a name that no manifest lists, as an export that is killed
// leaves one.
func leaveOrphan(t *testing.T, lake string) {
	t.Helper()
	list := testio.Glob(t, filepath.Join(lake, "event=Fleet.Order", "*", "*.parquet"))
	b := testio.Read(t, list[0])
	testio.Write(t, filepath.Join(filepath.Dir(list[0]), "orphan.parquet"), b)
}

// compareWithStat holds the number of events in the views against the counts of the tool.
func compareWithStat(t *testing.T, d *engine, tool string, f *fleet) {
	t.Helper()
	out, err := exec.Command(tool, append([]string{"stat", "--format", "json"}, f.paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Rows []struct {
			Count int64 `json:"count"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	events := int64(0)
	for _, r := range doc.Rows {
		events += r.Count
	}
	sum := "SELECT ((SELECT count(*) FROM \"Microsoft-Windows-DotNETRuntime.GCStart\") + (SELECT count(*) FROM \"Fleet.Order\"))::VARCHAR"
	if got := fmt.Sprint(d.query(t, sum).Rows[0][0]); got != fmt.Sprint(events) || events == 0 {
		t.Errorf("the views have %s events, etw stat %d", got, events)
	}
}

// inTimeZones asks for the events within days of a moment, in several zones of the engine: the
// answer is the same, and times are those of UTC.
func inTimeZones(t *testing.T, d *engine) {
	t.Helper()
	var all []string
	for _, zone := range []string{"UTC", "America/New_York", "Asia/Kolkata"} {
		d.query(t, "SET TimeZone = '"+zone+"'")
		a := d.query(t, `SELECT count(*)::VARCHAR, (sum(epoch_us(time)) - sum(time_ns // 1000))::VARCHAR,
			count(*) FILTER (time > TIMESTAMPTZ '2026-11-21 12:00:00+00' - INTERVAL 1 DAY)::VARCHAR,
			count(*) FILTER (time < now() + INTERVAL 10000 DAY)::VARCHAR FROM "Fleet.Order"`)
		if fmt.Sprint(a.Rows[0][1]) != "0" {
			t.Errorf("in %s times differ by %v µs", zone, a.Rows[0][1])
		}
		all = append(all, fmt.Sprint(a.Rows[0]))
	}
	d.query(t, "SET TimeZone = 'UTC'")
	if len(slices.Compact(slices.Clone(all))) != 1 {
		t.Errorf("by zone: %q", all)
	}
}

// sparkTypes are the types of Parquet that Spark 3.2 and later read without a setting, as far as files of ours
// could have them: in it INT64 UINT_64 is a decimal of 20 digits, and nanoseconds and UUIDs are errors.
var sparkTypes = []string{"BOOLEAN ", "INT32 INT_8", "INT32 INT_16", "INT32 INT_32", "INT64 INT_64", "INT64 UINT_64",
	"INT64 TIMESTAMP_MICROS", "FLOAT ", "DOUBLE ", "BYTE_ARRAY ", "BYTE_ARRAY StringType"}

// haveStatistics finds no column of a row group that has values and no bounds, and no type but those of Spark.
func haveStatistics(t *testing.T, d *engine, lake string) {
	t.Helper()
	files := "'" + strings.ReplaceAll(filepath.ToSlash(lake), "'", "''") + "/**/*.parquet'"
	a := d.query(t, `SELECT file_name, path_in_schema FROM parquet_metadata(`+files+`) WHERE stats_null_count IS NULL
		OR stats_null_count < num_values AND (stats_min_value IS NULL OR stats_max_value IS NULL)`)
	if len(a.Rows) > 0 {
		t.Errorf("%d chunks have no statistics, such as %v", len(a.Rows), a.Rows[0])
	}
	for _, row := range d.query(t, `SELECT type, split_part(logical_type, '(', 1), converted_type, any_value(name) FROM parquet_schema(`+files+`) WHERE type IS NOT NULL GROUP BY ALL`).Rows {
		logical := row[1]
		switch logical {
		case "IntType", "TimestampType": // these say more there
			logical = row[2]
		case nil:
			logical = ""
		}
		if typ := fmt.Sprint(row[0], " ", logical); !slices.Contains(sparkTypes, typ) {
			t.Errorf("%v is a %q, which Spark has not", row[3], typ)
		}
	}
	a = d.query(t, `SELECT count(*)::VARCHAR FROM parquet_schema(`+files+`) WHERE field_id IS NULL AND type IS NOT NULL`)
	if fmt.Sprint(a.Rows[0][0]) != "0" {
		t.Errorf("%v columns have no number", a.Rows[0][0])
	}
}
