package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// runReport runs the command, and returns its exit code and output.
func runReport(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"report"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func recordedPath(name string) string { return filepath.Join("..", "..", "tests", "recorded", name) }

func TestReport(t *testing.T) {
	code, page, stderr := runReport(recordedPath("gc.nettrace"))
	if code != 0 || stderr != "" || !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.HasSuffix(page, "</html>\n") {
		t.Fatalf("exit code %d, %q, a page of %d bytes", code, stderr, len(page))
	}
	for _, want := range []string{"<title>gc.nettrace</title>", `"Garbage collections"`, `["format","nettrace`, "workload"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if code, stdout, stderr := runReport(recordedPath("gc.nettrace"), "-o", path); code != 0 || stdout+stderr != "" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != page {
		t.Errorf("the file has %d bytes, not %d: %v", len(b), len(page), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("files %v", left)
	}
}

// TestReportOfSeveral reads several traces as one, whose findings lead to commands about all.
func TestReportOfSeveral(t *testing.T) {
	whole, dir := recordedPath("gc.nettrace"), t.TempDir()
	parts := []string{filepath.Join(dir, "a.nettrace"), filepath.Join(dir, "b.nettrace")}
	for i, event := range []string{"GC*", "FinalizeObject"} {
		if code, _, stderr := runTool("filter", "-e", event, "-o", parts[i], whole); code != 0 {
			t.Fatal(stderr)
		}
	}
	code, text, stderr := runReport("--format", "text", parts[0], parts[1])
	if code != 0 || stderr != "" || !strings.Contains(text, "  look             Collections stopped the program for 3.0 % of the time") || !strings.Contains(text, "  etw gc "+parts[0]+" "+parts[1]) {
		t.Errorf("exit code %d, %q, %s", code, stderr, text)
	}
	if code, page, stderr := runReport(parts...); code != 0 || !strings.Contains(page, "<title>a.nettrace and 1 other file</title>") {
		t.Errorf("exit code %d, %q, a page of %d bytes", code, stderr, len(page))
	}
	for other, want := range map[string]string{whole: "given twice", recordedPath("jit.nettrace"): "did not begin at one time"} {
		if code, _, stderr := runReport(whole, other); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q", other, code, stderr)
		}
	}
}

// The findings, in every format, are those of the page.
func TestReportFindings(t *testing.T) {
	path := recordedPath("gc.nettrace")
	code, text, stderr := runReport("--format", "text", path)
	if code != 0 || stderr != "" || !strings.Contains(text, "  look             Collections stopped the program for ") || !strings.Contains(text, "  etw gc "+path) {
		t.Errorf("exit code %d, %q, %s", code, stderr, text)
	}
	_, page, _ := runReport(path)
	_, out, _ := runReport("--json", path)
	var doc struct {
		ask.ReportDoc
		Next []show.Suggestion
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Schema != 1 || len(doc.Findings) != 4 || len(doc.Next) != 2 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range doc.Findings {
		sentence, err := json.Marshal(f.Text)
		if err != nil || !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), string(sentence)) || !strings.Contains(text, f.Text) {
			t.Errorf("the page and the text lack %s", f.Text)
		}
		if f.Process != "dotnet" || f.PID == 0 || f.ID == "" || f.Part == "" || len(f.Figures) == 0 {
			t.Errorf("%+v", f)
		}
	}
	if _, rows, _ := runReport("--format", "csv", path); strings.Count(rows, "\n") != 5 || !strings.HasPrefix(rows, "severity,id,part,pid,process,text\nlook,gc.paused,gc,") {
		t.Errorf("rows: %s", rows)
	}
	if _, text, _ := runReport("-f", "text", recordedPath("rundown.nettrace")); !strings.Contains(text, "nothing stands out") {
		t.Errorf("of a rundown: %s", text)
	}
	if code, _, stderr := runReport("-f", "text", "-o", "x", path); code != cli.ExitUsage || !strings.Contains(stderr, "--output is for a page") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	code, text, _ = runReport("-f", "text", recordedPath("lost.nettrace"))
	if code != cli.ExitTrouble || !strings.Contains(text, "the trace\n  problem          At least 7,861 events were lost") {
		t.Errorf("exit code %d, %s", code, text)
	}
}

// TestReportTrouble checks that there is a page of the readable part, and that it names the
// missing one.
func TestReportTrouble(t *testing.T) {
	code, page, stderr := runReport(recordedPath("lost.nettrace"))
	if code != cli.ExitTrouble || !strings.Contains(stderr, "were lost") || !strings.Contains(page, "were lost when the trace was recorded") {
		t.Errorf("lost events: exit code %d, %q", code, stderr)
	}
	cut := filepath.Join(t.TempDir(), "cut.nettrace")
	whole := recorded(t, "gc.nettrace")
	testio.Write(t, cut, whole[:len(whole)*2/3])
	code, page, stderr = runReport(cut)
	if code != cli.ExitTrouble || strings.Count(stderr, "\n") != 1 || !strings.Contains(page, "the trace is incomplete: ") || !strings.HasSuffix(page, "</html>\n") {
		t.Errorf("a cut trace: exit code %d, %q", code, stderr)
	}
	if code, page, stderr := runReport(cut + ".none"); code != cli.ExitTrouble || page != "" || stderr == "" {
		t.Errorf("no file: exit code %d, %q", code, stderr)
	}
	if code, _, stderr := runReport(recordedPath("gc.nettrace"), "-o", filepath.Join(cut, "none", "report.html")); code != cli.ExitTrouble || !strings.Contains(stderr, "report.html") {
		t.Errorf("no folder: exit code %d, %q", code, stderr)
	}
	if code, page, stderr := runReport("--from", "1h", recordedPath("gc.nettrace")); code != 0 || !strings.Contains(stderr, "no event is from --from 1h on") || !strings.Contains(page, "no event is from --from 1h on") {
		t.Errorf("no such time: exit code %d, %q", code, stderr)
	}
	if code, _, _ := runReport(); code != cli.ExitUsage {
		t.Errorf("no trace: exit code %d", code)
	}
}

// TestReportToDevice checks that a device is written to, not replaced.
func TestReportToDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("devices have no paths there")
	}
	link := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := runReport(recordedPath("gc.nettrace"), "-o", link); code != 0 || stdout+stderr != "" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if target, err := os.Readlink(link); err != nil || target != os.DevNull {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

// TestReportProfile holds the methods of a report's call tree against those of etw top.
func TestReportProfile(t *testing.T) {
	path := corpus.File(t, "dotnet10", "cpu.nettrace")
	var stdout bytes.Buffer
	if code := run([]string{"top", "--format", "json", "--top", "1000000", path}, strings.NewReader(""), &stdout, os.Stderr); code != 0 {
		t.Fatalf("etw top: exit code %d", code)
	}
	var top struct {
		Rows []struct {
			Method      string
			Self, Total []float64
		}
	}
	testio.JSON(t, stdout.Bytes(), &top)
	type sums struct{ self, total float64 }
	want := make(map[string]sums)
	for _, r := range top.Rows {
		want[r.Method] = sums{want[r.Method].self + r.Self[1]/1e6, want[r.Method].total + r.Total[1]/1e6}
	}
	_, page, _ := runReport(path)
	var model struct {
		Texts []string
		Views []struct {
			Sections []struct {
				ID     string
				Tables []struct {
					ID      string
					Columns []struct {
						K string
						N []float64
						T []int
					}
				}
			}
		}
	}
	_, data, _ := strings.Cut(page, `id="data">`)
	if err := json.NewDecoder(strings.NewReader(data)).Decode(&model); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]sums)
	for _, s := range model.Views[0].Sections {
		if s.ID != "cpu" {
			continue
		}
		c := s.Tables[0].Columns
		for i, name := range c[0].T {
			x := got[model.Texts[name]]
			got[model.Texts[name]] = sums{x.self + c[1].N[i], x.total + c[3].N[i]}
		}
	}
	if len(got) != len(want) || len(got) < 50 {
		t.Errorf("%d methods, not %d", len(got), len(want))
	}
	for name, w := range want {
		if g := got[name]; math.Abs(g.self-w.self) > 0.002 || math.Abs(g.total-w.total) > 0.002 {
			t.Errorf("%s: %+v, not %+v", name, g, w)
		}
	}
}
