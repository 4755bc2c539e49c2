package html

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/internal/order"
)

// A Flame is a call tree, and the page that shows it.
type Flame struct {
	// Title names its subject, such as the name of a trace.
	Title string
	// What names the weights, such as Processor time, and Unit is theirs: ms, bytes, or the
	// name of the things counted.
	What, Unit string
	// Lead, Facts and Warnings stand beside it.
	Lead     []string
	Facts    []Fact
	Warnings []string
	// Samples are how many it is made of, and Percent is its weight of that of all processes, 0 without
	// others: of those with few samples beside the others no sentence is said.
	Samples int
	Percent float64
	// Found is said of it beside the method with most weight.
	Found []findings.Finding
	// MayWait says that of most samples nothing tells whether threads waited.
	MayWait bool
	// ByRuntime says that the runtime took the samples, where it could stop threads.
	ByRuntime bool
	// Frames are the names in the tree.
	Frames []Frame
	// Calls are the nodes of the tree: each after the one that called it.
	Calls []Call
	// Compared says that calls have weights of before, to compare with.
	Compared bool
	// Times parts the weights of calls by time, if that is known.
	Times *Times
	// Lines are lines of source code, in the order in which they are shown, and OnLines
	// says which calls are on them.
	Lines   []Line
	OnLines []OnLine
}

// Times are equal buckets of time, with the weights of calls in them by themselves.
type Times struct {
	FromMS, BucketMS float64
	Parts            []Part
}

// A Part is the exclusive weight of a call in a bucket.
type Part struct {
	Bucket, Call int
	Self         float64
}

// A Line is a line of source code.
type Line struct {
	File   string
	Number int
	Method string
	// Self is the exclusive weight of the line, Here that with callees of unknown lines, and
	// Total that with all callees.
	Self, Here, Total float64
}

// An OnLine is a part of the weight of a call with the calls that come from it.
type OnLine struct {
	Call  int // index of the call
	Line  int // index of the line
	Total float64
}

// A Frame is a method, or a stand-in for one.
type Frame struct {
	Name string
	// Full is the name with all that is known, or "" if that is Name.
	Full string
	// Group is the group of the frame, such as its module. Frames of one group have one
	// colour.
	Group string
	// Waiting says that it stands for threads that wait, which come after all methods.
	Waiting bool
}

// A Call is a frame in the place where it was called.
type Call struct {
	// Caller is the index of the call that it comes from, or -1 if there is none.
	Caller int
	Frame  int // index of its frame
	// Self is its exclusive weight; Before is that on the other side of a comparison.
	Self, Before float64
}

// Write writes the call tree as a page. It fails if a call comes before its caller.
func (f *Flame) Write(w io.Writer) error {
	t := newTexts()
	m, err := newTree(f, t)
	if err != nil {
		return err
	}
	data := &flamePage{Title: clean(f.Title), Facts: [][2]string{}, Warnings: []string{}, Lead: []string{}, Flame: m, Top: m.Top, Texts: t}
	if len(f.Lines) > 0 {
		data.Lines = lineTable(f, t)
	}
	for _, fact := range f.Facts {
		data.Facts = append(data.Facts, [2]string{clean(fact.Name), clean(fact.Text)})
	}
	p := &page{title: data.Title, kind: "flame", data: data,
		styles: []string{"base.css", "parts.css", "report.css", "flame.css"}, scripts: []string{"base.js", "table.js", "flame.js", "flamepage.js"}}
	for _, text := range f.Lead {
		data.Lead = append(data.Lead, sentence(clean(text)))
	}
	for _, text := range f.Warnings {
		data.Warnings = append(data.Warnings, clean(text))
	}
	data.Warnings = append(data.Warnings, m.notes...)
	p.lines = append(p.lines, data.Warnings...)
	for i, name := range m.Top.Columns[0].Texts[:min(m.Top.rows, topLines)] {
		p.lines = append(p.lines, fmt.Sprintf("%s %s: %s", precise(m.Top.Columns[1].Numbers.values[i]), m.Unit, t.list[name]))
	}
	return p.write(w)
}

// topLines is how many methods are listed where no script runs.
const topLines = 20

// A flamePage is the data of the page's scripts.
type flamePage struct {
	Title    string      `json:"title"`
	Facts    [][2]string `json:"facts"`
	Warnings []string    `json:"warnings"`
	Lead     []string    `json:"lead"`
	Flame    *tree       `json:"flame"`
	Top      *table      `json:"top"`
	Lines    *table      `json:"lines,omitempty"`
	Texts    *texts      `json:"texts"`
}

// A tree is a call tree as the scripts have it: column by column.
type tree struct {
	What     string      `json:"what"`
	Unit     string      `json:"unit"`
	Compared bool        `json:"compared,omitempty"`
	Names    []int       `json:"names"` // of frames, as texts
	Full     []int       `json:"full"`
	Groups   []int       `json:"groups"`
	Caller   []int       `json:"caller"`
	Frame    []int       `json:"frame"`
	Self     *numbers    `json:"self"`
	Before   *numbers    `json:"before,omitempty"`
	Times    *flameTimes `json:"times,omitempty"`
	// Lines are names of lines, as texts. Line OnLine[i] has OnTotal[i] of call OnCall[i].
	Lines   []int    `json:"lines,omitempty"`
	OnCall  []int    `json:"onCall,omitempty"`
	OnLine  []int    `json:"onLine,omitempty"`
	OnTotal *numbers `json:"onTotal,omitempty"`
	Top     *table   `json:"-"`
	notes   []string
}

// maxCalls is how many calls a page has. Calls too light to be seen go first.
const maxCalls = 150_000

// newTree makes a tree of a call tree.
func newTree(f *Flame, t *texts) (*tree, error) {
	for i, c := range f.Calls {
		if c.Caller >= i || c.Caller < -1 || c.Frame < 0 || c.Frame >= len(f.Frames) {
			return nil, fmt.Errorf("html: call %d of %d comes from call %d and has frame %d of %d", i, len(f.Calls), c.Caller, c.Frame, len(f.Frames))
		}
	}
	m := &tree{What: clean(f.What), Unit: clean(f.Unit), Compared: f.Compared,
		Names: []int{}, Full: []int{}, Groups: []int{}, Caller: []int{}, Frame: []int{}}
	for _, fr := range f.Frames {
		m.Names = append(m.Names, t.id(fr.Name))
		m.Full = append(m.Full, t.id(cmp.Or(fr.Full, fr.Name)))
		m.Groups = append(m.Groups, t.id(fr.Group))
	}
	weights := totals(f.Calls)
	m.Top = topTable(f, weights, t)
	calls := f.Calls
	if len(calls) > maxCalls {
		calls = heaviest(calls, weights, len(m.Names))
		m.Names, m.Full, m.Groups = append(m.Names, t.id(lighterName)), append(m.Full, t.id(lighterName)), append(m.Groups, emptyText)
		m.notes = append(m.notes, fmt.Sprintf("the tree has %s calls: the lightest are put together, and shown as %s", grouped(float64(len(f.Calls)), 0), lighterName))
	}
	if len(f.Calls) == len(calls) {
		m.addLines(f, t)
		m.addTimes(f)
	}
	self, before := make([]float64, len(calls)), make([]float64, len(calls))
	for i, c := range calls {
		m.Caller, m.Frame = append(m.Caller, c.Caller), append(m.Frame, c.Frame)
		self[i], before[i] = c.Self, c.Before
	}
	m.Self = &numbers{values: self, digits: 3}
	if f.Compared {
		m.Before = &numbers{values: before, digits: 3}
	}
	return m, nil
}

// A weight is the inclusive weight of a call.
type weight struct{ now, before float64 }

func (w weight) greater() float64 { return max(w.now, w.before) }

func totals(calls []Call) []weight {
	all := make([]weight, len(calls))
	for i := len(calls) - 1; i >= 0; i-- {
		c := calls[i]
		all[i].now += c.Self
		all[i].before += c.Before
		if c.Caller >= 0 {
			all[c.Caller].now += all[i].now
			all[c.Caller].before += all[i].before
		}
	}
	return all
}

// lighterName is the frame that stands for calls that are left out.
const lighterName = "[lighter calls]"

// heaviest returns the heaviest calls. The others are put together below their
// callers, as calls of a frame of its own.
func heaviest(calls []Call, weights []weight, lighter int) []Call {
	order := make([]float64, len(calls))
	for i, w := range weights {
		order[i] = w.greater()
	}
	slices.Sort(order)
	// No call weighs more than its caller, so that callers of calls that stay do stay. Half
	// of the room is left for merged calls.
	least := order[len(order)-maxCalls/2]
	into := make([]int, len(calls))
	rest := make(map[int]int) // by the new index of the caller
	var kept []Call
	for i, c := range calls {
		caller := -1
		if c.Caller >= 0 {
			caller = into[c.Caller]
		}
		if weights[i].greater() > least {
			into[i] = len(kept)
			c.Caller = caller
			kept = append(kept, c)
			continue
		}
		if c.Caller >= 0 && weights[c.Caller].greater() <= least { // its caller is put together with others
			into[i] = caller
			kept[caller].Self += c.Self
			kept[caller].Before += c.Before
			continue
		}
		k, ok := rest[caller]
		if !ok {
			k = len(kept)
			rest[caller] = k
			kept = append(kept, Call{Caller: caller, Frame: lighter})
		}
		into[i] = k
		kept[k].Self += c.Self
		kept[k].Before += c.Before
	}
	return kept
}

// flameTimes has the weights of calls over time, column by column. Times are seconds.
type flameTimes struct {
	From  float64  `json:"from"`
	Width float64  `json:"width"`
	At    []int    `json:"at"`
	Call  []int    `json:"call"`
	Self  *numbers `json:"self"`
}

// addTimes adds the weights of calls over time.
func (m *tree) addTimes(f *Flame) {
	if f.Times == nil {
		return
	}
	m.Times = &flameTimes{From: f.Times.FromMS / 1000, Width: f.Times.BucketMS / 1000, At: []int{}, Call: []int{}}
	self := make([]float64, 0, len(f.Times.Parts))
	for _, p := range f.Times.Parts {
		if p.Call >= 0 && p.Call < len(f.Calls) {
			m.Times.At, m.Times.Call = append(m.Times.At, p.Bucket), append(m.Times.Call, p.Call)
			self = append(self, p.Self)
		}
	}
	m.Times.Self = &numbers{values: self, digits: 3}
}

// addLines adds which calls are on which lines.
func (m *tree) addLines(f *Flame, t *texts) {
	if len(f.Lines) == 0 || len(f.OnLines) > maxCalls {
		return
	}
	for _, l := range f.Lines {
		m.Lines = append(m.Lines, t.id(lineName(l)))
	}
	totals := make([]float64, 0, len(f.OnLines))
	for _, on := range f.OnLines {
		if on.Call >= 0 && on.Call < len(f.Calls) && on.Line >= 0 && on.Line < len(f.Lines) {
			m.OnCall, m.OnLine = append(m.OnCall, on.Call), append(m.OnLine, on.Line)
			totals = append(totals, on.Total)
		}
	}
	m.OnTotal = &numbers{values: totals, digits: 3}
}

// lineName is the name of the file, without its folder, and the line.
func lineName(l Line) string {
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(l.File, `\`, "/")), l.Number)
}

// lineTable lists the lines.
func lineTable(f *Flame, t *texts) *table {
	rows := shown(f.Lines)
	list := &table{ID: "lines", Title: "Lines", Sort: "here", Lead: "Here is a line with what it calls of which no line is known, such as the code of .NET.", texts: t}
	word(list, rows, column{Key: "line", Label: "Line"}, lineName)
	num(list, rows, column{Key: "self", Label: "Self", Unit: f.Unit, Digits: 3, Help: "by itself"}, func(l Line) float64 { return l.Self })
	num(list, rows, column{Key: "here", Label: "Here", Unit: f.Unit, Digits: 3, Share: true}, func(l Line) float64 { return l.Here })
	num(list, rows, column{Key: "total", Label: "Total", Unit: f.Unit, Digits: 3, Share: true, Help: "with what it calls"}, func(l Line) float64 { return l.Total })
	word(list, rows, column{Key: "method", Label: "Method"}, func(l Line) string { return l.Method })
	word(list, rows, column{Key: "file", Label: "File", Detail: true}, func(l Line) string { return l.File })
	cutOff(list, len(f.Lines))
	return list
}

// topTable lists the frames by weight. A frame that calls itself weighs its outermost call.
func topTable(f *Flame, weights []weight, t *texts) *table {
	type row struct {
		frame       int
		self, total weight
	}
	rows := make([]row, len(f.Frames))
	outer := make([]bool, len(f.Calls)) // whether no caller has the same frame
	for i := range rows {
		rows[i].frame = i
	}
	var all weight
	for i, c := range f.Calls {
		outer[i] = true
		for at := c.Caller; at >= 0; at = f.Calls[at].Caller {
			if f.Calls[at].Frame == c.Frame {
				outer[i] = false
				break
			}
		}
		r := &rows[c.Frame]
		r.self.now += c.Self
		r.self.before += c.Before
		if outer[i] {
			r.total.now += weights[i].now
			r.total.before += weights[i].before
		}
		all.now += c.Self
		all.before += c.Before
	}
	order.Stable(rows, func(a, b row) int {
		if x := f.Frames[a.frame].Waiting; x != f.Frames[b.frame].Waiting {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.self.greater(), a.self.greater()), cmp.Compare(b.total.greater(), a.total.greater()))
	})
	n := len(rows)
	rows = shown(rows)
	top := &table{ID: "top", Title: "Methods", Sort: "self", texts: t}
	for i, r := range rows {
		if f.Frames[r.frame].Waiting {
			top.Last = append(top.Last, i)
		}
	}
	if f.Times != nil {
		for _, r := range rows {
			top.Frames = append(top.Frames, r.frame)
		}
	}
	share := func(v, of float64) float64 {
		if of == 0 {
			return nan
		}
		return 100 * v / of
	}
	word(top, rows, column{Key: "name", Label: "Method"}, func(r row) string { return f.Frames[r.frame].Name })
	num(top, rows, column{Key: "self", Label: "Self", Unit: f.Unit, Digits: 3, Share: true, Help: "by itself"}, func(r row) float64 { return r.self.now })
	num(top, rows, column{Key: "selfPercent", Label: "Self", Unit: "%", Digits: 2}, func(r row) float64 { return share(r.self.now, all.now) })
	num(top, rows, column{Key: "total", Label: "Total", Unit: f.Unit, Digits: 3, Share: true, Help: "with what it calls; recursion counts once"}, func(r row) float64 { return r.total.now })
	num(top, rows, column{Key: "totalPercent", Label: "Total", Unit: "%", Digits: 2}, func(r row) float64 { return share(r.total.now, all.now) })
	if f.Compared {
		num(top, rows, column{Key: "before", Label: "Self before", Unit: f.Unit, Digits: 3}, func(r row) float64 { return r.self.before })
		num(top, rows, column{Key: "change", Label: "Change of share", Unit: "points", Digits: 2}, func(r row) float64 { return share(r.self.now, all.now) - share(r.self.before, all.before) })
	}
	word(top, rows, column{Key: "group", Label: "Module"}, func(r row) string { return f.Frames[r.frame].Group })
	cutOff(top, n)
	return top
}

// addProfiles adds the call trees of a process.
func addProfiles(v *view, s *subject, t *texts) error {
	for i, f := range s.profiles {
		m, err := newTree(f, t)
		if err != nil {
			return err
		}
		v.weight += f.Samples
		sec := &section{ID: profileID, Title: m.What, Flame: m, Tables: []*table{m.Top}}
		if i > 0 {
			sec.ID = fmt.Sprint(profileID, i)
			m.Top.ID = fmt.Sprint("top", i)
		}
		for _, text := range slices.Concat(f.Lead, f.Warnings, m.notes) {
			sec.Lead = append(sec.Lead, sentence(clean(text)))
		}
		v.Sections = append(v.Sections, sec)
		for i := range f.Found {
			f.Found[i].Part = sec.ID
		}
		v.add(f.Found)
		if m.Top.rows == 0 || findings.Few(f.Samples, s.most) {
			continue
		}
		top := m.Top.Columns
		all, waiting := 0.0, 0.0
		for _, c := range f.Calls {
			if all += c.Self; f.Frames[c.Frame].Waiting {
				waiting += c.Self
			}
		}
		found := findings.Code(findings.OfAll(m.What, f.Percent), t.list[top[0].Texts[0]], top[1].Numbers.values[0], all, waiting, f.MayWait, f.ByRuntime)
		for i := range found {
			found[i].Part = sec.ID
		}
		v.add(found)
	}
	return nil
}

// profileID is the id of the area of the first call tree of a process.
const profileID = "cpu"
