package lake

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// A dashboard is the part of examples/lake/grafana.json that has queries.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []struct {
		Title, Type string
		Targets     []struct{ RawSQL string }
	}
}

// panelTruths are sums of columns of panels, and other questions with the same answers. Events are
// counted where a panel reads a table of answers.
var panelTruths = map[string][2]string{
	"Recordings, and those that lack something":      {"allEvents", `SELECT sum(events) FROM traces`},
	"Two versions of a service":                      {"collections", `SELECT count(DISTINCT trace_id, ClrInstanceID, Count) FROM "Microsoft-Windows-DotNETRuntime.GCStart"`},
	"Pauses of garbage collections, 99th percentile": {"", ""},
	"Time paused by garbage collections":             {"value", `SELECT sum(pauseMs) FROM gcs`},
	"Requests, 99th percentile":                      {"", ""},
	"Requests that failed":                           {"", ""},
	"Where the time of requests goes":                {"requests", `SELECT count(*) FROM requests`},
	"Exceptions":                                     {"thrown", `SELECT count(*) FROM "Microsoft-Windows-DotNETRuntime.ExceptionThrown"`},
	"Allocations by method, with its callees":        {"", ""},
	"Waits for locks":                                {"waits", `SELECT count(*) FROM "Microsoft-Windows-DotNETRuntime.ContentionStop"`},
}

var timeMacros = []struct {
	name *regexp.Regexp
	sql  string
}{
	{regexp.MustCompile(`\$__timeFilter\((\w+)\)`), "$1 >= toDateTime(FROM) AND $1 <= toDateTime(TO)"},
	{regexp.MustCompile(`\$__timeInterval\((\w+)\)`), "toStartOfInterval(toDateTime($1), INTERVAL 60 second)"},
}

// expand writes a query as Grafana does, for a range of time and a list of services.
func expand(sql string, from, to int, services string) string {
	for _, m := range timeMacros {
		sql = m.name.ReplaceAllString(sql, m.sql)
	}
	return strings.NewReplacer("FROM)", strconv.Itoa(from)+")", "TO)", strconv.Itoa(to)+")", "${service:singlequote}", services).Replace(sql)
}

// TestGrafana runs the queries of the dashboard for a lake of recorded traces.
func TestGrafana(t *testing.T) {
	e := startClickHouse(t)
	if testing.Short() {
		t.Skip("builds the tools")
	}
	etw, etwLake := buildTool(t, "etw"), buildTool(t, "etw-lake")
	dir := t.TempDir()
	lake := filepath.Join(dir, "lake")
	args := []string{"export", "-o", lake, "--tables", "all", "--host", "web1", "--resource", "service.name=it's", "--resource", "service.version=1.4.0", unpacked(t, dir, "../recorded/causes/cause-10.nettrace.gz")}
	for _, name := range []string{"gc", "alloc", "exceptions", "threads", "lost"} {
		args = append(args, filepath.Join("..", "recorded", name+".nettrace"))
	}
	if out, err := exec.Command(etw, args...).Output(); err == nil || strings.Count(string(out), "\n") != 6 {
		t.Fatalf("%v\n%s", err, out) // a trace lost events, and the code says so
	}
	views(t, e, etwLake, "clickhouse", lake)
	var d dashboard
	testio.JSON(t, testio.Read(t, "../../examples/lake/grafana.json"), &d)
	if v := d.Templating.List[1]; v.Name != "service" || fmt.Sprint(e.query(t, v.Query).Rows) != "[[it's]]" {
		t.Errorf("%+v", v)
	}
	const from, to = 1_760_000_000, 1_830_000_000 // 2025 to 2027
	for _, p := range d.Panels {
		sql := p.Targets[0].RawSQL
		a := e.query(t, expand(sql, from, to, `'it\'s'`))
		if len(a.Rows) == 0 || strings.Contains(expand(sql, 1, 2, ""), "$") {
			t.Errorf("%s: %d rows of %s", p.Title, len(a.Rows), sql)
		}
		for _, none := range []string{expand(sql, 1, 1000, `'it\'s'`), expand(sql, from, to, "'other'")} {
			if rows := e.query(t, none).Rows; len(rows) > 0 {
				t.Errorf("%s of another time or service: %v", p.Title, rows)
			}
		}
		truth, ok := panelTruths[p.Title]
		if !ok {
			t.Errorf("%s is not in the table of panels", p.Title)
		}
		if truth[0] == "" {
			continue
		}
		if got, want := total(t, a, truth[0]), total(t, e.query(t, truth[1]), ""); math.Abs(got-want) > 1e-6 || want == 0 {
			t.Errorf("%s: %v, not %v", p.Title, got, want)
		}
	}
	if len(d.Panels) != len(panelTruths) {
		t.Errorf("there are %d panels, not %d", len(d.Panels), len(panelTruths))
	}
}

// total returns the sum of a column, or of the only one.
func total(t *testing.T, a *answer, column string) (sum float64) {
	t.Helper()
	for i, name := range a.Columns {
		if name != column && column != "" {
			continue
		}
		for _, row := range a.Rows {
			n, err := strconv.ParseFloat(fmt.Sprint(row[i]), 64)
			if err != nil {
				t.Error(err)
			}
			sum += n
		}
	}
	return sum
}

// unpacked returns a copy of a file without compression.
func unpacked(t *testing.T, dir, name string) string {
	t.Helper()
	f := testio.File(t, name)
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".gz"))
	testio.Write(t, to, b)
	return to
}
