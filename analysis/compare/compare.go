// Package compare tells of two sides, each of one or several recordings, which of their
// numbers differ by more than noise. Use it to say whether a change made a program
// better, or to fail a build if it made it worse.
//
// Two things tell noise from change. Several recordings of a side show how much a number
// differs between them: the rank test of Mann and Whitney says how likely such an order is
// by chance. And of many numbers a single recording tells how much chance is in them: of a
// count of n, about the root of n.
package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// A Figure is one number of a recording.
type Figure struct {
	Metric string  `json:"metric"`         // its name, such as gc.pauseMs.p99
	Area   string  `json:"area"`           // what it is about: areas that one side lacks were not recorded there
	Name   string  `json:"name,omitempty"` // what it is called within its area
	Unit   string  `json:"unit,omitempty"` // count, ms, bytes, MB; of a counter its own, if that is known
	Value  float64 `json:"value"`
	// MoreIsWorse says which way a change is bad. Of other figures, neither way is.
	MoreIsWorse bool `json:"moreIsWorse,omitempty"`
	// Noise is the standard deviation that chance gives the value, 0 if it is unknown.
	Noise float64 `json:"noise,omitempty"`
	// Estimated says that the value is one of some that were taken for all: chance is in it also where
	// recordings agree, as those of a program that begins in one way.
	Estimated bool `json:"-"`
	// Alone is how much it varies between recordings beside that, where these are too few
	// to tell it.
	Alone float64 `json:"alone,omitempty"`
	// Sum says that where a recording has the area and not the figure, it is 0.
	Sum bool `json:"sum,omitempty"`
	// Grows says that the value grows with the recording, and can be set against it: see
	// [Per].
	Grows bool `json:"grows,omitempty"`
	// Steady says that it is of a device, such as the time that a disk takes for a request: sums of a program
	// follow from it.
	Steady bool `json:"-"`
	// Whole is the same for all parts of a sum, such as the bytes of each type. Of these, those
	// weigh most that change most.
	Whole string `json:"whole,omitempty"`
}

// Per returns the figures of a recording, those that grow set against n, such as its length
// in seconds or the number of its requests.
func Per(list []Figure, n float64) []Figure {
	list = slices.Clone(list)
	for i := range list {
		if f := &list[i]; f.Grows {
			f.Value /= n
			f.Noise /= n
			f.Alone /= n
		}
	}
	return list
}

// A Verdict says how B differs from A.
type Verdict string

// The verdicts.
const (
	Equal Verdict = "equal" // in every recording
	Small Verdict = "small" // by less than the threshold
	Noise Verdict = "noise" // by no more than chance explains
	More  Verdict = "more"
	Less  Verdict = "less"
	// As far as so few recordings tell: another one of the same program may be as far off.
	MaybeMore Verdict = "maybeMore"
	MaybeLess Verdict = "maybeLess"

	OnlyA Verdict = "onlyA" // there is no such number in B
	OnlyB Verdict = "onlyB"
)

// Changed reports whether B differs by more than noise.
func (v Verdict) Changed() bool { return v == More || v == Less }

// Values are the numbers of one side.
type Values struct {
	Runs   []float64     `json:"runs"` // of the recordings that have it
	Median measure.Float `json:"median"`
	// Spread is the distance between the smallest and the largest.
	Spread measure.Float `json:"spread"`

	noise float64 // of the median, 0 if it is unknown
	alone float64 // how much a value may vary
}

// A Change is one number of both sides.
type Change struct {
	Figure  Figure // its names
	A, B    Values
	Percent measure.Float // by how much B differs from A, unknown if A is 0
	Verdict Verdict
	// P is the p of the rank test, unknown where a side has one recording alone.
	P measure.Float
	// Proven says that there are enough recordings for the test to tell.
	Proven bool
}

// IsWorse reports whether B is worse than A, by more than noise.
func (c *Change) IsWorse() bool { return c.Figure.MoreIsWorse && c.Verdict == More }

// DefaultThreshold is which changes, in percent, are too small to matter.
const DefaultThreshold = 10

// How sure a verdict is: the limit of the test, and how many standard deviations of chance.
const (
	surely     = 0.01
	enough     = 0.05
	deviations = 3
	// An answer from few recordings is not to be lost to doubt.
	deviationsOfFew = 2
)

// Sides pairs the numbers of recordings, in the order of their first ones. Changes of
// less than threshold percent are small.
func Sides(a, b [][]Figure, threshold float64) []Change {
	areas := [2]map[string]int{areasOf(a), areasOf(b)}
	var list []Change
	index := make(map[string]int)
	for _, run := range slices.Concat(a, b) {
		for _, f := range run {
			if _, ok := index[f.Metric]; !ok {
				index[f.Metric] = len(list)
				list = append(list, Change{Figure: f})
			}
		}
	}
	for side, runs := range [2][][]Figure{a, b} {
		values := make([][]Figure, len(list))
		for _, run := range runs {
			for _, f := range run {
				values[index[f.Metric]] = append(values[index[f.Metric]], f)
			}
		}
		for i := range list {
			have := values[i]
			if f := list[i].Figure; f.Sum {
				f.Value, f.Noise, f.Alone = 0, 0, 0
				for len(have) < areas[side][f.Area] {
					have = append(have, f)
				}
			}
			*[2]*Values{&list[i].A, &list[i].B}[side] = valuesOf(have)
		}
	}
	for i := range list {
		list[i].judge(threshold)
	}
	return list
}

// areasOf counts the recordings that have each area.
func areasOf(runs [][]Figure) map[string]int {
	n := make(map[string]int)
	for _, run := range runs {
		has := make(map[string]bool)
		for _, f := range run {
			has[f.Area] = true
		}
		for area := range maps.Keys(has) {
			n[area]++
		}
	}
	return n
}

func valuesOf(list []Figure) Values {
	v := Values{Runs: make([]float64, 0, len(list))}
	if len(list) == 0 {
		return v
	}
	squares := 0.0
	for _, f := range list {
		v.Runs = append(v.Runs, f.Value)
		squares += f.Noise * f.Noise
	}
	sorted := slices.Sorted(slices.Values(v.Runs))
	v.Median = measure.Percentile(sorted, 0.5)
	v.Spread = measure.Known(sorted[len(sorted)-1] - sorted[0])
	v.noise, v.alone = math.Sqrt(squares)/float64(len(list)), list[0].Alone
	return v
}

// judge says how the sides differ.
func (c *Change) judge(threshold float64) {
	a, haveA := c.A.Median.Get()
	b, haveB := c.B.Median.Get()
	switch {
	case !haveB:
		c.Verdict = OnlyA
		return
	case !haveA:
		c.Verdict = OnlyB
		return
	}
	if a != 0 {
		c.Percent = measure.Known(100 * (b - a) / math.Abs(a))
	}
	n, m := len(c.A.Runs), len(c.B.Runs)
	c.Proven = CanTell(n, m)
	if n > 1 && m > 1 {
		c.P = measure.Known(rankTest(c.A.Runs, c.B.Runs))
	}
	c.Verdict = c.verdict(threshold, deviations)
	if !c.Proven && c.Verdict.Changed() && math.Abs(b-a) <= deviations*math.Hypot(math.Hypot(c.A.noise, c.B.noise), math.Hypot(c.A.alone, c.B.alone)) {
		c.Verdict = map[Verdict]Verdict{More: MaybeMore, Less: MaybeLess}[c.Verdict]
	}
}

// Against returns the verdict if changes of less than threshold percent are small, and
// others are not doubted however few the recordings are.
func (c *Change) Against(threshold float64) Verdict {
	if c.Proven {
		return c.verdict(threshold, deviations)
	}
	return c.verdict(threshold, deviationsOfFew)
}

func (c *Change) verdict(threshold, noise float64) Verdict {
	a, haveA := c.A.Median.Get()
	b, haveB := c.B.Median.Get()
	change := math.Abs(c.Percent.Or(math.Inf(1)))
	switch {
	case !haveA || !haveB:
		return c.Verdict
	case a == b && c.A.Spread == measure.Known(0) && c.B.Spread == measure.Known(0):
		return Equal
	case a == b || change < threshold:
		return Small
	case c.byChance(a, b, noise):
		return Noise
	case b > a:
		return More
	}
	return Less
}

// byChance reports whether chance explains the change: so many standard deviations do.
func (c *Change) byChance(a, b, deviations float64) bool {
	noise := math.Hypot(c.A.noise, c.B.noise)
	if c.Proven && !c.Figure.Estimated { // the recordings show how much chance there is
		noise = math.Hypot(min(c.A.noise, c.A.varies()), min(c.B.noise, c.B.varies()))
	}
	if math.Abs(b-a) <= deviations*noise {
		return true
	}
	if p, ok := c.P.Get(); ok {
		return p > SureP(len(c.A.Runs), len(c.B.Runs))*(1+1e-9)
	}
	// One recording of a side: it must be beyond all of the other.
	return a < b && slices.Max(c.A.Runs) >= slices.Min(c.B.Runs) || a > b && slices.Min(c.A.Runs) <= slices.Max(c.B.Runs)
}

// varies returns by how much a median varies at most, as far as few recordings show: some may be alike
// by chance, so it is twice that.
func (v *Values) varies() float64 {
	const ofMedian = 1.25 // for that of a mean
	return 2 * ofMedian * measure.Summarize(slices.Clone(v.Runs)).StdDev.Or(0) / math.Sqrt(float64(len(v.Runs)))
}

// Weight says how much the sides differ, from 0 to 1.
func (c *Change) Weight() float64 {
	a, haveA := c.A.Median.Get()
	b, haveB := c.B.Median.Get()
	most := max(math.Abs(a), math.Abs(b))
	switch {
	case !haveA || !haveB:
		return 1
	case most == 0:
		return 0
	}
	return math.Abs(b-a) / most
}

// Sort puts changes first, those of devices before all, then those that weigh most, then noise, and last the
// figures that only one side has.
func Sort(list []Change) {
	most := make(map[string]float64) // changes of parts
	for i := range list {
		whole := list[i].Figure.Whole
		most[whole] = max(most[whole], math.Abs(list[i].By()))
	}
	weight := func(x *Change) float64 {
		if whole := x.Figure.Whole; whole != "" && most[whole] > 0 {
			return x.Weight() * math.Abs(x.By()) / most[whole]
		}
		return x.Weight()
	}
	order.Stable(list, func(x, y Change) int {
		return cmp.Or(cmp.Compare(x.place(), y.place()), cmp.Compare(x.Verdict.order(), y.Verdict.order()), cmp.Compare(weight(&y), weight(&x)))
	})
}

// place is the order of the verdict, but the causes of other changes stand before these, even where few
// recordings tell of them.
func (c *Change) place() int {
	n := c.Verdict.order()
	if c.Figure.Steady && n <= MaybeMore.order() {
		return -1
	}
	return n
}

// By returns by how much B differs from A, where both have the number, and else 0.
func (c *Change) By() float64 {
	a, haveA := c.A.Median.Get()
	b, haveB := c.B.Median.Get()
	if !haveA || !haveB {
		return 0
	}
	return b - a
}

// order says where a verdict stands.
func (v Verdict) order() int {
	switch v {
	case More, Less:
		return 0
	case MaybeMore, MaybeLess:
		return 1
	case Noise:
		return 2
	case Small:
		return 3
	case Equal:
		return 4
	}
	return 5
}
