package lake

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/s3test"
	"github.com/etwgen/etwgen/internal/testio"
)

// TestClickHouse asks a ClickHouse the questions of TestFleet: of the files of a lake, of a bucket that
// it was pushed to, of a table that the lake was copied into, and of a lake that is merged, with recordings
// that came again after it.
func TestClickHouse(t *testing.T) {
	e := startClickHouse(t)
	if testing.Short() {
		t.Skip("builds the tools")
	}
	etw, etwLake := buildTool(t, "etw"), buildTool(t, "etw-lake")
	dir := t.TempDir()
	n := 14
	if os.Getenv("ETWGEN_TESTS") == "all" {
		n = 40
	}
	f := makeFleet(t, dir, n)
	lake := f.export(t, etw, dir, n)
	check := func(args ...string) {
		t.Helper()
		views(t, e, etwLake, append([]string{"clickhouse", lake}, args...)...)
		f.ask(t, e)
		inZonesOfClickHouse(t, e)
	}
	check()

	server := httptest.NewServer(&s3test.Store{ID: "id"})
	defer server.Close()
	push := exec.Command(etwLake, "push", lake, "s3://bucket/a fleet")
	push.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	if out, err := push.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	recipes := sqlBlock.FindAllStringSubmatch(string(testio.Read(t, "../../docs/lake.md")), -1)
	if len(recipes) != 2 {
		t.Fatalf("the page has %d recipes", len(recipes))
	}
	e.query(t, strings.NewReplacer("https://bucket.s3.eu-central-1.amazonaws.com/fleet", server.URL+"/bucket/a%20fleet", "'ID'", "'id'", "'SECRET'", "'secret'").Replace(recipes[0][1]))
	check("fleet")
	// A library is no server of a cluster: all but the connection is right.
	views(t, e, etwLake, "clickhouse", lake, "fleet", "one")
	if _, err := e.ask(fleetQuestions["orders"]); err == nil || !strings.Contains(err.Error(), "ALL_CONNECTION_TRIES_FAILED") {
		t.Errorf("a cluster without servers: %v", err)
	}

	check()
	e.query(t, recipes[1][1])
	total := `SELECT count(*), sum(Depth), count(DISTINCT trace_id) FROM `
	if a, b := e.query(t, total+"collections").Rows, e.query(t, total+`"Microsoft-Windows-DotNETRuntime.GCStart"`).Rows; fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(a[0][2]) != fmt.Sprint(n) {
		t.Errorf("a table has %v, a view %v", a, b)
	}

	if err := parquet.Compact(t.Context(), lake, parquet.Day, func(parquet.Compacted) {}); err != nil {
		t.Fatal(err)
	}
	check()
	f.export(t, etw, dir, 3)
	check()
}

// inZonesOfClickHouse is inTimeZones for ClickHouse.
func inZonesOfClickHouse(t *testing.T, e *engine) {
	t.Helper()
	var all []string
	for _, zone := range []string{"UTC", "America/New_York", "Asia/Kolkata"} {
		e.query(t, "SET session_timezone = '"+zone+"'")
		a := e.query(t, `SELECT sum(toUnixTimestamp64Micro(assumeNotNull(time))) - sum(intDiv(time_ns, 1000)), count(*),
			countIf(time > toDateTime64('2026-11-20 12:00:00', 6, 'UTC') - INTERVAL 1 DAY),
			countIf(time < now() + INTERVAL 10000 DAY), max(toDate(time, 'UTC')) FROM "Fleet.Order"`)
		if fmt.Sprint(a.Rows[0][0]) != "0" {
			t.Errorf("in %s times differ by %v µs", zone, a.Rows[0][0])
		}
		all = append(all, fmt.Sprint(a.Rows[0]))
	}
	e.query(t, "SET session_timezone = ''")
	if len(slices.Compact(slices.Clone(all))) != 1 {
		t.Errorf("by zone: %q", all)
	}
}
