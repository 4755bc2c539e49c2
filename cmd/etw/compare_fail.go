package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/internal/filter"
)

// A condition is what must not hold of a comparison: a number of B is further from that of
// A than by a step.
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

// errFailed says that a condition of --fail-if holds. What it is has been said.
var errFailed = errors.New("a condition of --fail-if holds")

// parseCondition reads a condition: a metric, and by how much it may not change.
func parseCondition(text string) (condition, error) {
	fields := strings.Fields(text)
	c := condition{text: text, direction: 1, percent: true}
	if len(fields) == 0 || strings.ContainsAny(fields[0], "<>=%") {
		return c, usagef("--fail-if %q: it begins with the name of a number, such as gc.pauseMs.p99", text)
	}
	c.metric = filter.Glob(fields[0])
	if len(fields) == 1 {
		return c, nil
	}
	step := strings.Join(fields[1:], "")
	number, percent := strings.CutSuffix(step, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return c, usagef("--fail-if %q: after the name comes a change such as +10%%, -10%%, 10%% in either direction, or +5 in the number's own unit, not %q", text, strings.Join(fields[1:], " "))
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
func (c *comparing) judge(res *compared, list []compare.Change) error {
	for _, x := range c.conditions {
		found, judged := 0, 0
		for i := range list {
			change := &list[i]
			if !x.metric.Match(change.Figure.Metric) {
				continue
			}
			found++
			if change.Verdict != compare.OnlyA && change.Verdict != compare.OnlyB {
				judged++
				x.judge(res, change)
			}
		}
		switch {
		case found == 0:
			return usagef("--fail-if %s: there is no such number%s", x.text, knownMetrics(string(x.metric), list))
		case judged == 0:
			return usagef("--fail-if %s: only one of the sides has such a number", x.text)
		}
	}
	return nil
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
	return fmt.Sprintf("%s; there are %s; --all lists all %d", didYouMean(asked, names), strings.Join(shown[:min(len(shown), mostMetrics)], ", "), len(names))
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
	text := fmt.Sprintf("%s is %s in A, %s in B%s", c.Figure.Metric, plainFloat(a), plainFloat(b), beyond)
	if !verdict.Changed() {
		res.notes = append(res.notes, fmt.Sprintf("--fail-if %s does not hold: %s, which may be noise", x.text, text))
		return
	}
	res.failed = append(res.failed, failure{x.text, c.Figure.Metric, text + ": " + wordsOf(c)})
}
