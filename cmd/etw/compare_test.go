package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/ship"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// shiftTrace is a recording of a bakery's shift: samples of its methods, about as many as
// are given, exceptions, and bread that is allocated. No two recordings are alike.
func shiftTrace(r *rand.Rand, work, bake, taste int) ([]byte, error) {
	b := &bakery{w: nettracetest.NewWriter(4, netHeader), rows: make(map[etw.Key]uint32)}
	b.stack(codeMain+5, codeWork+9, codeBake+3)
	b.stack(codeMain+5, codeWork+9)
	b.stack(codeMain+5, codeSell+1, codeTaste+7)
	b.w.Stacks(1, b.stacks...)
	var stacks []uint32
	for i, n := range []int{bake, work, taste} {
		for range int(float64(n) * (0.97 + 0.06*r.Float64())) {
			stacks = append(stacks, uint32(i+1))
		}
	}
	r.Shuffle(len(stacks), func(i, k int) { stacks[i], stacks[k] = stacks[k], stacks[i] })
	state := b.row("Microsoft-DotNETCore-SampleProfiler", 0, 0, "ThreadSample")
	for i, s := range stacks {
		b.add(0.02*float64(i)+0.004*r.Float64(), 401, s, state, []byte{2, 0, 0, 0})
	}
	for i := range 40 + r.IntN(3) {
		b.event(30+0.1*float64(i), 401, 1, &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("Bakery.Burnt")})
	}
	for i := range 50 {
		b.event(35+0.05*float64(i), 401, 1, &clr.GCAllocationTickV4{AllocationAmount64: 100_000 + uint64(r.IntN(2000)), TypeName: etw.MakeUTF16("Bakery.Bread"), ObjectSize: 100})
	}
	b.rundown()
	b.w.Metadata(b.metadata...)
	b.w.Events(b.events...)
	b.w.End()
	return b.w.Bytes(), b.err
}

// shifts writes recordings, and returns their paths.
func shifts(t *testing.T, r *rand.Rand, name string, n, taste int) []string {
	t.Helper()
	var paths []string
	for i := range n {
		data, err := shiftTrace(r, 300, 600, taste)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%s%d.nettrace", name, i))
		testio.Write(t, path, data)
		paths = append(paths, path)
	}
	return paths
}

// compareDocument compares, and returns the document.
func compareDocument(t *testing.T, want int, a, b []string, flags ...string) (ship.ComparedDoc, string) {
	t.Helper()
	args := slices.Concat([]string{"compare", "--json"}, flags, a, []string{"--"}, b)
	out, stderr, code := output(args...)
	var doc ship.ComparedDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil && code != cli.ExitUsage || code != want {
		t.Fatalf("%q: exit code %d, %v, %s", flags, code, err, stderr)
	}
	return doc, stderr
}

// changed returns the metrics that differ.
func changed(d *ship.ComparedDoc) string {
	var names []string
	for _, m := range d.Measures {
		names = append(names, m.Metric+" "+string(m.Verdict))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Of recordings of one program nothing differs, and conditions at the default threshold
// hold for none; a method that is made slower is found, and nothing else.
func TestComparedRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	before, again, slow := shifts(t, r, "before", 5, 100), shifts(t, r, "again", 5, 100), shifts(t, r, "slow", 5, 160)
	gate := []string{"--fail-if", "cpu.*", "--fail-if", "exceptions.count", "--fail-if", "alloc.bytes*", "--fail-if", "trace.durationMs"}
	if doc, _ := compareDocument(t, 0, before, again, gate...); changed(&doc) != "" || doc.Unshown == 0 || len(doc.Failed) > 0 || doc.ThresholdPercent != compare.DefaultThreshold {
		t.Errorf("two times the same: %+v", doc)
	}
	for i := range before {
		if doc, _ := compareDocument(t, 0, before[i:i+1], again[i:i+1], gate...); changed(&doc) != "" || doc.ThresholdPercent != ship.ThresholdOfOne {
			t.Errorf("one recording: %+v", doc)
		}
	}
	doc, stderr := compareDocument(t, cli.ExitFailed, before, slow, gate...)
	if changed(&doc) != "cpu.method.Bakery.Shop.SellAsync.lambda.selfMs more" {
		t.Errorf("the slowdown: %s", changed(&doc))
	}
	m := doc.Measures[0]
	if len(m.RunsA) != 5 || len(m.RunsB) != 5 || m.P.Or(1) > 0.008 || m.ChangePercent.Or(0) < 50 || m.ChangePercent.Or(0) > 70 || m.SpreadA.IsZero() {
		t.Errorf("%+v", m)
	}
	if len(doc.Failed) != 1 || !strings.Contains(stderr, "--fail-if cpu.*: cpu.method.Bakery.Shop.SellAsync.lambda.selfMs is ") || !strings.Contains(stderr, "more in every recording (p = 0.00794)") {
		t.Errorf("%+v, %s", doc.Failed, stderr)
	}
	if doc, _ := compareDocument(t, 0, before[:3], slow[:3]); changed(&doc) != "cpu.method.Bakery.Shop.SellAsync.lambda.selfMs maybeMore" || doc.ThresholdPercent != ship.ThresholdOfFew {
		t.Errorf("three of each: %s", changed(&doc))
	}
	if doc, _ := compareDocument(t, 0, slow, before, "--fail-if", "cpu.method.* +30%", "--fail-if", "cpu.ms 30%"); changed(&doc) != "cpu.method.Bakery.Shop.SellAsync.lambda.selfMs less" {
		t.Errorf("the other way round: %s", changed(&doc))
	}
	compareDocument(t, cli.ExitFailed, slow, before, "--fail-if", "cpu.method.* -30%")
	compareDocument(t, cli.ExitFailed, before, slow, "--fail-if", "cpu.method.*lambda* 30%")
	compareDocument(t, cli.ExitFailed, before, slow, "--fail-if", "cpu.method.*lambda* +0.5")
	compareDocument(t, 0, before, slow, "--fail-if", "cpu.method.*lambda* +5")
	compareDocument(t, 0, before, slow, "--fail-if", "cpu.method.*lambda* +90%")
}

// Sums can be set against something else, and code be that below a frame.
func TestComparedParts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	before, after := shifts(t, r, "before", 5, 100), shifts(t, r, "after", 5, 100)
	whole, _ := compareDocument(t, 0, before, after, "--all")
	value := func(doc ship.ComparedDoc, metric string) (a, b float64) {
		for _, m := range doc.Measures {
			if m.Metric == metric {
				return m.A.Or(-1), m.B.Or(-1)
			}
		}
		t.Errorf("there is no %s", metric)
		return 0, 0
	}
	count, _ := value(whole, "exceptions.count")
	length, _ := value(whole, "trace.durationMs")
	for per, want := range map[string]float64{"10": count / 10, "second": 1000 * count / length, "ExceptionThrown*": 1} {
		doc, _ := compareDocument(t, 0, before, after, "--all", "--per", per)
		got, _ := value(doc, "exceptions.count")
		if same, _ := value(doc, "trace.durationMs"); got < 0.98*want || got > 1.02*want || same != length || len(doc.PerA) != 5 {
			t.Errorf("--per %s: %v, want %v; %+v", per, got, want, doc)
		}
	}
	doc, _ := compareDocument(t, cli.ExitFailed, before, after, "--per", "10,5", "--fail-if", "exceptions.count")
	if a, b := value(doc, "exceptions.count"); a != count/10 || b < 1.9*a {
		t.Errorf("--per 10,5: %v, %v", a, b)
	}
	doc, _ = compareDocument(t, 0, before, after, "--all", "--root", "Oven.Work")
	if all, _ := value(doc, "cpu.ms"); all <= 0 || strings.Contains(changed(&doc), "SellAsync") || strings.Contains(changed(&doc), "exceptions") || !strings.Contains(changed(&doc), "alloc.bytes.Bakery.Bread") {
		t.Errorf("--root: %v, %s", all, changed(&doc))
	}
	for flags, want := range map[string]string{
		"--benchmark":                       "--benchmark: no sample of A is below a workload method of BenchmarkDotNet",
		"--root Nobody":                     "--root Nobody: no sample of A is below such a frame",
		"--root Nobody --benchmark":         "exclude each other",
		"--per request":                     "has no requests that ended",
		"--per operation":                   "does not tell how many there were",
		"--per Nothing/Start":               "has no such event",
		"--per 5,0":                         "numbers of operations above 0",
		"--threshold -1":                    "--threshold: -1 is not a share",
		"--threshold NaN":                   "--threshold: NaN is not a share",
		"--threshold Inf":                   "is not a share",
		"--per -5":                          "numbers of operations above 0",
		"--per NaN":                         "numbers of operations above 0",
		"--per 5,Inf":                       "numbers of operations above 0",
		"--process 999":                     "nothing is to be compared: of A no event is of --process 999",
		"--from 10h":                        "nothing is to be compared: of A no event is from --from 10h on",
		"--fail-if gc.count -150%":          "nothing gets less by more than 100 %",
		"--fail-if gc.count -1_0%":          "not \"-1_0%\"",
		"--fail-if requests.*.p95":          "there is no such number; there are alloc.bytes, cpu.ms, exceptions.count",
		"--fail-if cpu.m +10%":              "(did you mean cpu.ms?)",
		"--fail-if cpu.ms=+x":               "it begins with the name of a number",
		"--fail-if exceptions.count=plenty": "it begins with the name of a number",
	} {
		args := strings.SplitN(flags, " ", 2)
		if strings.Count(flags, "--") > 1 {
			args = strings.Fields(flags)
		}
		if _, stderr := compareDocument(t, cli.ExitUsage, before, after, args...); !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", flags, stderr)
		}
	}
	if _, stderr, code := output("compare", "--fail-if", "cpu.ms ten", before[0], after[0]); code != cli.ExitUsage || !strings.Contains(stderr, "after the name comes a change such as +10%") {
		t.Errorf("%d, %s", code, stderr)
	}
}

// Whatever trace is compared with itself, nothing differs.
func TestComparedWithItself(t *testing.T) {
	paths := corpus.Glob(t, "dotnet10", "cpu*.nettrace")
	for _, pattern := range []string{"gc-server.nettrace", "aspnet.nettrace", "metrics.nettrace", "heap-1.nettrace", "waits.nettrace"} {
		paths = append(paths, corpus.Glob(t, "dotnet10", pattern)...)
	}
	paths = append(paths, corpus.Glob(t, "universal", "universal-dotnet.nettrace")...)
	paths = append(paths, corpus.Glob(t, "etl", "filtrace_etw.etl")...)
	for _, path := range paths {
		out, stderr, _ := output("compare", "--json", path, path)
		var doc ship.ComparedDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Measures) > 0 || doc.Unshown > 0 || doc.Compared == 0 {
			t.Errorf("%s: %v, %s, %+v", path, err, stderr, doc)
		}
	}
}

// The workload of a benchmark is the code that BenchmarkDotNet called, and the numbers of
// its calls are in the trace.
func TestComparedBenchmark(t *testing.T) {
	a, b := corpus.Glob(t, "nettrace", "filtrace_activity.nettrace"), corpus.Glob(t, "nettrace", "filtrace_exceptions.nettrace")
	doc, _ := compareDocument(t, 0, a, b, "--benchmark", "--per", "operation", "--all")
	if doc.Compared == 0 || doc.Per != ship.PerOperation || doc.PerA[0] != 1 || doc.PerB[0] != 1 {
		t.Errorf("%+v", doc)
	}
	for _, m := range doc.Measures {
		if m.Area != "cpu" && m.Area != "allocations" || strings.Contains(m.Metric, "cpu.method.BenchmarkDotNet.Engines") {
			t.Errorf("%+v", m)
		}
	}
}

// Of a part of a trace the length is that which was asked for, not that between its first
// event and its last.
func TestComparedWindow(t *testing.T) {
	path := shifts(t, rand.New(rand.NewPCG(9, 10)), "window", 1, 100)
	doc, _ := compareDocument(t, 0, path, path, "--all", "--per", "second", "--from", "29ms", "--to", "31ms")
	if len(doc.PerA) != 1 || doc.PerA[0] != 0.002 {
		t.Errorf("%v seconds", doc.PerA)
	}
	if out, _, code := output("compare", "--all", path[0], path[0]); code != 0 || strings.Contains(out, "SPREAD") {
		t.Errorf("%d, %s", code, out)
	}
}

// A program's own requests count, and it is said which they are.
func TestComparedRequests(t *testing.T) {
	path := "../../tests/recorded/answers/requests-10.nettrace"
	out, stderr, code := output("compare", "--per", "request", path, path)
	if code != 0 || !strings.Contains(out, "sums are per request: of A 12 of Etwgen-Shop/Request, of B 12 of Etwgen-Shop/Request") {
		t.Errorf("%d, %s, %s", code, out, stderr)
	}
}

// Of an activity the time on processors is that of etw top: a sample does not stand for what others did.
func TestComparedActivity(t *testing.T) {
	path := recordedPath("causes/cause-light-10.nettrace.gz")
	out, _, _ := output("top", "--activity", "GET /bake", "--format", "json", path)
	var top struct{ Totals []float64 }
	if err := json.Unmarshal([]byte(out), &top); err != nil || len(top.Totals) != 2 || top.Totals[1] == 0 {
		t.Fatal(err, top)
	}
	doc, _ := compareDocument(t, 0, []string{path}, []string{path}, "--all", "--activity", "GET /bake")
	for _, m := range doc.Measures {
		if m.Metric == "cpu.ms" && m.A.Or(0) != top.Totals[1]/1e6 {
			t.Errorf("%v ms, etw top has %v", m.A, top.Totals[1]/1e6)
		}
	}
}

// Appearing and vanishing figures are judged, if other events of the runtime are there.
func TestComparedAppearing(t *testing.T) {
	without, with := corpus.Glob(t, "dotnet10", "gc-workstation.nettrace"), corpus.Glob(t, "dotnet10", "exceptions.nettrace")
	for _, test := range []struct {
		a, b      []string
		condition string
		want      int
	}{
		{without, with, "exceptions.count +10%", cli.ExitFailed},
		{with, without, "exceptions.count -100%", cli.ExitFailed},
		{with, without, "exceptions.count +10%", 0},
		{without, without, "exceptions.count +10%", 0},
		{without, with, "gc.pauseMs.p99 +10%", cli.ExitUsage},
	} {
		doc, stderr := compareDocument(t, test.want, test.a, test.b, "--fail-if", test.condition)
		if test.want == cli.ExitUsage && !strings.Contains(stderr, "gc.pauseMs.p99 is only in A") {
			t.Errorf("%s: %+v, %s", test.condition, doc, stderr)
		}
	}
}

// Samples of threads, running or not, are not set against those of processors.
func TestComparedUnlike(t *testing.T) {
	a, b := corpus.Glob(t, "dotnet10", "cpu.nettrace"), corpus.Glob(t, "universal", "universal-dotnet.nettrace")
	doc, _ := compareDocument(t, 0, a, b, "--all")
	if doc.Compared == 0 || strings.Contains(changed(&doc), "cpu.") {
		t.Errorf("%s", changed(&doc))
	}
	if _, stderr := compareDocument(t, cli.ExitUsage, a, b, "--fail-if", "cpu.ms"); !strings.Contains(stderr, "they cannot be compared") {
		t.Errorf("%s", stderr)
	}
}

// Time on processors of EventPipe is that of threads that do not wait, as the kinds of work have it.
func TestComparedTime(t *testing.T) {
	path := corpus.Glob(t, "dotnet10", "cpu.nettrace")
	out, _, _ := output("top", "--by", "kind", "--json", path[0])
	var kinds struct {
		Groups []struct {
			Kind   string
			SelfMS float64
		}
	}
	testio.JSON(t, out, &kinds)
	want := make(map[string]float64)
	for _, row := range kinds.Groups {
		want["cpu.kind."+row.Kind+".ms"] = row.SelfMS
	}
	doc, _ := compareDocument(t, 0, path, path, "--all")
	sum, all, equal := 0.0, 0.0, 0
	for _, m := range doc.Measures {
		v := m.A.Or(0)
		switch {
		case m.Metric == "cpu.ms":
			all = v
		case !strings.HasPrefix(m.Metric, "cpu.kind."):
			continue
		case m.Metric == "cpu.kind.waiting.ms" || m.Metric == "cpu.kind.locking.ms": // of what is not seen to wait
			if sum += v; v > want[m.Metric]+0.001 {
				t.Errorf("%s is %v, more than %v", m.Metric, v, want[m.Metric])
			}
		default:
			sum += v
			equal++
			if math.Abs(v-want[m.Metric]) > 0.001 {
				t.Errorf("%s is %v, not %v", m.Metric, v, want[m.Metric])
			}
		}
	}
	if equal < 3 || all == 0 || math.Abs(sum-all) > 0.001 {
		t.Errorf("%v, and %v by %d kinds", all, sum, equal)
	}
}

// keptFigures writes the figures of the recordings of a service, as etw-lake does.
func keptFigures(t *testing.T, lake, service string) string {
	t.Helper()
	l, err := parquet.OpenLake(lake)
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Figures(slices.DeleteFunc(l.Manifests, func(m *parquet.Manifest) bool { return m.Resource[parquet.KeyService] != service }))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, f := range all {
		if err := json.NewEncoder(&text).Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), service)
	testio.Write(t, path, text.Bytes())
	return path
}

// TestComparedLake compares recordings of a lake: all is as of the traces, before and after a merge.
func TestComparedLake(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	sides := [2][]string{shifts(t, r, "before", 4, 100), shifts(t, r, "slow", 4, 160)}
	lake := filepath.Join(t.TempDir(), "lake")
	for i, paths := range sides {
		args := append([]string{"export", "-o", lake, "--tables", "figures", "--resource", "service=" + string("AB"[i])}, paths...)
		if _, stderr, code := output(args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	measures := func(doc ship.ComparedDoc) string {
		for i := range doc.Measures {
			slices.Sort(doc.Measures[i].RunsA)
			slices.Sort(doc.Measures[i].RunsB)
		}
		doc.RunsA, doc.RunsB, doc.A, doc.B = nil, nil, "", ""
		return string(testio.Marshal(t, doc))
	}
	for range 2 {
		a, b := keptFigures(t, lake, "A"), keptFigures(t, lake, "B")
		for _, flags := range [][]string{{"--all"}, {"--per", "second"}, {"--per", "5,7"}, {"--fail-if", "cpu.*"}} {
			code := 0
			if flags[0] == "--fail-if" {
				code = cli.ExitFailed
			}
			want, _ := compareDocument(t, code, sides[0], sides[1], flags...)
			got, _ := compareDocument(t, code, []string{a}, []string{b}, append(flags, "--figures")...)
			if got.Compared == 0 || measures(got) != measures(want) {
				t.Errorf("%q: %s\n%s", flags, measures(got), measures(want))
			}
		}
		if err := parquet.Compact(t.Context(), lake, parquet.Day, func(parquet.Compacted) {}); err != nil {
			t.Fatal(err)
		}
	}
	a := keptFigures(t, lake, "A")
	cut, other := filepath.Join(t.TempDir(), "cut"), filepath.Join(t.TempDir(), "other")
	whole := testio.Read(t, a)
	testio.Write(t, cut, whole[:len(whole)-9])
	testio.Write(t, other, `{"schema":2}`)
	for _, c := range []struct {
		code       int
		file, want string
		flags      []string
	}{
		{cli.ExitTrouble, cut, "cut is no file of etw-lake figures: recording 4: unexpected EOF", nil},
		{cli.ExitTrouble, other, "its schema is 2, not 1", nil},
		{cli.ExitTrouble, keptFigures(t, lake, "C"), "recording 1: EOF", nil},
		{cli.ExitTrouble, sides[0][0], "is no file of etw-lake figures", nil},
		{cli.ExitUsage, a, "--root does nothing with them", []string{"--root", "Oven.Work"}},
		{cli.ExitUsage, a, "of figures it takes second, request and numbers", []string{"--per", "Order"}},
		{cli.ExitUsage, a, "has no requests that ended", []string{"--per", "request"}},
	} {
		if _, stderr, code := output(append(append([]string{"compare", "--figures"}, c.flags...), a, c.file)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %s", c.want, code, stderr)
		}
	}
}

// TestCompareAllocated compares programs of which one allocated much more, by their own counts, in
// few collections: what these find is no sample.
func TestCompareAllocated(t *testing.T) {
	a, b := corpus.Glob(t, "dotnet10/gc-server.nettrace")[0], corpus.Glob(t, "dotnet10/gc-server-datas.nettrace")[0]
	for _, c := range []struct{ a, b, verdict string }{{a, b, "more"}, {b, a, "less"}, {a, a, "equal"}} {
		out, stderr, code := output("compare", "--all", "--format", "csv", c.a, c.b)
		if ok := regexp.MustCompile(`(?m),` + c.verdict + `,gc\.allocatedMB,`).MatchString(out); !ok || code != 0 {
			t.Errorf("%s and %s are not said to be %s: exit code %d, %s\n%s", c.a, c.b, c.verdict, code, stderr, out)
		}
	}
}
