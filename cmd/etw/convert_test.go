package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/internal/command/commandtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/gcdump"
	"github.com/etwgen/etwgen/tests/corpus"
)

// sampled are the traces of the corpus that have samples of threads, or other events
// with stacks.
var sampled = map[string]string{
	"dotnet10/cpu.nettrace": "cpu", "dotnet10/loader.nettrace": "cpu", "dotnet10/killed.nettrace": "cpu", "dotnet10/netperf-cpu.netperf": "cpu",
	"nettrace/only_managed_samples.nettrace": "cpu", "nettrace/filtrace_activity.nettrace": "cpu", "nettrace/HeartRateMonitor.10068.nettrace": "cpu",
	"nettrace/filtrace_alloc.nettrace": "allocs", "dotnet10/alloc-sampled.nettrace": "allocs", "dotnet10/exceptions.nettrace": "exceptions",
	"dotnet10/contention.nettrace": "contention", "dotnet10/waits.nettrace": "waits", "dotnet10/gc-workstation.nettrace": "handles",
	"etl/filtrace_etw.etl": "blocked", "etl/net.4.5.2.x64.etl": "disk", "dotnet10/jit-tiering.nettrace": "jit", "universal/universal-native.nettrace": "blocked",
}

// eachSampled checks each kind of samples of the bakery, and of the sampled traces.
func eachSampled(t *testing.T, check func(t *testing.T, path, of string)) {
	path := filepath.Join(t.TempDir(), "bakery.nettrace")
	testio.Write(t, path, bakeryTrace(t))
	for _, of := range []string{"cpu", "allocs", "exceptions", "contention"} {
		check(t, path, of)
	}
	for name, of := range sampled {
		for _, path := range corpus.Glob(t, name) {
			check(t, path, of)
		}
	}
}

// TestConvert holds the files of each format against top: totals are equal, and each file is
// one that its readers take.
func TestConvert(t *testing.T) {
	eachSampled(t, checkConverted)
}

// A topResult is the JSON of etw top.
type topResult struct {
	Kind   string
	Facts  []string
	Totals []int64
	Rows   []code.TopRow
}

// moderate is the size up to which every trace of the corpus is converted, in bytes.
const moderate = 1_200_000

// TestConvertAll does it for every kind of samples of every trace of moderate size.
func TestConvertAll(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred commands")
	}
	profiles := 0
	for _, pattern := range []string{"dotnet10/*.net*", "nettrace/*.net*", "universal/*.nettrace", "etl/*.etl"} {
		for _, path := range corpus.Glob(t, pattern) {
			info, err := os.Stat(path)
			if err != nil || info.Size() > int64(moderate/corpus.Every(3)) || strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".txt") {
				continue
			}
			for _, kind := range samples.Kinds {
				out, _, status := output("top", "--of", kind.Name, "--format", "json", path)
				var top topResult
				if err := json.Unmarshal([]byte(out), &top); status <= 1 && err == nil && len(top.Totals) > 0 {
					profiles++
					checkConverted(t, path, kind.Name)
				}
			}
		}
	}
	t.Logf("%d profiles", profiles)
}

// topTotals returns the totals that top says, and the sum of its rows.
func topTotals(t *testing.T, path, of string) (totals []int64) {
	t.Helper()
	out, _, _ := output("top", "--of", of, "--format", "json", path)
	var top topResult
	if err := json.Unmarshal([]byte(out), &top); err != nil || len(top.Totals) == 0 {
		t.Fatalf("%s: %v, %.200s", path, err, out)
	}
	sums := make([]int64, len(top.Totals))
	for _, row := range top.Rows {
		for i, v := range row.Self {
			sums[i] += v
		}
	}
	if fmt.Sprint(sums) != fmt.Sprint(top.Totals) {
		t.Errorf("%s: methods of %v, totals of %v", path, sums, top.Totals)
	}
	return top.Totals
}

func checkConverted(t *testing.T, path, of string) {
	t.Helper()
	where := filepath.Base(path) + " --of " + of
	totals := topTotals(t, path, of)
	last := totals[len(totals)-1]
	out, _, status := output("export", "--of", of, "--format", "pprof", path)
	p, err := profile.Parse(strings.NewReader(out))
	if err != nil || status > 1 {
		t.Fatalf("%s: %v", where, err)
	}
	if err := p.CheckValid(); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
		if len(s.Location) == 0 || len(s.NumLabel["pid"]) > 1 { // number 0 means none there
			t.Fatalf("%s: %+v", where, s)
		}
	}
	if fmt.Sprint(sums) != fmt.Sprint(totals) {
		t.Errorf("%s: pprof has %v, top %v", where, sums, totals)
	}
	out, _, _ = output("export", "--of", of, "--format", "folded", path)
	sum := int64(0)
	for line := range strings.Lines(out) {
		i := strings.LastIndexByte(line, ' ')
		var n int64
		if _, err := fmt.Sscan(line[i+1:], &n); err != nil || n <= 0 || i <= 0 {
			t.Fatalf("%s: line %q", where, line)
		}
		sum += n
	}
	if sum != last {
		t.Errorf("%s: folded stacks have %d, top %v", where, sum, totals)
	}
	out, _, _ = output("export", "--of", of, "--format", "speedscope", path)
	if sum := commandtest.Speedscope(t, where, out); sum != last {
		t.Errorf("%s: speedscope has %d, top %v", where, sum, totals)
	}
}

// The file has the contents of the trace: functions, labels, modules and times.
func TestConvertedBakery(t *testing.T) {
	b := bakeryTrace(t)
	dir := t.TempDir()
	path, out := filepath.Join(dir, "bakery.nettrace"), filepath.Join(dir, "out.pb.gz")
	testio.Write(t, path, b)
	if _, stderr, status := output("export", "-o", out, path); status != 0 || stderr != "" {
		t.Fatalf("%d, %s", status, stderr)
	}
	data := testio.Read(t, out)
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*profile.Function{}
	for _, f := range p.Function {
		functions[f.Name] = f
	}
	if f := functions["Bakery.Shop.SellAsync"]; f == nil || f.SystemName != "Shop!Bakery.Shop+<SellAsync>d__3.MoveNext(int32)" || f.Filename != "/srv/Shop.dll" {
		t.Errorf("%+v", f)
	}
	if p.Mapping[0].File != "/srv/Shop.dll" || !p.Mapping[0].HasFunctions || p.Period != 1e6 || p.DurationNanos != 30e6 || p.PeriodType.Unit != "nanoseconds" {
		t.Errorf("%+v, %d, %d", p.Mapping[0], p.Period, p.DurationNanos)
	}
	states := map[string]int64{}
	for _, s := range p.Sample {
		states[s.Label["state"][0]] += s.Value[1]
	}
	if fmt.Sprint(states) != "map[external:3500000 gc:500000 managed:29500000]" {
		t.Errorf("%v", states)
	}
}

// TestHeapKeepsDump: a dump is written as it was, with what no answer shows.
func TestHeapKeepsDump(t *testing.T) {
	dir := t.TempDir()
	made, again := filepath.Join(dir, "made.gcdump"), filepath.Join(dir, "again.gcdump")
	b := gcdump.NewBuilder(2)
	b.Set(0, b.Type(gcdump.RootType, ""), 0, 0, []int{1})
	b.Set(1, b.Type("Shop.Order[]", "shop.dll"), 0x7f00, 4096, nil)
	d, err := b.Dump(0)
	if err != nil {
		t.Fatal(err)
	}
	d.Machine, d.SizeMultiplier = gcdump.Text{Value: "till", Valid: true}, 2
	d.DotNet = &gcdump.DotNet{Size: 1 << 20, Segments: []gcdump.Segment{{Start: 0x7f00, End: 0x8f00}}}
	var file bytes.Buffer
	if _, err := d.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	testio.Write(t, made, file.Bytes())
	keeps := func(path string, want []byte) {
		if _, stderr, status := output("heap", path, "-o", again); status != 0 {
			t.Fatalf("%s: %d, %s", path, status, stderr)
		}
		if got, err := os.ReadFile(again); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes are written as %d others: %v", path, len(want), len(got), err)
		}
	}
	keeps(made, file.Bytes())
	for _, path := range corpus.Glob(t, "recordings", "gcdump", "*.gcdump.gz") {
		keeps(path, testio.Unpacked(t, path))
	}
}
