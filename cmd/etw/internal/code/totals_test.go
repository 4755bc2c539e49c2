package code

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/command/commandtest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// profilesOf returns the samples of each kind in a trace, in one pass.
func profilesOf(t *testing.T, path string) map[string]*Profiled {
	t.Helper()
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer tr.Close()
	muxes, finish := make([]etw.Mux, len(samples.Kinds)), make([]func() Gathered, len(samples.Kinds))
	for i, kind := range samples.Kinds {
		finish[i], _ = Start(&kind, &muxes[i], tr, nil)
	}
	code, who := frames.NewCodeMap(nil), pick.NewNames()
	for rec, err := range tr.Records() {
		if err != nil {
			break // what is good was delivered
		}
		err := code.Mux.Dispatch(rec)
		for i := range muxes {
			err = cmp.Or(err, muxes[i].Dispatch(rec))
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	list := make(map[string]*Profiled)
	table := code.Code.Table()
	for i, kind := range samples.Kinds {
		g := finish[i]()
		p := stacks.NewProfile(table, stacks.Options{Names: stacks.QualifiedNames, Native: code.Native}, g.Samples...)
		if p.Len() > 0 {
			list[kind.Name] = &Profiled{Profile: p, Names: who, Facts: g.Facts, Period: g.Period, Table: table}
		}
	}
	return list
}

// Whatever a trace has samples of weighs the same wherever it is shown or written, by each
// preset too, and the files are such that their readers take them. A profile takes one preset
// after the other, unless all are asked for.
func TestTotalsAgree(t *testing.T) {
	kinds, presets, turn := map[string]int{}, stacks.Presets(), 0
	for _, path := range corpus.Traces(t) {
		profiles := profilesOf(t, path)
		for _, kind := range slices.Sorted(maps.Keys(profiles)) {
			p := profiles[kind]
			kinds[kind]++
			where := filepath.Base(path) + " --of " + kind
			checkTotals(t, where, p)
			for i, preset := range presets {
				if !corpus.All() && turn%len(presets) != i {
					continue
				}
				grouped, err := p.Apply(stacks.Filter{Group: "[" + preset + "]"})
				if err != nil && preset == stacks.JustMyApp {
					continue // it has no code of its own
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, want := grouped.Totals(), p.Totals(); !slices.Equal(got, want) {
					t.Errorf("%s: by %s there are %v of %v", where, preset, got, want)
				}
				some := *p
				some.Profile = grouped
				checkTotals(t, where+" by "+preset, &some)
			}
			turn++
		}
	}
	t.Logf("traces by kind: %v", kinds)
}

func checkTotals(t *testing.T, where string, p *Profiled) {
	t.Helper()
	want := p.Totals()
	hold := func(what string, got []int64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s has %v, of %v", where, what, got, want)
		}
	}
	sum := func(sums []int64, values []int64) {
		for i, v := range values {
			sums[i] += v
		}
	}
	kinds := make([]int64, len(want))
	for _, kind := range kindNames(work.Default()) {
		of := kindFlags{kinds: []string{kind}, rules: work.Default()}
		if some := of.only(p.Profile); some.Len() > 0 {
			sum(kinds, some.Totals())
		}
	}
	hold("the sum of the kinds of work", kinds)
	top := make([]int64, len(want))
	for _, row := range p.View().Top() {
		sum(top, row.Self)
		if lastOf(row.Total) > lastOf(want) {
			t.Errorf("%s: %s has %v of %v", where, p.Frames[row.Frame].Name, row.Total, want)
		}
	}
	hold("top", top)
	self, roots := make([]int64, len(want)), make([]int64, len(want))
	for _, row := range (&treeQuery{}).rows(p) {
		sum(self, row.Self)
		if row.Depth == 0 {
			sum(roots, row.Total)
		}
	}
	hold("tree by self", self)
	hold("tree by total", roots)
	paths := make([]int64, len(want))
	for _, path := range p.View().Paths() {
		sum(paths, path.Values)
	}
	hold("stacks", paths)
	calls := 0.0
	for _, c := range callTree(p.Profile, false).Calls {
		calls += c.Self
	}
	if all := float64(lastOf(want)) / p.unit().per; calls < all*(1-1e-9) || calls > all*(1+1e-9) {
		t.Errorf("%s: the flame graph has %v of %v", where, calls, all)
	}
	checkForms(t, where, p)
}

// checkForms checks the files of a profile.
func checkForms(t *testing.T, where string, p *Profiled) {
	t.Helper()
	want := p.Totals()
	written := make(map[string]string)
	for _, form := range ProfileForms {
		var b bytes.Buffer
		if err := form.write(&b, p, where); err != nil {
			t.Fatalf("%s: %s: %v", where, form.Name, err)
		}
		written[form.Name] = b.String()
	}
	pb, err := profile.Parse(strings.NewReader(written["pprof"]))
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if err := pb.CheckValid(); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	sums := make([]int64, len(want))
	for _, s := range pb.Sample {
		for i, v := range s.Value {
			sums[i] += v
			if v < 0 {
				t.Errorf("%s: %+v weighs less than nothing", where, s)
			}
		}
	}
	if !slices.Equal(sums, want) {
		t.Errorf("%s: pprof has %v, of %v", where, sums, want)
	}
	folded := int64(0)
	for line := range strings.Lines(written["folded"]) {
		var n int64
		i := strings.LastIndexByte(line, ' ')
		if _, err := fmt.Sscan(line[i+1:], &n); err != nil || n <= 0 || i <= 0 {
			t.Fatalf("%s: line %q", where, line)
		}
		folded += n
	}
	scope := commandtest.Speedscope(t, where, written["speedscope"])
	if all := lastOf(want); folded != all || scope != all {
		t.Errorf("%s: folded stacks have %d, speedscope %d, of %d", where, folded, scope, all)
	}
}
