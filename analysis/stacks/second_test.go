package stacks_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The rules of PerfView a second time: sample by sample, without tables or the regular
// expressions of Go. Matches alone are kept, by pattern and name: they are most of the time.

// A step matches runes from a place on, and goes on behind them.
type step func(text []rune, at int, caps []string, then func(at int, caps []string) bool) bool

func oneOf(is func(rune) bool) step {
	return func(text []rune, at int, caps []string, then func(int, []string) bool) bool {
		return at < len(text) && is(text[at]) && then(at+1, caps)
	}
}

// many matches as many runes as can be, and then fewer.
func many(is func(rune) bool) step {
	return func(text []rune, at int, caps []string, then func(int, []string) bool) bool {
		end := at
		for end < len(text) && is(text[end]) {
			end++
		}
		for ; end >= at; end-- {
			if then(end, caps) {
				return true
			}
		}
		return false
	}
}

func row(steps []step) step {
	if len(steps) == 0 {
		return func(_ []rune, at int, caps []string, then func(int, []string) bool) bool { return then(at, caps) }
	}
	rest := row(steps[1:])
	return func(text []rune, at int, caps []string, then func(int, []string) bool) bool {
		return steps[0](text, at, caps, func(at int, caps []string) bool { return rest(text, at, caps, then) })
	}
}

func isPart(r rune) bool {
	return r == '.' || r == '?' || unicode.IsLetter(r) || unicode.In(r, unicode.Mn, unicode.Nd, unicode.Pc)
}

// A secondReader reads a pattern.
type secondReader struct {
	text []rune
	caps int
}

func (p *secondReader) alternatives() step {
	var ways []step
	var now []step
	for len(p.text) > 0 && p.text[0] != '}' {
		c := p.text[0]
		p.text = p.text[1:]
		switch c {
		case '*':
			now = append(now, many(func(r rune) bool { return r != '\n' }))
		case '%':
			now = append(now, many(isPart))
		case '^':
			now = append(now, func(_ []rune, at int, caps []string, then func(int, []string) bool) bool {
				return at == 0 && then(at, caps)
			})
		case '|':
			ways, now = append(ways, row(now)), nil
		case '{':
			p.caps++
			n, inner := p.caps, p.alternatives()
			p.text = p.text[1:]
			now = append(now, func(text []rune, from int, caps []string, then func(int, []string) bool) bool {
				return inner(text, from, caps, func(to int, caps []string) bool {
					caps = slices.Clone(caps)
					caps[n] = string(text[from:to])
					return then(to, caps)
				})
			})
		case '\\', '/':
			now = append(now, oneOf(func(r rune) bool { return r == '/' || r == '\\' }))
		default:
			now = append(now, oneOf(func(r rune) bool { return unicode.ToLower(r) == unicode.ToLower(c) }))
		}
	}
	ways = append(ways, row(now))
	return func(text []rune, at int, caps []string, then func(int, []string) bool) bool {
		for _, way := range ways {
			if way(text, at, caps, then) {
				return true
			}
		}
		return false
	}
}

// secondMatches has the matches of one filter, by pattern and name.
type secondMatches map[[2]string][]string

func (m secondMatches) find(pattern, name string) []string {
	key := [2]string{pattern, name}
	found, ok := m[key]
	if !ok {
		found = secondMatch(pattern, name)
		m[key] = found
	}
	return found
}

// secondMatch returns the match and its captures.
func secondMatch(pattern, name string) []string {
	if expr, ok := strings.CutPrefix(pattern, "@"); ok {
		return regexp.MustCompile("(?i)" + expr).FindStringSubmatch(name)
	}
	p := secondReader{text: []rune(pattern)}
	match := p.alternatives()
	text := []rune(name)
	var found []string
	for from := range len(text) + 1 {
		if match(text, from, make([]string, p.caps+1), func(to int, caps []string) bool {
			found = caps
			found[0] = string(text[from:to])
			return true
		}) {
			return found
		}
	}
	return nil
}

func (m secondMatches) any(list, name string) bool {
	for pattern := range strings.SplitSeq(list, ";") {
		if pattern = strings.TrimSpace(pattern); pattern != "" && m.find(pattern, name) != nil {
			return true
		}
	}
	return false
}

// group returns the name of the group of a frame, "" if it is in none, and whether it is
// an entry group.
func (m secondMatches) group(groups string, f *stacks.Frame) (name string, entry bool) {
	text := f.Full
	if cut := strings.LastIndexAny(f.Module, `/\`); cut >= 0 && strings.Contains(text, "!") {
		text = f.Module[:cut+1] + text
	}
	if strings.HasPrefix(groups, "[") {
		groups = groups[strings.Index(groups, "]")+1:]
	}
	for rule := range strings.SplitSeq(groups, ";") {
		if rule = strings.TrimSpace(rule); rule == "" {
			continue
		}
		pattern, to := rule, "$&"
		if i := strings.Index(rule, "=>"); i >= 0 {
			pattern, to, entry = rule[:i], rule[i+2:], true
		} else if i := strings.Index(rule, "->"); i >= 0 {
			pattern, to = rule[:i], rule[i+2:]
		}
		match := m.find(strings.TrimSpace(pattern), text)
		if match == nil {
			entry = false
			continue
		}
		to = strings.ReplaceAll(strings.TrimSpace(to), "$&", "$0")
		for i, capture := range match {
			to = strings.ReplaceAll(to, fmt.Sprint("$", i), capture)
		}
		if name, text = to, to; entry || to == "" {
			return name, entry
		}
	}
	if name == "" && strings.HasSuffix(f.Full, "!?") {
		name = f.Full
	}
	return name, entry
}

// A secondInfo is PerfView's data of a frame in a stack.
type secondInfo struct{ name, group string }

// apart tells frames of one name apart that no group made one.
const apart = "\x00"

// stack returns the names of a stack, the outermost first, or that it is dropped.
func (m secondMatches) stack(p *stacks.Profile, stack []int, f stacks.Filter) (names []string, ok bool) {
	var wanted []string
	for text := range strings.SplitSeq(f.Include, ";") {
		if text = strings.TrimSpace(text); text != "" {
			wanted = append(wanted, text)
		}
	}
	var caller *secondInfo
	met := make([]bool, len(wanted))
	for _, i := range stack {
		frame := &p.Frames[i]
		x := &secondInfo{name: fmt.Sprint(frame.Full, apart, i)}
		group, entry := m.group(f.Group, frame)
		switch {
		case group != "" && entry:
			x.name, x.group = group+" <<"+frame.Name+">>", group
			if caller != nil && caller.group == group {
				x.name = caller.name
			}
		case group != "":
			x.name = group
		}
		shown, _, _ := strings.Cut(x.name, apart)
		if m.any(f.Exclude, shown) {
			return nil, false
		}
		async := strings.Contains(shown, ".MoveNext()")
		if caller != nil && (m.any(f.Fold, shown) || caller.name == x.name || async && strings.HasPrefix(caller.name, shown+apart)) {
			continue
		}
		for i, p := range wanted {
			met[i] = met[i] || m.find(p, shown) != nil
		}
		names, caller = append(names, x.name), x
	}
	return names, !slices.Contains(met, false)
}

// A secondNode is a part of the call tree.
type secondNode struct {
	self, total int64
	children    map[string]*secondNode
}

// secondSums adds a tree to sums by name, without folded frames. It returns the part of it
// that is its caller's own.
func (n *secondNode) secondSums(name string, path []string, least float64, sums map[string][2]int64) int64 {
	if name != "" && name != "[incomplete stack]" && math.Abs(float64(n.total)) < least {
		return n.total
	}
	self := n.self
	for child, x := range n.children {
		child, _, _ = strings.Cut(child, apart)
		self += x.secondSums(child, append(slices.Clip(path), child), least, sums)
	}
	if name == "" {
		name, path = "[folded]", []string{"", "[folded]"}
		sums[name] = [2]int64{0, self}
	}
	sum := sums[name]
	sum[0] += self
	if !slices.Contains(path[:len(path)-1], name) && name != "[folded]" {
		sum[1] += n.total
	}
	sums[name] = sum
	return 0
}

func second(p *stacks.Profile, f stacks.Filter) map[string][2]int64 {
	root, matches := &secondNode{children: map[string]*secondNode{}}, secondMatches{}
	for s := range p.Samples() {
		stack := slices.Collect(p.Stack(s.Stack))
		slices.Reverse(stack)
		names, ok := matches.stack(p, stack, f)
		if !ok {
			continue
		}
		value, at := s.Values[len(s.Values)-1], root
		root.total += value
		for _, name := range names {
			if at.children[name] == nil {
				at.children[name] = &secondNode{children: map[string]*secondNode{}}
			}
			at = at.children[name]
			at.total += value
		}
		at.self += value
	}
	sums := map[string][2]int64{}
	root.secondSums("", nil, f.FoldPercent/100*math.Abs(float64(root.total)), sums)
	maps.DeleteFunc(sums, func(_ string, x [2]int64) bool { return x == [2]int64{} })
	return sums
}

func first(t *testing.T, p *stacks.Profile, f stacks.Filter) map[string][2]int64 {
	q, err := p.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][2]int64{}
	v, value := q.View(), len(q.Types)-1
	open := map[string]int{}
	var walk func(id stacks.ID)
	walk = func(id stacks.ID) { // by name: two frames can have the same one
		for _, child := range v.Called(id) {
			_, frame := q.Split(child)
			name := q.Frames[frame].Full
			sum := sums[name]
			sum[0] += v.Self(child)[value]
			if open[name]++; open[name] == 1 {
				sum[1] += v.Total(child)[value]
			}
			sums[name] = sum
			walk(child)
			open[name]--
		}
	}
	walk(0)
	maps.DeleteFunc(sums, func(_ string, x [2]int64) bool { return x == [2]int64{} })
	return sums
}

var texts = []stacks.Filter{
	{Group: `[modules] {%}!->module $1`},
	{Group: `{%}!=>module $1`},
	{Group: `{*}!=>module $1`},
	{Group: `{%!*}.%(=>class $1;{%!*}::=>class $1`},
	{Group: `{%!*}.%(->class $1;{%!*}::->class $1`},
	{Group: `{%!*}.%(->class $1;class System.{%}->lib $1;lib Private->core of $&`},
	{Group: `\shared\->;!=>OTHER`},
	{Group: `System%!=>LIB;{%}!=> module $1`},
	{Group: `System.Private.CoreLib!->;{%}!->module $1`},
	{Group: `Threading;Tasks|Collections->$& of $0`},
	{Group: `System.%!System.{%}.{%}->$2 in $1`, Fold: `^Threading`},
	{Fold: `Async;Thread;MoveNext`},
	{Fold: `^System`},
	{Fold: `*`},
	{Include: `System`},
	{Include: `System;Main|Thread`, Fold: `Main`},
	{Include: `^module System`, Group: `{%}!=>module $1`},
	{Exclude: `Thread`},
	{Exclude: `<<*Start*>>`, Group: `System%!=>LIB`},
	{Exclude: `Wait`, Fold: `Wait;Monitor`, Include: `*`},
	{FoldPercent: 5},
	{FoldPercent: 1.5, Group: `{%}!->module $1`},
	{FoldPercent: 20, Group: `System%!=>LIB`, Fold: `Task`, Exclude: `Sleep`},
	{Include: `@^System\.(Private|Threading).*!`, Fold: `@\.ctor|cctor`},
	{Group: `?->unknown;^0x->no name;lib->native`, Fold: `^no name`},
}

// TestSecond holds filters against a second implementation: the sums of each name are equal.
func TestSecond(t *testing.T) {
	compared := 0
	for i, path := range testtrace.Moderate(t) {
		for kind, p := range someOf(t, path) {
			for j, f := range texts {
				if p.Len() == 0 {
					break
				}
				if testing.Short() && (i+j)%8 != 0 { // it takes minutes where all is wanted
					continue
				}
				compared++
				if got, want := first(t, p, f), second(p, f); !maps.Equal(got, want) {
					t.Errorf("%s, %s, %+v: by the first and the second\n%s", testtrace.Name(path), kind, f, differences(got, want))
				}
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Log(compared, "compared")
}

// secondAround returns the callers and callees of the frames that are hit, by number, sample by
// sample, and their exclusive and inclusive weights.
func secondAround(p *stacks.Profile, hit func(*stacks.Frame) bool) (callers, callees map[int]float64, self, total float64) {
	callers, callees = map[int]float64{}, map[int]float64{}
	for s := range p.Samples() {
		stack := slices.Collect(p.Stack(s.Stack)) // the innermost first
		k := 0
		for _, f := range stack {
			if hit(&p.Frames[f]) {
				k++
			}
		}
		for i, f := range stack {
			if !hit(&p.Frames[f]) {
				continue
			}
			part := float64(s.Values[len(s.Values)-1]) / float64(k)
			total += part
			if i == 0 {
				self += part
			} else {
				callees[stack[i-1]] += part
			}
			if i == len(stack)-1 {
				callers[-1] += part
			} else {
				callers[stack[i+1]] += part
			}
		}
	}
	return callers, callees, self, total
}

// TestSecondAround holds callers and callees against a second implementation, and trees of them
// against both.
func TestSecondAround(t *testing.T) {
	compared, recursive := 0, 0
	for _, path := range testtrace.Moderate(t) {
		for kind, p := range someOf(t, path) {
			for _, pattern := range []string{"System", "Main|Thread", "^System.Private.CoreLib!*Task", "Bake"} {
				match, err := stacks.Match(pattern)
				if err != nil {
					t.Fatal(err)
				}
				where := fmt.Sprint(testtrace.Name(path), ", ", kind, ", ", pattern)
				if checkAround(t, where, p, match) {
					recursive++
				}
				compared++
			}
		}
	}
	if compared == 0 || recursive == 0 {
		t.Errorf("%d were compared, of which %d call themselves", compared, recursive)
	}
}

// checkAround reports whether a frame that matches calls one that does.
func checkAround(t *testing.T, where string, p *stacks.Profile, match func(*stacks.Frame) bool) bool {
	t.Helper()
	if p.Len() == 0 {
		return false
	}
	last := len(p.Types) - 1
	callers, callees, self, total := secondAround(p, match)
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by+1e-9*math.Abs(total) {
			t.Errorf("%s: %s %v, want %v", where, what, got, want)
		}
	}
	a := p.View().Around(match)
	near("self", a.Self[last], self, 0)
	near("total", a.Total[last], total, 0)
	for what, list := range map[string][]stacks.Share{"caller": a.Callers, "callee": a.Callees} {
		want := map[string]map[int]float64{"caller": callers, "callee": callees}[what]
		sum := 0.0
		for _, s := range list {
			near(what, s.Values[last], want[s.Frame], 0)
			sum += s.Values[last]
		}
		if what == "callee" {
			sum += self
		}
		near("all of "+what, sum, total, 0)
	}
	once := p.Below(match).View().Total(0)[last]
	for what, q := range map[string]*stacks.Profile{"callers": p.SplitCallers(match), "below": p.SplitBelow(match)} {
		near(what, float64(q.Totals()[last]), total, 1)
		near(what+" as once", float64(q.Totals()[last]), float64(once), 1)
		v := q.View()
		sums := map[int]float64{}
		for _, root := range v.Called(0) {
			for _, child := range v.Called(root) {
				_, frame := q.Split(child)
				sums[frame] += float64(v.Total(child)[last])
			}
		}
		want := map[string]map[int]float64{"callers": callers, "below": callees}[what]
		for frame, x := range sums {
			near(what+" of "+p.Frames[frame].Full, x, want[frame], float64(q.Stacks())) // each stack is rounded
		}
	}
	for frame := range callees {
		if match(&p.Frames[frame]) {
			return true
		}
	}
	return false
}

// someOf returns some of the samples of a trace by kind, with names and stacks as the trace has
// them.
func someOf(t *testing.T, path string) map[string]*stacks.Profile {
	var mux etw.Mux
	code, sources := symbols.New(&mux), map[string]samples.Source{}
	for _, kind := range samples.Kinds[:4] {
		sources[kind.Name] = kind.New(&mux)
	}
	testtrace.Run(t, &mux, path)
	most := 40
	switch {
	case os.Getenv("ETWGEN_SECOND") == "all": // some minutes
		most = 1000
	case corpus.All():
		most = 200
	}
	profiles := map[string]*stacks.Profile{}
	for kind, source := range sources {
		p := stacks.NewProfile(code.Table(), stacks.Options{Raw: true, AsSampled: true}, source.Samples()...)
		n, every := 0, p.Len()/most+1
		profiles[kind] = p.Only(func(stacks.Sample) bool { n++; return n%every == 0 })
	}
	return profiles
}

func differences(got, want map[string][2]int64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != want[name] {
			fmt.Fprintln(&b, name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			fmt.Fprintln(&b, name, "nothing", want[name])
		}
	}
	return b.String()
}
