package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestProfilesReadBack writes profiles of traces, reads them again and holds top of each
// against top of the trace: methods with their weights to the last digit.
func TestProfilesReadBack(t *testing.T) {
	eachSampled(t, checkReadBack)
}

// A methodWeight is the weight of the methods of one name.
type methodWeight struct {
	self, total []int64 // total is nil if there are several: a sample can be of two of them
}

// methodsOf returns the weights of methods, by the last value or by all of them.
func methodsOf(t *testing.T, all bool, args ...string) map[string]methodWeight {
	t.Helper()
	out, stderr, status := output(append([]string{"top", "--format", "json"}, args...)...)
	var top topResult
	if err := json.Unmarshal([]byte(out), &top); err != nil || status > 1 {
		t.Fatalf("%v: %v, %s", args, err, stderr)
	}
	methods := make(map[string]methodWeight)
	for _, r := range top.Rows {
		if !all {
			r.Self, r.Total = r.Self[len(r.Self)-1:], r.Total[len(r.Total)-1:]
		}
		w, several := methods[r.Method]
		if several {
			for i := range w.self {
				w.self[i] += r.Self[i]
			}
			w.total = nil
		} else {
			w = methodWeight{r.Self, r.Total}
		}
		methods[r.Method] = w
	}
	return methods
}

func checkReadBack(t *testing.T, path, of string) {
	t.Helper()
	dir := t.TempDir()
	for _, form := range []struct {
		suffix string
		all    bool // values are in it, and not the last one alone
	}{{"pb.gz", true}, {"speedscope.json", false}, {"firefox.json", false}, {"folded", false}} {
		where := filepath.Base(path) + " --of " + of + " as " + form.suffix
		file := filepath.Join(dir, "x."+form.suffix)
		if _, stderr, status := output("export", "--of", of, "-o", file, path); status > 1 {
			t.Fatalf("%s: %s", where, stderr)
		}
		want, got := methodsOf(t, form.all, "--of", of, path), methodsOf(t, form.all, file)
		for name, w := range want {
			g := got[name]
			if weighs := slices.Max(w.self) > 0 || w.total != nil && slices.Max(w.total) > 0; !weighs {
				continue // which folded stacks leave out
			}
			if !slices.Equal(g.self, w.self) || w.total != nil && g.total != nil && !slices.Equal(g.total, w.total) {
				t.Errorf("%s: %s weighs %v, want %v", where, name, g, w)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s: %s is not in the trace", where, name)
			}
		}
	}
}

// TestProfilesOfGo holds a profile that the runtime of Go wrote against go tool pprof.
func TestProfilesOfGo(t *testing.T) {
	if !corpus.All() {
		t.Skip("go compiles pprof: ETWGEN_TESTS=all does it")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go tool")
	}
	var b bytes.Buffer
	held := make([][]byte, 0, 64)
	for i := range 64 {
		held = append(held, bytes.Repeat([]byte{byte(i)}, 1<<20))
	}
	runtime.GC()
	if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(held)
	path := filepath.Join(t.TempDir(), "allocs.pb.gz")
	testio.Write(t, path, b.Bytes())
	for _, of := range []string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects"} {
		unit := "-unit=B"
		if strings.HasSuffix(of, "objects") {
			unit = "-unit=count"
		}
		out, err := exec.Command(tool, "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", unit, "-sample_index="+of, path).Output()
		if err != nil {
			t.Skipf("go tool pprof: %v", err)
		}
		want := make(map[string][2]int64) // flat and cumulated
		_, table, _ := strings.Cut(string(out), "cum%\n")
		for line := range strings.Lines(table) {
			f := strings.Fields(strings.Replace(line, "(inline)", "", 1))
			flat, err1 := strconv.ParseInt(strings.TrimSuffix(f[0], "B"), 10, 64)
			cum, err2 := strconv.ParseInt(strings.TrimSuffix(f[3], "B"), 10, 64)
			if err1 != nil || err2 != nil {
				t.Fatalf("%q: %v, %v", line, err1, err2)
			}
			if cum != 0 && !strings.Contains(line, "[") { // names of generic code have blanks, and pprof changes some
				want[f[5]] = [2]int64{flat, cum}
			}
		}
		stdout, stderr, status := output("top", "--of", of, "--format", "json", path)
		var top topResult
		if err := json.Unmarshal([]byte(stdout), &top); err != nil || status != 0 {
			t.Fatalf("%v, %s", err, stderr)
		}
		got := make(map[string][2]int64)
		for _, r := range top.Rows {
			last := len(r.Self) - 1
			if r.Total[last] != 0 && !strings.Contains(r.Method, "[") {
				got[r.Method] = [2]int64{r.Self[last], r.Total[last]}
			}
		}
		if len(want) < 5 || !maps.Equal(got, want) {
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("--of %s: %s weighs %v, want %v", of, name, got[name], want[name])
				}
			}
			t.Errorf("--of %s: %d methods, want %d", of, len(got), len(want))
		}
	}
}

// Commands that need events say so of a profile, and one that needs none names the values.
func TestProfilesElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.folded")
	testio.Write(t, path, "main;bake 12\nmain 3\n")
	other := filepath.Join(filepath.Dir(path), "y.folded")
	testio.Write(t, other, "main 3\n")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"gc"}, "it is a profile (folded stacks), which has no events"},
		{[]string{"dump"}, "it is a profile (folded stacks), which has no events"},
		{[]string{"symbols"}, "it is a profile (folded stacks), which has no events"},
		{[]string{"export", "-o", filepath.Join(t.TempDir(), "x.prom")}, "it is a profile (folded stacks), which has no events"},
		{[]string{"top", "--of", "cpu"}, "--of cpu: "},
		{[]string{"top", "--from", "1"}, "it has no events that could be chosen by process or time"},
		{[]string{"top", other}, "is not read together with others"},
	} {
		_, stderr, status := output(append(x.args, path)...)
		if status == 0 || !strings.Contains(stderr, x.want) {
			t.Errorf("%v: %d, %s", x.args, status, stderr)
		}
	}
	out, _, status := output("info", path)
	if status != 0 || !strings.Contains(out, "folded stacks") || !strings.Contains(out, "weight") {
		t.Errorf("%d, %s", status, out)
	}
}

// A profile of a trace has the time of its methods, and profiles of counts are compared by
// theirs: nothing of the first pair differs, and of the second one function.
func TestCompareProfiles(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "a.folded"), filepath.Join(dir, "b.folded")
	for path, text := range map[string]string{before: "main;bake 120\nmain 300\n", after: "main;bake 480\nmain 300\nmain;rare 1\n"} {
		testio.Write(t, path, text)
	}
	doc, _ := compareDocument(t, 0, []string{before}, []string{after}, "--all")
	got := make(map[string][2]float64)
	for _, m := range doc.Measures {
		got[m.Metric] = [2]float64{m.A.Or(-1), m.B.Or(-1)}
	}
	want := map[string][2]float64{"profile.weight": {420, 781}, "profile.weight.method.bake.self": {120, 480}, "profile.weight.method.main.self": {300, 300}}
	if !maps.Equal(got, want) || doc.Compared != 3 {
		t.Errorf("%v, want %v", got, want)
	}
	doc, _ = compareDocument(t, cli.ExitFailed, []string{before}, []string{after}, "--fail-if", "profile.*.method.bake.self +100%")
	if len(doc.Failed) != 1 {
		t.Errorf("%v", doc.Failed)
	}
	doc, _ = compareDocument(t, 0, []string{before}, []string{after}, "--all", "--root", "bake", "--per", "12,48")
	for _, m := range doc.Measures {
		if m.A.Or(-1) != 10 || m.B.Or(-1) != 10 {
			t.Errorf("%s: %v and %v, want 10 an operation", m.Metric, m.A, m.B)
		}
	}
	for flag, want := range map[string]string{"--per=request": "has no events to count", "--per=second": "does not tell how long it took", "--from=1": "no events that could be chosen"} {
		if _, stderr, status := output("compare", flag, before, after); status != cli.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", flag, status, stderr)
		}
	}
}

// The CPU time of a profile is that of the trace it was made of.
func TestCompareTraceAndProfile(t *testing.T) {
	for _, name := range []string{"etl/filtrace_etw.etl", "universal/universal-native.nettrace"} {
		x := corpus.Glob(t, name)[0]
		path := filepath.Join(t.TempDir(), "x.pb.gz")
		if _, stderr, status := output("export", "--of", "cpu", "-o", path, x); status != 0 {
			t.Fatal(stderr)
		}
		doc, _ := compareDocument(t, 0, []string{x}, []string{path}, "--all")
		n := 0
		for _, m := range doc.Measures {
			if m.Area != "cpu" || strings.HasPrefix(m.Metric, "cpu.kind.") {
				continue
			}
			n++
			if m.A.Or(-1) != m.B.Or(-2) {
				t.Errorf("%s: %s: %v in the trace, %v in its profile", x, m.Metric, m.A, m.B)
			}
		}
		if n < 3 {
			t.Errorf("%s: %d figures of time on processors", x, n)
		}
	}
}
