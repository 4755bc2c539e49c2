package ship

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// A comparison is one number of both sides, as JSON has it: medians, where a side has
// several recordings.
type comparison struct {
	Metric        string          `json:"metric"`
	Area          string          `json:"area"`
	Name          string          `json:"name"`
	A             quantity.Float  `json:"a"`
	B             quantity.Float  `json:"b"`
	ChangePercent quantity.Float  `json:"changePercent"`
	Verdict       compare.Verdict `json:"verdict"`
	P             quantity.Float  `json:"p,omitzero"`
	RunsA         []float64       `json:"runsA"`
	RunsB         []float64       `json:"runsB"`
	SpreadA       quantity.Float  `json:"spreadA,omitzero"`
	SpreadB       quantity.Float  `json:"spreadB,omitzero"`
}

// A ComparedDoc is the JSON of a comparison.
type ComparedDoc struct {
	Schema           int          `json:"schema"`
	A                string       `json:"a"`
	B                string       `json:"b"`
	RunsA            []string     `json:"runsA"`
	RunsB            []string     `json:"runsB"`
	LostA            int64        `json:"lostA"`
	LostB            int64        `json:"lostB"`
	Per              string       `json:"per,omitempty"`
	PerA             []float64    `json:"perA,omitempty"`
	PerB             []float64    `json:"perB,omitempty"`
	ThresholdPercent float64      `json:"thresholdPercent"`
	Compared         int          `json:"compared"`
	Unshown          int          `json:"noiseOrSmall"`
	Failed           []failure    `json:"failed"`
	Measures         []comparison `json:"measures"`
}

func (c *comparing) print(p *show.Printer, sides [2]*side, res *compared) error {
	notes := slices.Clone(res.notes)
	for i, s := range sides {
		notes = append(notes, code.Prefixed(sideNames[i]+": ", s.warnings)...)
	}
	if p.Format == show.FormatJSON {
		p.About.Warn(notes...)
		return c.document(p, sides, res)
	}
	if p.Format == show.FormatText && !c.all {
		notes = append(notes, recordedOnBoth(res)...)
	}
	several := max(len(sides[0].runs), len(sides[1].runs)) > 1
	t := comparedTable(res.rows, several)
	if err := c.rank.CheckColumn(t.Columns); err != nil {
		return err
	}
	if p.Format == show.FormatText {
		c.head(p, sides, res, notes)
		if len(res.rows) == 0 {
			_, err := fmt.Fprintln(p, nothing(res))
			return err
		}
	}
	if err := c.rank.WriteFirst(p, t); err != nil {
		return err
	}
	if p.Format == show.FormatText && res.heaps != "" {
		p.Prose(show.ColorDim, "how the heaps have changed: "+cli.Clean(res.heaps), 2)
	}
	if p.Format == show.FormatText && res.small > 0 && !c.all {
		p.Prose(show.ColorDim, fmt.Sprintf("%s of %d differ by noise, or by less than %s %%; --all shows them", show.Count(res.small, "number", "numbers"), res.all, look.PlainFloat(res.threshold)), 2)
	}
	return nil
}

// recordedOnBoth leaves out the numbers of events that only one side was recorded with, and
// names these.
func recordedOnBoth(res *compared) (notes []string) {
	var only [2][]string
	res.rows = order.Delete(res.rows, func(x compare.Change) bool {
		area := x.Figure.Area
		has := res.areas[area]
		if has[0] && has[1] {
			return false
		}
		side := 0
		if has[1] {
			side = 1
		}
		if !slices.Contains(only[side], area) {
			only[side] = append(only[side], area)
		}
		return true
	})
	for side, areas := range only {
		if len(areas) > 0 {
			notes = append(notes, fmt.Sprintf("%s alone was recorded with events of %s; --all shows it", sideNames[side], strings.Join(areas, ", ")))
		}
	}
	return notes
}

// nothing says that nothing is shown.
func nothing(res *compared) string {
	if res.small == 0 {
		return "no number differs"
	}
	return fmt.Sprintf("no number differs by more than noise and %s %%; %d of %d differ by less, which --all shows", look.PlainFloat(res.threshold), res.small, res.all)
}

// head names the sides, and the meaning of more and less.
func (c *comparing) head(p *show.Printer, sides [2]*side, res *compared, notes []string) {
	p.Prose("", fmt.Sprintf("A is %s, B is %s", cli.Clean(sides[0].title()), cli.Clean(sides[1].title())), 2)
	if c.per != "" {
		p.Prose("", fmt.Sprintf("sums are per %s: of A %s, of B %s", cli.Clean(c.unit.text), sides[0].perText(), sides[1].perText()), 2)
	}
	n, m := len(sides[0].runs), len(sides[1].runs)
	switch {
	case compare.CanTell(n, m):
		p.Prose("", fmt.Sprintf("medians of %d and %d recordings; more and less is the verdict of the rank test (Mann-Whitney) with p of at most %s", n, m, look.PlainFloat(round(compare.SureP(n, m)))), 2)
	case res.small+len(res.rows) > 0:
		p.Prose("", fmt.Sprintf("%s too few to tell how much the program varies, four of each side do: more? and less? may be noise, as times may be that differ by less than a factor of three", fewText(n, m)), 2)
	}
	for _, w := range notes {
		p.Note(w)
	}
}

// fewText says how few recordings there are.
func fewText(a, b int) string {
	if a == 1 && b == 1 {
		return "a single recording of each side is"
	}
	return fmt.Sprintf("%d and %s are", a, show.Count(b, "recording", "recordings"))
}

// title names the recordings of a side.
func (s *side) title() string {
	const most = 3
	if len(s.paths) > most {
		return fmt.Sprintf("%s and %d more", s.paths[0], len(s.paths)-1)
	}
	return strings.Join(s.paths, ", ")
}

// comparedTable returns the rows.
func comparedTable(rows []compare.Change, several bool) *show.Table {
	spreadA, spreadB, p := show.Measured("spreadA", 3).Spared(2), show.Measured("spreadB", 3).Spared(2), show.Measured("p", 3)
	if !several {
		spreadA, spreadB, p = spreadA.ForPrograms(), spreadB.ForPrograms(), p.ForPrograms()
	}
	t := show.NewTable(show.Measured("a", 3), spreadA, show.Measured("b", 3), spreadB, show.Measured("change", 3), show.Measured("changePercent", 1), p, show.Label("verdict"),
		show.Label("metric"), show.Label("area").ForPrograms(), show.Label("name").ForPrograms())
	t.Columns[5].Head = "CHANGE %"
	for i := range rows {
		x := &rows[i]
		t.Add(show.Maybe(x.A.Median), show.Maybe(spreadOf(&x.A)), show.Maybe(x.B.Median), show.Maybe(spreadOf(&x.B)), show.Maybe(changeOf(x)), show.Maybe(x.Percent), show.Maybe(x.P), verdictText(x),
			x.Figure.Metric, x.Figure.Area, x.Figure.Name)
	}
	return t
}

// changeOf returns by how much the sides differ.
func changeOf(x *compare.Change) (by quantity.Float) {
	if x.A.Median != (quantity.Float{}) && x.B.Median != (quantity.Float{}) {
		by = quantity.Known(x.By())
	}
	return by
}

// spreadOf returns how far recordings are apart, of which there are several.
func spreadOf(v *compare.Values) (s quantity.Float) {
	if len(v.Runs) > 1 {
		s = v.Spread
	}
	return s
}

// verdictText is a verdict in a word or two.
func verdictText(c *compare.Change) string {
	switch c.Verdict {
	case compare.OnlyA:
		return "only in A"
	case compare.OnlyB:
		return "only in B"
	case compare.MaybeMore:
		return "more?"
	case compare.MaybeLess:
		return "less?"
	}
	return string(c.Verdict)
}

// wordsOf says how sure a change is.
func wordsOf(c *compare.Change) string {
	word := "more"
	if c.B.Median.Or(0) < c.A.Median.Or(0) {
		word = "less"
	}
	p, ok := c.P.Get()
	switch {
	case c.Verdict == compare.Noise:
		return word + ", which the table calls noise: too few recordings to tell"
	case !ok:
		return word + ", as far as a single recording tells"
	case slices.Max(c.A.Runs) < slices.Min(c.B.Runs) || slices.Min(c.A.Runs) > slices.Max(c.B.Runs):
		word += " in every recording"
	default:
		word += " in rank"
	}
	if !c.Proven {
		return fmt.Sprintf("%s, which %d and %d are too few to prove (p = %s)", word, len(c.A.Runs), len(c.B.Runs), look.PlainFloat(round(p)))
	}
	return fmt.Sprintf("%s (p = %s)", word, look.PlainFloat(round(p)))
}

// round leaves three digits.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func (c *comparing) document(p *show.Printer, sides [2]*side, res *compared) error {
	a, b := sides[0], sides[1]
	doc := ComparedDoc{Schema: 1, A: strings.Join(a.paths, ", "), B: strings.Join(b.paths, ", "), RunsA: a.paths, RunsB: b.paths, LostA: a.lost, LostB: b.lost,
		ThresholdPercent: res.threshold, Compared: res.all, Unshown: res.small, Failed: append([]failure{}, res.failed...), Measures: []comparison{}}
	if c.per != "" {
		doc.Per, doc.PerA, doc.PerB = c.unit.text, a.per, b.per
	}
	for i := range res.rows {
		x := &res.rows[i]
		doc.Measures = append(doc.Measures, comparison{x.Figure.Metric, x.Figure.Area, x.Figure.Name, x.A.Median, x.B.Median, x.Percent, x.Verdict, x.P,
			x.A.Runs, x.B.Runs, spreadOf(&x.A), spreadOf(&x.B)})
	}
	return show.WriteDocument(p, doc, "")
}
