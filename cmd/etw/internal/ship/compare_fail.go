package ship

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/figures"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/internal/filter"
)

// A condition is one that must not hold of a comparison: a number of B is further from that
// of A than by a step.
type condition struct {
	text      string
	metric    filter.Glob
	direction int // 1 if it must not be more, -1 if not less, 0 if neither
	step      float64
	percent   bool
}

// A failure is a condition that holds.
type failure struct {
	Condition string `json:"condition"`
	Metric    string `json:"metric"`
	Why       string `json:"why"`
}

// parseCondition reads a condition: a metric, and by how much it may not change.
func parseCondition(text string) (condition, error) {
	fields := strings.Fields(text)
	c := condition{text: text, direction: 1, percent: true}
	if len(fields) == 0 || strings.ContainsAny(fields[0], "<>=%") {
		return c, cli.Usagef("--fail-if %q: it begins with the name of a number, such as gc.pauseMs.p99", text)
	}
	c.metric = filter.Glob(fields[0])
	if len(fields) == 1 {
		return c, nil
	}
	step := strings.Join(fields[1:], "")
	number, percent := strings.CutSuffix(step, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "+-0123456789.eE") != "" || v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return c, cli.Usagef("--fail-if %q: after the name comes a change such as +10%%, -10%%, 10%% in either direction, or +5 in the number's own unit, not %q", text, strings.Join(fields[1:], " "))
	}
	if percent && v < -100 {
		return c, cli.Usagef("--fail-if %q: nothing gets less by more than 100 %%", text)
	}
	c.percent, c.step = percent, math.Abs(v)
	switch {
	case v < 0:
		c.direction = -1
	case number[0] != '+':
		c.direction = 0
	}
	return c, nil
}

// judge finds out which conditions hold.
func (c *comparing) judge(res *compared, sides [2]*side) error {
	if len(c.conditions) == 0 {
		return nil
	}
	list := compare.Sides(c.withNone(sides[0]), c.withNone(sides[1]), res.threshold)
	for _, x := range c.conditions {
		found, judged := 0, 0
		only, assumed := "", [2]string{}
		for i := range list {
			change := &list[i]
			if !x.metric.Match(change.Figure.Metric) {
				continue
			}
			found++
			if change.Verdict == compare.OnlyA || change.Verdict == compare.OnlyB {
				only = fmt.Sprintf("%s is %s: the other side has nothing that tells of it", change.Figure.Metric, verdictText(change))
				continue
			}
			judged++
			x.judge(res, change)
			for side, s := range sides {
				if !s.has(change.Figure.Area) {
					assumed[side] = change.Figure.Area
				}
			}
		}
		switch {
		case found == 0:
			return cli.Usagef("--fail-if %s: there is no such number%s%s", x.text, knownMetrics(string(x.metric), compare.Sides(sides[0].runs, sides[1].runs, res.threshold)), afterAll(res.notes))
		case judged == 0:
			return cli.Usagef("--fail-if %s: %s", x.text, only)
		}
		for side, area := range assumed {
			if area != "" {
				res.notes = append(res.notes, fmt.Sprintf("--fail-if %s: %s has no events of %s, which counts as 0 since it has others of the runtime: was it recorded with them?", x.text, sideNames[side], area))
			}
		}
	}
	return nil
}

// afterAll returns notes to follow a message.
func afterAll(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "; " + strings.Join(notes, "; ")
}

// withNone returns the numbers of a side, zeros of absent events included: figures that
// appear or vanish are to be judged, too. Which keywords were on traces do not tell; that
// the runtime's provider was, its other events do.
func (c *comparing) withNone(s *side) [][]compare.Figure {
	if c.below != nil {
		return s.runs
	}
	runs := slices.Clone(s.runs)
	for i, run := range runs {
		for _, f := range figures.Silent() {
			if s.told[i] && !slices.ContainsFunc(run, func(x compare.Figure) bool { return x.Area == f.Area }) {
				runs[i] = append(slices.Clip(runs[i]), f)
			}
		}
	}
	return runs
}

// has reports whether a recording of the side has numbers about an area.
func (s *side) has(area string) bool {
	return slices.ContainsFunc(s.runs, func(run []compare.Figure) bool {
		return slices.ContainsFunc(run, func(f compare.Figure) bool { return f.Area == area })
	})
}

// knownMetrics lists the numbers that there are: with many, one of each kind.
func knownMetrics(asked string, list []compare.Change) string {
	var names, shown []string
	for _, x := range list {
		name := x.Figure.Metric
		names = append(names, name)
		if strings.Count(name, ".") < 3 && !strings.ContainsAny(name, "/`[<") {
			shown = append(shown, name)
		}
	}
	slices.Sort(shown)
	if len(names) == 0 {
		return "; the traces have none at all"
	}
	return fmt.Sprintf("%s; there are %s; --all lists all %d", cli.DidYouMean(asked, names), strings.Join(shown[:min(len(shown), mostMetrics)], ", "), len(names))
}

// mostMetrics is how many numbers an error lists.
const mostMetrics = 60

// judge finds out whether the condition holds of a number.
func (x *condition) judge(res *compared, c *compare.Change) {
	a, b := c.A.Median.Or(0), c.B.Median.Or(0)
	verdict, beyond := c.Verdict, ""
	switch {
	case x.step == 0: // as the table has it
	case x.percent:
		verdict = c.Against(x.step)
	case math.Abs(b-a) < x.step:
		verdict = compare.Small
	default:
		verdict = c.Against(0)
	}
	if verdict == compare.Equal || verdict == compare.Small || b > a && x.direction < 0 || b < a && x.direction > 0 {
		return
	}
	if p, ok := c.Percent.Get(); ok {
		beyond = fmt.Sprintf(", %+.1f %%", p)
	}
	text := fmt.Sprintf("%s is %s in A, %s in B%s", c.Figure.Metric, look.PlainFloat(a), look.PlainFloat(b), beyond)
	if !verdict.Changed() {
		res.notes = append(res.notes, fmt.Sprintf("--fail-if %s does not hold: %s, which may be noise", x.text, text))
		return
	}
	res.failed = append(res.failed, failure{x.text, c.Figure.Metric, text + ": " + wordsOf(c)})
}
