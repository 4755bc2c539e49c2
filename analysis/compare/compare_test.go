package compare

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/measure"
)

// counted is the rank test by its definition: all ways to choose the values of one set.
func counted(a, b []float64) float64 {
	all := slices.Concat(a, b)
	u := func(chosen uint) float64 {
		n := 0.0
		for i, x := range all {
			for k, y := range all {
				if chosen>>i&1 == 1 && chosen>>k&1 == 0 {
					switch {
					case x > y:
						n++
					case x == y:
						n += 0.5
					}
				}
			}
		}
		return n
	}
	mean := float64(len(a)*len(b)) / 2
	seen := math.Abs(u(1<<len(a)-1) - mean)
	as, ways := 0, 0
	for chosen := uint(0); chosen < 1<<len(all); chosen++ {
		if bits.OnesCount(chosen) != len(a) {
			continue
		}
		ways++
		if math.Abs(u(chosen)-mean) >= seen-1e-9 {
			as++
		}
	}
	return float64(as) / float64(ways)
}

func TestRankTest(t *testing.T) {
	for _, test := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252},
		{[]float64{6, 7, 8, 9}, []float64{1, 2, 3, 4}, 2.0 / 70},
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 0.1},
		{[]float64{1, 2, 4}, []float64{3, 5, 6}, 0.2},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{[]float64{1}, []float64{2}, 1},
		{nil, []float64{2}, 1},
	} {
		if got := rankTest(test.a, test.b); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v, %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := func(n, most int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(r.IntN(most)) // with equal ones
		}
		return list
	}
	for range 100 {
		a, b := values(1+r.IntN(5), 8), values(1+r.IntN(6), 8)
		p, turned, want := rankTest(a, b), rankTest(b, a), counted(a, b)
		if math.Abs(p-want) > 1e-12 || math.Abs(turned-want) > 1e-12 {
			t.Errorf("%v, %v: %v and %v, want %v", a, b, p, turned, want)
		}
		if p < leastP(len(a), len(b))/2-1e-12 { // with equal values one side alone may be as far off
			t.Errorf("%v, %v: %v is less than can be", a, b, p)
		}
	}
	for range 20 { // where both are for, they agree
		a, b := values(25, 30), values(25, 40)
		ranks, tied := ranksOf(a, b)
		if p, q := exact(ranks, 25), normal(ranks, 25, 25, tied); math.Abs(p-q) > 0.01 {
			t.Errorf("exact %v, normal %v", p, q)
		}
	}
	a := values(200, 1000)
	if p := rankTest(a, a); p != 1 {
		t.Errorf("of a set with itself %v", p)
	}
	for i := range a {
		a[i] += 5000
	}
	if p := rankTest(values(200, 1000), a); p > 1e-20 {
		t.Errorf("of sets apart %v", p)
	}
}

func TestLeastP(t *testing.T) {
	for _, test := range []struct {
		a, b int
		want float64
		can  bool
	}{{1, 1, 1, false}, {0, 3, 1, false}, {3, 3, 0.1, false}, {4, 4, 2.0 / 70, true}, {5, 3, 2.0 / 56, true}, {2, 8, 2.0 / 45, true}, {1, 30, 2.0 / 31, false}} {
		if p := leastP(test.a, test.b); math.Abs(p-test.want) > 1e-12 || CanTell(test.a, test.b) != test.can {
			t.Errorf("%d and %d: %v, %v", test.a, test.b, p, CanTell(test.a, test.b))
		}
	}
}

// runs returns recordings with one number.
func runs(f Figure, values ...float64) [][]Figure {
	var list [][]Figure
	for _, v := range values {
		f.Value = v
		list = append(list, []Figure{f})
	}
	return list
}

func TestVerdicts(t *testing.T) {
	plain := Figure{Metric: "m", Area: "x"}
	of := func(noise, alone float64) Figure { return Figure{Metric: "m", Area: "x", Noise: noise, Alone: alone} }
	for _, test := range []struct {
		a, b [][]Figure
		want Verdict
	}{
		{runs(plain, 5), runs(plain, 5), Equal},
		{runs(plain, 5, 5, 5), runs(plain, 5, 5, 5), Equal},
		{runs(plain, 5, 6, 7), runs(plain, 5, 6, 7), Small},
		{runs(plain, 100), runs(plain, 105), Small},
		{runs(plain, 100), runs(plain, 120), More},
		{runs(plain, 100), runs(plain, 80), Less},
		{runs(plain, 0), runs(plain, 1), More},
		{runs(plain, -2), runs(plain, -1), More},
		{runs(of(10, 0), 100), runs(of(10, 0), 120), Noise}, // within three deviations
		{runs(of(10, 0), 100), runs(of(10, 0), 150), More},
		{runs(of(0, 20), 100), runs(of(0, 40), 200), MaybeMore},
		{runs(of(0, 20), 100), runs(of(0, 100), 500), More},
		{runs(of(0, 40), 200), runs(of(0, 20), 100), MaybeLess},
		{runs(of(0, 50), 10, 11, 12, 13), runs(of(0, 50), 20, 21, 22, 23), More}, // enough of them
		{runs(of(0, 5), 10, 11, 12), runs(of(0, 5), 20, 21, 22), MaybeMore},      // too few
		{runs(plain, 10, 11, 12, 30), runs(plain, 20, 21, 22, 23), Noise},
		{runs(plain, 20, 21, 22, 23), runs(plain, 10, 11, 12, 13), Less},
		{runs(plain, 10, 11, 12, 13), runs(plain, 20), More},
		{runs(plain, 10, 11, 12, 30), runs(plain, 20), Noise},
		{runs(plain, 10), nil, OnlyA},
		{nil, runs(plain, 10), OnlyB},
	} {
		got := Sides(test.a, test.b, 10)
		if len(got) != 1 || got[0].Verdict != test.want {
			t.Errorf("%v, %v: %+v, want %s", test.a, test.b, got, test.want)
		}
	}
}

// A figure that a recording with the area lacks is 0 if it is a sum, and else unknown.
func TestMissing(t *testing.T) {
	sum := func(name string, v float64) Figure { return Figure{Metric: name, Area: "x", Value: v, Sum: true} }
	a := [][]Figure{{sum("s", 1), sum("t", 4)}, {sum("s", 3)}}
	b := [][]Figure{{sum("s", 2), {Metric: "level", Area: "x", Value: 7}}, {{Metric: "other", Area: "y"}}}
	got := Sides(a, b, 10)
	text := ""
	for _, c := range got {
		text += fmt.Sprintln(c.Figure.Metric, c.A.Runs, c.A.Median, c.A.Spread, c.B.Runs, c.B.Median, c.Percent, c.Verdict)
	}
	want := "s [1 3] 2 2 [2] 2 0 small\nt [4 0] 2 4 [0] 0 -100 noise\nlevel [] - - [7] 7 - onlyB\nother [] - - [0] 0 - onlyB\n"
	if text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	Sort(got)
	if got[0].Figure.Metric != "t" || got[3].Weight() != 1 || got[1].Weight() != 0 {
		t.Errorf("%+v", got)
	}
	if (&Change{A: Values{Median: measure.Known(0)}, B: Values{Median: measure.Known(0)}}).Weight() != 0 {
		t.Error("nothing and nothing differ")
	}
}

// Of recordings of one program, whose times vary by a fifth and more, next to nothing
// counts as changed; one number that is made twice as large does.
func TestNoise(t *testing.T) {
	const numbers, rounds = 100, 20
	r := rand.New(rand.NewPCG(3, 4))
	side := func(slow float64) [][]Figure {
		var list [][]Figure
		for range 5 {
			load := math.Exp(0.2 * r.NormFloat64()) // of the machine
			var run []Figure
			for i := range numbers {
				v := 100 * float64(i+1) * load * math.Exp(0.1*r.NormFloat64())
				if i == 50 {
					v *= slow
				}
				run = append(run, Figure{Metric: fmt.Sprint(i), Area: "x", Value: v, Noise: math.Sqrt(v)})
			}
			list = append(list, run)
		}
		return list
	}
	changed, found := 0, 0
	for range rounds {
		for _, c := range Sides(side(1), side(3), DefaultThreshold) {
			switch {
			case c.Figure.Metric == "50" && c.Verdict == More:
				found++
			case c.Figure.Metric != "50" && c.Verdict.Changed():
				changed++
			}
		}
	}
	if found != rounds || changed > rounds*numbers/50 {
		t.Errorf("of %d rounds the slowdown is found in %d; %d other numbers changed", rounds, found, changed)
	}
}

// TestSortParts puts of the parts of a sum that first which changed most, whatever it was before.
func TestSortParts(t *testing.T) {
	figure := func(name string, v float64, whole string) Figure {
		return Figure{Metric: name, Value: v, Whole: whole, Sum: true}
	}
	a := []Figure{figure("bytes.grown", 900, "bytes.*"), figure("other", 10, "")}
	b := []Figure{figure("bytes.grown", 2000, "bytes.*"), figure("bytes.new", 40, "bytes.*"), figure("bytes.gone", 0, "bytes.*"), figure("other", 20, "")}
	list := Sides([][]Figure{a}, [][]Figure{b}, 10)
	Sort(list)
	var order []string
	for i := range list {
		order = append(order, list[i].Figure.Metric)
	}
	if want := []string{"bytes.grown", "other", "bytes.new", "bytes.gone"}; !slices.Equal(order, want) {
		t.Errorf("%q", order)
	}
}

// TestCounts: counts that hardly vary differ by more than chance where all of one side are above
// all of the other, and those that vary as counts do are not doubted less.
func TestCounts(t *testing.T) {
	runs := func(counts ...float64) (list [][]Figure) {
		for _, n := range counts {
			list = append(list, []Figure{{Metric: "x", Value: n, Noise: math.Sqrt(n)}})
		}
		return list
	}
	for _, test := range []struct {
		a, b []float64
		want Verdict
	}{
		{[]float64{5, 5, 5, 5}, []float64{10, 10, 10, 10}, More},
		{[]float64{5, 4, 5, 6}, []float64{8, 7, 11, 9}, Noise},
		{[]float64{5}, []float64{10}, Noise},
	} {
		if got := Sides(runs(test.a...), runs(test.b...), DefaultThreshold)[0].Verdict; got != test.want {
			t.Errorf("%v and %v: %s, want %s", test.a, test.b, got, test.want)
		}
	}
}
