package code

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
)

// sourceLines finds the lines of code, and notes why there are none.
type sourceLines struct {
	*pdb.Lines
	asked, mapped int
	missing       []symbols.Module // of which there is no PDB
	served        bool
	elsewhere     func(d pdb.Document, link string) (path string, err error)
}

// open prepares finding lines in files of symbols.
func (l *sourceLines) open(files *native.Dir) {
	l.Lines = pdb.NewLines(func(m symbols.Module) *pdb.File {
		var f *pdb.File
		if files != nil {
			f = files.Lines(m)
		}
		if f == nil && !m.PDB.GUID.IsZero() {
			l.missing = append(l.missing, m)
		}
		return f
	})
}

// linesIfKnown asks for lines, if there is a folder that may have them.
func (o *Profiling) linesIfKnown() {
	if o.Symbols.Path != "" && o.before == "" {
		o.sourced = new(sourceLines)
	}
}

// flame returns the call tree of a profile as a page shows it, with lines if they are
// known.
func (p *Profiled) flame() *html.Flame {
	if !slices.ContainsFunc(p.Frames, func(f stacks.Frame) bool { return f.Line > 0 }) {
		return callTree(p.Profile, p.compared)
	}
	methods, into := p.WithoutLines()
	f, index := callTreeOf(methods, p.compared)
	u := p.unit()
	numbers := make(map[LinePlace]int)
	weights := p.weighLines(func(*stacks.Frame) bool { return true })
	for _, place := range p.placesOf(weights) {
		w := weights[place]
		numbers[place] = len(f.Lines)
		f.Lines = append(f.Lines, html.Line{File: place.File, Number: place.Line, Method: w.method(),
			Self: float64(lastOf(w.self)) / u.per, Here: float64(lastOf(w.here)) / u.per, Total: float64(lastOf(w.total)) / u.per})
	}
	totals := make([]int64, p.Stacks())
	for s := range p.Samples() {
		totals[s.Stack] += lastOf(s.Values)
	}
	for id := len(totals) - 1; id > 0; id-- { // callers have smaller numbers
		caller, frame := p.Split(stacks.ID(id))
		totals[caller] += totals[id]
		if fr := &p.Frames[frame]; fr.Line > 0 && totals[id] != 0 {
			f.OnLines = append(f.OnLines, html.OnLine{Call: index[into[id]], Line: numbers[LinePlace{fr.File, fr.Line}], Total: float64(totals[id]) / u.per})
		}
	}
	return f
}

// source answers profiles that ask for lines.
func (l *sourceLines) source(loc *symbols.Location) (file string, line int, ok bool) {
	l.asked++
	if _, ok := loc.ILOffset(); ok {
		l.mapped++
	}
	return l.Source(loc)
}

// note names the files that would tell more lines.
func (l *sourceLines) note(p *Profiled) {
	if p.Kind == cpu.ThreadTime && p.Len() > 0 {
		p.warnings = append(p.warnings, "EventPipe looks at a thread where it next can be stopped, such as at a call or the end of a turn of a loop: a line may have the time of one before it")
	}
	if l.asked > 0 && l.mapped == 0 {
		p.warnings = append(p.warnings, "the trace does not tell which code is of which IL, and so of which line: record with the keyword JittedMethodILToNativeMap (0x20000) of "+need.CLR)
		return
	}
	if len(l.missing) == 0 {
		return
	}
	own := order.Delete(slices.Clone(l.missing), func(m symbols.Module) bool {
		return strings.HasPrefix(m.Name(), "System.") || strings.HasPrefix(m.Name(), "Microsoft.")
	})
	if len(own) == 0 { // those of .NET nobody has
		return
	}
	order.Sort(own, func(a, b symbols.Module) int { return strings.Compare(a.Name(), b.Name()) })
	names := each.Of(own[:min(3, len(own))], func(m symbols.Module) string { return fmt.Sprintf("%s (id %v)", m.Name(), m.PDB.GUID) })
	text := "no portable PDB is at hand of " + strings.Join(names, ", ")
	if n := len(own) - len(names); n > 0 {
		text += " and " + show.Count(n, "other module", "other modules")
	}
	p.warnings = append(p.warnings, text+": --symbols FOLDER says where they are, --symbol-path which servers may have them")
}

// noLines says why there are no lines of the methods that were asked for.
func (p *Profiled) noLines(method func(*stacks.Frame) bool) error {
	for s := range p.Samples() {
		for i := range p.Stack(s.Stack) {
			if method(&p.Frames[i]) {
				return errors.New("no line is known of the methods that --method asks for")
			}
		}
	}
	return fmt.Errorf("of %s none is in a method that --method asks for", show.Count(int(p.Totals()[0]), "sample", "samples"))
}

// A LinePlace is a line of a file.
type LinePlace struct {
	File string
	Line int
}

// A lineWeight is the weight of a line.
type lineWeight struct {
	self, here, total []int64
	methods           map[string]int64 // what it weighs in each method
}

// weighLines returns the weights of the lines of methods.
func (p *Profiled) weighLines(method func(*stacks.Frame) bool) map[LinePlace]*lineWeight {
	lines := make(map[LinePlace]*lineWeight)
	var met []LinePlace
	for s := range p.Samples() {
		met = met[:0]
		innermost, known := true, false
		for i := range p.Stack(s.Stack) {
			f := &p.Frames[i]
			if f.Line == 0 {
				innermost = false
				continue
			}
			first := !known
			known = true
			place := LinePlace{f.File, f.Line}
			if !method(f) || slices.Contains(met, place) {
				innermost = false
				continue
			}
			met = append(met, place)
			w := lines[place]
			if w == nil {
				n := len(s.Values)
				w = &lineWeight{make([]int64, n), make([]int64, n), make([]int64, n), make(map[string]int64)}
				lines[place] = w
			}
			w.add(s.Values, innermost, first)
			w.methods[f.Name] += lastOf(s.Values)
			innermost = false
		}
	}
	return lines
}

// add adds a sample: innermost if its innermost frame is on the line, first if no line is
// known of those that were called from there.
func (w *lineWeight) add(values []int64, innermost, first bool) {
	for i, v := range values {
		w.total[i] += v
		if first {
			w.here[i] += v
		}
		if innermost {
			w.self[i] += v
		}
	}
}

// method returns the method that most of the line's weight is in.
func (w *lineWeight) method() string {
	var best string
	for name, v := range w.methods {
		if best == "" || v > w.methods[best] || v == w.methods[best] && name < best {
			best = name
		}
	}
	return best
}

// placesOf returns lines, those that weigh most first.
func (p *Profiled) placesOf(lines map[LinePlace]*lineWeight) []LinePlace {
	places := make([]LinePlace, 0, len(lines))
	for place := range lines {
		places = append(places, place)
	}
	order.Sort(places, func(a, b LinePlace) int {
		x, y := lines[a], lines[b]
		return cmp.Or(cmp.Compare(lastOf(y.here), lastOf(x.here)), cmp.Compare(lastOf(y.total), lastOf(x.total)), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return places
}

// lineTable returns the lines, those that weigh most first.
func (p *Profiled) lineTable(lines map[LinePlace]*lineWeight) *show.Table {
	all := p.lastTotal()
	columns := slices.Concat(
		sharing(p, "self", all, func(l LinePlace) []int64 { return lines[l].self })[:1],
		sharing(p, "here", all, func(l LinePlace) []int64 { return lines[l].here }),
		sharing(p, "total", all, func(l LinePlace) []int64 { return lines[l].total }))
	columns = append(columns, counts(p, func(l LinePlace) []int64 { return lines[l].here })...)
	return pick.Rows(p.placesOf(lines), append(columns,
		views.Text("source", func(l LinePlace) string { return pick.LastPart(l.File) + ":" + strconv.Itoa(l.Line) }).For(views.People),
		views.Text("file", func(l LinePlace) string { return l.File }).For(views.Programs),
		views.Count("line", func(l LinePlace) int { return l.Line }).For(views.Programs),
		views.Text("method", func(l LinePlace) string { return lines[l].method() }))...)
}
