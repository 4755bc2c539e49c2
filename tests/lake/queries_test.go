package lake

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?);\n```")

// recorded are the traces that the page's questions are asked of, by host.
var recorded = map[string][]string{
	"web1": {"gc.nettrace", "alloc.nettrace", "jit.nettrace", "threads.nettrace"},
	"web2": {"exceptions.nettrace", "lost.nettrace"},
}

// samplesTrace is a trace with two samples of a thread.
func samplesTrace() []byte {
	w := nettracetest.NewWriter(4, nettracetest.Trace{Start: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Pointer: etw.Ptr64, ProcessID: 7})
	w.Stacks(1, []uint64{0x1000, 0x2000})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Microsoft-DotNETCore-SampleProfiler", Name: "ThreadSample"})
	for ms := range int64(2) {
		w.Events(nettracetest.Event{Metadata: 1, Time: 1e6 * (1 + ms), Thread: 8, Capture: 8, Stack: 1, Payload: []byte{2, 0, 0, 0}})
	}
	w.End()
	return w.Bytes()
}

// buildTool compiles a program, such as etw.
func buildTool(t *testing.T, name string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return tool
}

// TestQueries exports recorded traces with the tool, and asks the questions of docs/lake-questions.md.
func TestQueries(t *testing.T) {
	d := startDuck(t)
	if testing.Short() {
		t.Skip("builds the tool")
	}
	tool := buildTool(t, "etw")
	dir := t.TempDir()
	sampled := filepath.Join(dir, "samples.nettrace")
	testio.Write(t, sampled, samplesTrace())
	for host, names := range recorded {
		args := []string{"export", "-o", filepath.Join(dir, "lake"), "--host", host, "--tables", "all"}
		for _, name := range names {
			args = append(args, filepath.Join("..", "recorded", name))
		}
		args = append(args, sampled)
		out, err := exec.Command(tool, args...).Output()
		if code := strings.Contains(string(out), "\n1 ") || strings.HasPrefix(string(out), "1 "); (err != nil) != code || host == "web1" && code {
			t.Fatalf("%s: %v\n%s", host, err, out)
		}
	}
	d.query(t, "SET file_search_path = '"+strings.ReplaceAll(filepath.ToSlash(dir), "'", "''")+"'")
	page := testio.Read(t, "../../docs/lake-questions.md")
	blocks := sqlBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 10 {
		t.Errorf("the page asks %d questions", len(blocks))
	}
	for i, b := range blocks {
		if a := d.query(t, b[1]); len(a.Rows) == 0 {
			t.Errorf("question %d has no answer:\n%s", i+1, b[1])
		}
	}
	comparePauses(t, d, tool)
	compareAllocations(t, d, tool)
	runExample(t, dir)
	haveStatistics(t, d, filepath.Join(dir, "lake"))
}

// comparePauses holds the table of collections against the tool's.
func comparePauses(t *testing.T, d *engine, tool string) {
	t.Helper()
	out, err := exec.Command(tool, "gc", "--format", "json", "../recorded/gc.nettrace").Output()
	if err != nil {
		t.Fatal(err)
	}
	var res struct {
		Runtimes []struct {
			GCs []struct {
				PauseMS float64 `json:"pauseMs"`
			} `json:"gcs"`
		} `json:"runtimes"`
	}
	testio.JSON(t, out, &res)
	sum, n := 0.0, 0
	for _, rt := range res.Runtimes {
		for _, g := range rt.GCs {
			sum += g.PauseMS
			n++
		}
	}
	a := d.query(t, "SELECT count(*), sum(pauseMs) FROM 'lake/table=gcs/**/*.parquet' WHERE trace = 'gc.nettrace'")
	if got := a.Rows[0][1].(float64); fmt.Sprint(a.Rows[0][0]) != fmt.Sprint(n) || n == 0 || got < sum-1e-6 || got > sum+1e-6 {
		t.Errorf("%v collections with %v ms, not %d with %v", a.Rows[0][0], got, n, sum)
	}
}

// compareAllocations holds sums of a field against those of etw stat.
func compareAllocations(t *testing.T, d *engine, tool string) {
	t.Helper()
	out, err := exec.Command(tool, "stat", "-e", "GCAllocationTick", "--by", "TypeName", "--sum", "AllocationAmount64", "--format", "json", "../recorded/alloc.nettrace").Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rows []map[string]any }
	testio.JSON(t, out, &doc)
	want := make(map[string]string)
	for _, r := range doc.Rows {
		for k, v := range r {
			if strings.HasPrefix(strings.ToLower(k), "sum") {
				want[fmt.Sprint(r["TypeName"])] = fmt.Sprintf("%v of %.0f", r["count"], v)
			}
		}
	}
	a := d.query(t, `SELECT TypeName, count(*), sum(AllocationAmount64)::DOUBLE FROM
		'lake/event=Microsoft-Windows-DotNETRuntime.GCAllocationTick/**/*.parquet' WHERE trace = 'alloc.nettrace' GROUP BY 1`)
	if len(a.Rows) != len(want) || len(want) == 0 {
		t.Errorf("%d types, not %d:\n%s", len(a.Rows), len(want), out)
	}
	for _, r := range a.Rows {
		if got := fmt.Sprintf("%v of %.0f", r[1], r[2]); got != want[r[0].(string)] {
			t.Errorf("%v: %s, not %s", r[0], got, want[r[0].(string)])
		}
	}
}

// runExample runs the program of examples/duckdb.
func runExample(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("node", "../../examples/duckdb/lake.mjs", dir, "../../docs/lake-questions.md")
	if os.Getenv("ETWGEN_DUCKDB") == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "ETWGEN_DUCKDB="+filepath.Join(cache, "etwgen-duckdb"))
	}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "(index)") != 10 {
		t.Errorf("%v\n%s", err, out)
	}
}
