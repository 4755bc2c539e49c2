package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// reportOf returns the report of a trace.
func reportOf(t testing.TB, path string) *Report {
	t.Helper()
	tr := testio.Open(t, trace.Open, path)
	defer tr.Close()
	res, err := analysis.Run(t.Context(), tr, analysis.Timeline(400, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &Report{Title: filepath.Base(path), Facts: []Fact{{"events", "some"}}, Result: res}
}

func recordedReport(t testing.TB, name string) *Report {
	t.Helper()
	return reportOf(t, filepath.Join("..", "..", "tests", "recorded", name))
}

func pageOf(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	inline  = regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`)
	block   = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	policy0 = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
)

// TestPolicy checks that exactly the scripts and styles that are in a page may run.
func TestPolicy(t *testing.T) {
	page := pageOf(t, recordedReport(t, "gc.nettrace"))
	policy := policy0.FindStringSubmatch(page)[1]
	found := inline.FindAllStringSubmatch(page, -1)
	if len(found) < 5 {
		t.Fatalf("%d scripts and styles", len(found))
	}
	for _, m := range found {
		sum := sha256.Sum256([]byte(m[2]))
		source := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		_, of, _ := strings.Cut(policy, m[1]+"-src ")
		of, _, _ = strings.Cut(of, ";")
		if !strings.Contains(of, source) {
			t.Errorf("a %s is not in the policy: %.60q", m[1], m[2])
		}
	}
	if n := strings.Count(policy, "'sha256-"); n != len(found) {
		t.Errorf("the policy allows %d scripts and styles, the page has %d", n, len(found))
	}
	for _, part := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if !strings.Contains(page, "Copyright (c) 2022 Leon Sorokin") {
		t.Error("the page lacks the licence of what draws")
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	rest := block.ReplaceAllString(inline.ReplaceAllString(page, ""), "")
	if m := regexp.MustCompile(`(?i)\s(on[a-z]+|style|src|href)\s*=`).FindString(rest); m != "" {
		t.Errorf("the page has the attribute %s", m)
	}
}

// TestPlotting holds the library that draws against its release.
func TestPlotting(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"uPlot.LICENSE.txt": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		b, err := Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s is not that of uPlot 1.6.32: %s", name, got)
		}
	}
}

// hostileNames are names that a trace may give a type.
var hostileNames = []string{
	`</script><script>window.pwned = 1</script>`,
	`<img src=x onerror="window.pwned = 1">`,
	`<!--<script>`,
	"line\u2028window.pwned = 1\u2029",
	"a\u202eevil\u202c\u2066b\u2069\u200f",
	"zero\u200bwidth\u00ad\ufeff",
	"nul\x00tab\tline\nescape\x1b[31m",
	"bytes\xff\xfe",
	`"quoted" 'and' \back & &lt;`,
	"javascript:window.pwned=1",
	"{{.}} ${window.pwned=1} `",
	"日本語 имя ünï 🙂",
	strings.Repeat("long ", 1000),
}

func hostileReport() *Report {
	res := emptyResult()
	rt := &exceptions.Runtime{PID: 1}
	for i, name := range hostileNames {
		rt.Count++
		rt.Types = append(rt.Types, exceptions.Type{Type: name, Tally: exceptions.Tally{Count: i + 1, New: i + 1}})
		rt.Messages = append(rt.Messages, exceptions.Message{Type: name, Message: name, Tally: exceptions.Tally{Count: 1, New: 1}})
		rt.Thrown = append(rt.Thrown, exceptions.Thrown{AtMS: float64(i), Type: name, Message: name})
		rt.Series.Add(float64(i), 1)
		res.Warnings = append(res.Warnings, name)
	}
	res.Exceptions.Runtimes = []*exceptions.Runtime{rt}
	r := &Report{Title: hostileNames[0], Result: res, Warnings: hostileNames, Processes: map[int64]Process{1: {Name: hostileNames[1], CommandLine: hostileNames[4]}}}
	for _, name := range hostileNames {
		r.Facts = append(r.Facts, Fact{name, name})
	}
	return r
}

// TestHostile checks that names stay texts, and are shown as they are.
func TestHostile(t *testing.T) {
	page := pageOf(t, hostileReport())
	clean := pageOf(t, recordedReport(t, "gc.nettrace"))
	for _, tag := range []string{"<script", "</script", "<!--", "<style", "<img"} {
		if got, want := strings.Count(page, tag), strings.Count(clean, tag); got != want {
			t.Errorf("%d times %s, not %d", got, tag, want)
		}
	}
	for _, c := range "\u2028\u2029\u202e\u2066\u200f\u200b\ufeff\x00\x1b" {
		if strings.ContainsRune(page, c) {
			t.Errorf("the page has %q", c)
		}
	}
	for _, text := range []string{`\u202eevil\u202c`, `zero\u200bwidth\u00ad\ufeff`, `nul\x00tab\tline\nescape\x1b[31m`, `bytes\xff\xfe`, "日本語 имя ünï 🙂"} {
		if !strings.Contains(page, strings.ReplaceAll(text, `\`, `\\`)) {
			t.Errorf("the page lacks %s", text)
		}
	}
	if n := len(decoded(t, page).Texts); n < len(hostileNames) {
		t.Errorf("%d texts", n)
	}
}

// A decodedModel is the data that a script reads.
type decodedModel struct {
	Texts    []string
	Warnings []string
	Missing  []advice
	Overview *decodedTable
	Views    []struct {
		Label    string
		Facts    [][2]string
		Tiles    []tile
		Findings []finding
		Sections []struct {
			ID     string
			Lead   []string
			Flame  *struct{ Caller []int }
			Charts []struct {
				ID, Kind, Table string
				X               []*float64
				Series          []struct{ Y []*float64 }
				Category, Rows  []int
			}
			Tables []decodedTable
		}
	}
}

type decodedTable struct {
	ID, Sort, Time string
	Columns        []struct {
		K string
		N []*float64
		T []int
	}
	Grids []struct {
		Rows    []string
		Columns []struct{ N []*float64 }
	}
}

func decoded(t *testing.T, page string) *decodedModel {
	t.Helper()
	var m decodedModel
	testio.JSON(t, []byte(block.FindStringSubmatch(page)[1]), &m)
	return &m
}

// check checks that the parts of a model fit each other.
func (m *decodedModel) check(t *testing.T) {
	t.Helper()
	for _, v := range m.Views {
		areas := map[string]bool{}
		for _, s := range v.Sections {
			areas[s.ID] = true
			tables := map[string]int{}
			for _, table := range s.Tables {
				tables[table.ID] = m.checkTable(t, &table)
			}
			for _, c := range s.Charts {
				points := len(c.X)
				if c.Kind == histogram {
					points = max(points-1, 0)
				} else {
					for i := range c.X {
						if i > 0 && *c.X[i] < *c.X[i-1] {
							t.Errorf("%s: the chart %s goes back in time", v.Label, c.ID)
							break
						}
					}
				}
				for i, y := range c.Series {
					if len(y.Y) != points && (c.Kind != scatter || i == 0) {
						t.Errorf("%s: series %d of the chart %s has %d of %d points", v.Label, i, c.ID, len(y.Y), points)
					}
				}
				rows, ok := tables[c.Table]
				if c.Table != "" && (!ok || c.Rows == nil && rows != points && rows != maxRows) {
					t.Errorf("%s: the chart %s has %d points, its table %d rows", v.Label, c.ID, points, rows)
				}
			}
		}
		for _, x := range v.Tiles {
			if !areas[x.Section] {
				t.Errorf("%s: a tile leads to %s", v.Label, x.Section)
			}
		}
		for _, f := range v.Findings {
			if !areas[f.Section] || strings.Contains(f.Text, "NaN") || strings.Contains(f.Text, "%!") {
				t.Errorf("%s: a finding of %s says %s", v.Label, f.Section, f.Text)
			}
		}
	}
}

// checkTable checks a table and returns the number of its rows.
func (m *decodedModel) checkTable(t *testing.T, table *decodedTable) int {
	t.Helper()
	rows := -1
	keys := map[string]bool{}
	for _, c := range table.Columns {
		n := max(len(c.N), len(c.T))
		if rows >= 0 && n != rows {
			t.Errorf("%s: the column %s has %d of %d rows", table.ID, c.K, n, rows)
		}
		rows = n
		if keys[c.K] {
			t.Errorf("%s: two columns are called %s", table.ID, c.K)
		}
		keys[c.K] = true
		for _, id := range c.T {
			if id >= len(m.Texts) {
				t.Errorf("%s: no text %d", table.ID, id)
			}
		}
	}
	if table.Sort != "" && !keys[table.Sort] || table.Time != "" && !keys[table.Time] {
		t.Errorf("%s: there is no column %s or %s", table.ID, table.Sort, table.Time)
	}
	for _, g := range table.Grids {
		for _, c := range g.Columns {
			if len(c.N) != rows*len(g.Rows) {
				t.Errorf("%s: a grid has %d numbers", table.ID, len(c.N))
			}
		}
	}
	return rows
}

// TestCorpus writes the page of every trace of the corpus, and checks that its
// parts fit each other.
func TestCorpus(t *testing.T) {
	areas := map[string]int{}
	var paths []string
	for _, pattern := range []string{"nettrace/*.net*", "dotnet10/*.nettrace", "etl/*.etl"} {
		paths = append(paths, corpus.Glob(t, pattern)...)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".txt") || testing.Short() && len(areas) > 5 {
			continue
		}
		r := reportOf(t, path)
		m := decoded(t, pageOf(t, r))
		m.check(t)
		for _, v := range m.Views {
			for _, s := range v.Sections {
				areas[s.ID]++
			}
		}
	}
	if !testing.Short() {
		for _, a := range advices {
			if areas[a.Section] == 0 && a.Section != profileID {
				t.Errorf("no trace has the area %s", a.Section)
			}
		}
	}
}

// TestNumbersOfPage holds numbers of a page against those of the analyses.
func TestNumbersOfPage(t *testing.T) {
	r := recordedReport(t, "gc.nettrace")
	m := decoded(t, pageOf(t, r))
	m.check(t)
	rt := r.Result.GC.Runtimes[0]
	for _, s := range m.Views[0].Sections {
		for _, table := range s.Tables {
			if table.ID != "gc-collection" {
				continue
			}
			var sum float64
			for _, c := range table.Columns {
				if c.K == "pauseMs" {
					for _, v := range c.N {
						sum += *v
					}
				}
			}
			if want := rt.PauseMS - rt.Suspensions.WithoutGCMS; sum < want-0.01 || sum > want+0.01 {
				t.Errorf("pauses of %.4f ms, not %.4f", sum, want)
			}
		}
		for _, c := range s.Charts {
			if c.ID != "histogram" {
				continue
			}
			var n float64
			for _, y := range c.Series {
				for _, v := range y.Y {
					n += *v
				}
			}
			if int(n) != rt.All.Count {
				t.Errorf("the histogram has %v of %d collections", n, rt.All.Count)
			}
		}
	}
	if len(m.Missing) == 0 || len(m.Missing) >= len(advices) {
		t.Errorf("%d areas are missing", len(m.Missing))
	}
}

// TestNothing writes the page of a trace that has nothing.
func TestNothing(t *testing.T) {
	m := decoded(t, pageOf(t, &Report{Title: "nothing", Result: emptyResult()}))
	m.check(t)
	if len(m.Views) != 0 || len(m.Missing) != len(advices) {
		t.Errorf("%d views, %d missing", len(m.Views), len(m.Missing))
	}
	m = decoded(t, pageOf(t, &Report{Title: "nothing", Windows: true, Result: emptyResult()}))
	if m.check(t); len(m.Missing) == 0 || m.Missing[0].Section == advices[0].Section || strings.Contains(m.Missing[0].Command, "DotNET") {
		t.Errorf("without a .NET program on Windows the page has advice %+v", m.Missing)
	}
}

// TestSize holds the sizes of pages in the documentation against pages.
func TestSize(t *testing.T) {
	doc := testio.Read(t, "../../docs/report.md")
	said := regexp.MustCompile(`(?s)A page has (\d+) kB before.*some (\d+)\s+bytes for each collection`).FindSubmatch(doc)
	if said == nil {
		t.Fatal("docs/report.md does not say how large a page is")
	}
	size := func(n int) int {
		res := emptyResult()
		if n > 0 {
			res.GC.Runtimes = []*gc.Runtime{manyGCs(1, n)}
		}
		return len(pageOf(t, &Report{Title: "x", Result: res}))
	}
	const many = maxDetailed + 1000
	for i, got := range []int{size(0) / 1000, (size(2*many) - size(many)) / many} {
		if want, _ := strconv.Atoi(string(said[i+1])); got < want*8/10 || got > want*12/10 {
			t.Errorf("docs/report.md says %d where it is %d", want, got)
		}
	}
}

// TestReused checks that a process id that is used again is another process.
func TestReused(t *testing.T) {
	res := emptyResult()
	again := manyGCs(5, 3)
	again.Life = 1
	res.GC.Runtimes = []*gc.Runtime{manyGCs(5, 10), again}
	m := decoded(t, pageOf(t, &Report{Title: "x", Result: res}))
	if len(m.Views) != 2 || m.Views[0].Label != "Process 5" || m.Views[1].Label != "Process 5, process 2 with this id" || m.Overview == nil {
		t.Errorf("%d views", len(m.Views))
	}
}

// TestCrowd checks that of very many processes those are shown of which there is most.
func TestCrowd(t *testing.T) {
	res := emptyResult()
	for i := range maxViews + 50 {
		res.GC.Runtimes = append(res.GC.Runtimes, manyGCs(int64(i), 1+i%100))
	}
	m := decoded(t, pageOf(t, &Report{Title: "x", Result: res}))
	m.check(t)
	if len(m.Views) != maxViews || m.Views[0].Label != "Process 99" || !strings.HasPrefix(m.Warnings[0], "of 50 more processes") {
		t.Errorf("%d views, the first is %s; %v", len(m.Views), m.Views[0].Label, m.Warnings)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestWriteError(t *testing.T) {
	if err := recordedReport(t, "gc.nettrace").Write(failing{}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the error is %v", err)
	}
}

// jsString is a text as a literal of JavaScript.
func jsString(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// BenchmarkReport writes a page of 20,000 collections.
func BenchmarkReport(b *testing.B) {
	res := emptyResult()
	res.GC.Runtimes = []*gc.Runtime{manyGCs(1, 20_000)}
	for b.Loop() {
		if err := (&Report{Title: strconv.Itoa(1), Result: res}).Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
