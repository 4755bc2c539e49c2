package stacks

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	counts = ValueType{"samples", "count"}
	times  = ValueType{"time", "nanoseconds"}
)

func stack(addresses ...byte) etw.Stack {
	s := etw.Stack{PtrSize: etw.Ptr32}
	for _, a := range addresses {
		s.Addresses = append(s.Addresses, a, 0, 0, 0x80)
	}
	return s
}

func record(process int64, s etw.Stack) *etw.Record {
	return &etw.Record{ProcessID: process, ThreadID: process * 10, Timestamp: 7, Stack: s}
}

func TestSamples(t *testing.T) {
	s := NewSamples("test", counts, times)
	a := s.Label(0, "type", "a")
	s.Add(record(1, stack(1, 2)), a, 1, 10)
	s.Add(record(1, stack(1, 2)), a, 2, 5)
	s.Add(record(1, stack(1, 2)), s.Label(0, "type", "b"), 1, 20)
	s.Add(record(1, stack(3)), a, 1, 20)
	s.Add(record(2, stack(3)), s.Label(a, "state", "x"), 1, 1)
	s.Add(record(2, etw.Stack{}), 0, 1, 1)
	sums := s.Sum()
	if len(sums) != 5 || sums[0].Label("type") != "a" || sums[1].Label("type") != "b" || sums[2].Values != [2]int64{3, 15} || len(sums[3].Stack) != 0 {
		t.Errorf("%+v", sums)
	}
	if w := sums[4]; w.Label("state") != "x" || w.Label("none") != "" || !slices.Equal(w.Stack, Stack{0x80000003}) {
		t.Errorf("%+v", w)
	}
	if sums := s.SumByStack(); len(sums) != 4 || sums[0].Values != [2]int64{4, 35} {
		t.Errorf("%+v", sums)
	}
	all := slices.Collect(s.All())
	if x := all[4]; len(all) != s.Len() || x.Process != 2 || x.Thread != 20 || x.Time != 7 || len(x.Labels) != 2 || !slices.Equal(x.Values, []int64{1, 1}) {
		t.Errorf("%+v", all)
	}
	if got := s.Stack(s.Intern(1, stack(1, 2))); !slices.Equal(got, Stack{0x80000001, 0x80000002}) {
		t.Errorf("%x", got)
	}
	if s.Intern(1, stack(3)) == s.Intern(2, stack(3)) {
		t.Error("stacks of two processes are one")
	}
}

func TestInternAllocates(t *testing.T) {
	s := NewSamples("test", counts)
	r := record(1, stack(1, 2, 3, 4))
	id := s.Intern(1, r.Stack)
	if n := testing.AllocsPerRun(100, func() {
		if s.Intern(1, r.Stack) != id || s.Label(0, "k", "v") != 1 {
			t.Error("another number")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	// Without the table of whole stacks the tree finds it, too.
	s.known = knownStacks{}
	if s.Intern(1, r.Stack) != id || s.tree.size() != 6 {
		t.Errorf("%d nodes", s.tree.size())
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(Stack{1, 0xffffffffffffffff})
	if err != nil || string(b) != `["0x1","0xffffffffffffffff"]` {
		t.Fatalf("%s, %v", b, err)
	}
	var back Stack
	if err := json.Unmarshal(b, &back); err != nil || !slices.Equal(back, Stack{1, 0xffffffffffffffff}) {
		t.Errorf("%x, %v", back, err)
	}
	for _, bad := range []string{`"x"`, `["x"]`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is taken as a stack", bad)
		}
	}
}

// parse makes a profile of lines such as "Main;Work;Bake 5": frames from the outermost on,
// and the weight of the sample.
func parse(lines ...string) *Profile {
	p := &Profile{Kind: "test", Types: []ValueType{counts, times}, tallied: new(tallied), shapes: newRecent(maxShapes), picked: newRecent(maxPicked)}
	numbers := map[string]int{}
	for i, line := range lines {
		path, weight, _ := strings.Cut(line, " ")
		at := int32(0)
		for name := range strings.SplitSeq(path, ";") {
			if _, ok := numbers[name]; !ok {
				numbers[name] = len(p.Frames)
				p.Frames = append(p.Frames, Frame{Name: name, Full: name, Kind: 1})
			}
			at = p.tree.child(at, uint64(numbers[name]))
		}
		x := row{at: int64(i), stack: ID(at), tag: p.tag(tag{thread: p.thread(1, 1)})}
		x.values[0] = 1
		fmt.Sscan(weight, &x.values[1])
		p.push(x)
	}
	p.tree.close()
	p.countNames()
	return p
}

// lines is the reverse of parse, with equal stacks added up.
func lines(p *Profile) []string {
	var list []string
	for _, path := range p.View().Paths() {
		var names []string
		for f := range p.Stack(path.Stack) {
			names = append(names, p.Frames[f].Name)
		}
		slices.Reverse(names)
		list = append(list, fmt.Sprintf("%s %d", strings.Join(names, ";"), path.Values[1]))
	}
	slices.Sort(list)
	return list
}

var bakery = []string{"Main;Work;Bake 5", "Main;Work 1", "Main;Work;Bake 2", "Main;Work;Work;Bake 3", "Main;Sys.Sleep;Sys.Wait 10", "Main;Cb;Work;Bake 4"}

func TestView(t *testing.T) {
	p := parse(bakery...)
	v := p.View()
	if !slices.Equal(v.Total(0), []int64{6, 25}) || !slices.Equal(p.Totals(), []int64{6, 25}) {
		t.Errorf("totals %v, %v", v.Total(0), p.Totals())
	}
	got := map[string]string{}
	for _, row := range v.Top() {
		got[p.Frames[row.Frame].Name] = fmt.Sprint(row.Self, row.Total)
	}
	for name, want := range map[string]string{"Main": "[0 0] [6 25]", "Work": "[1 1] [5 15]", "Bake": "[4 14] [4 14]", "Sys.Sleep": "[0 0] [1 10]", "Cb": "[0 0] [1 4]"} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	main := v.Called(0)
	if len(main) != 1 {
		t.Fatalf("%v", main)
	}
	var order []string
	for _, id := range v.Called(main[0]) {
		caller, frame := p.Split(id)
		if caller != main[0] {
			t.Errorf("%d is called by %d", id, caller)
		}
		order = append(order, fmt.Sprint(p.Frames[frame].Name, v.Self(id), v.Total(id)))
	}
	if want := "[Work[1 1] [4 11] Sys.Sleep[0 0] [1 10] Cb[0 0] [1 4]]"; fmt.Sprint(order) != want {
		t.Errorf("%v, want %s", order, want)
	}
}

func TestFilter(t *testing.T) {
	for _, test := range []struct {
		name string
		f    Filter
		want []string
	}{
		{"include", Filter{Include: "cb;bake"}, []string{"Main;Cb;Work;Bake 4"}},
		{"exclude", Filter{Exclude: "Bake;Sleep"}, []string{"Main;Work 1"}},
		{"fold", Filter{Fold: "^Work|Cb"}, []string{"Main 1", "Main;Bake 14", "Main;Sys.Sleep;Sys.Wait 10"}},
		{"fold all", Filter{Fold: "*"}, []string{"Main 25"}},
		{"include what is folded", Filter{Include: "Cb", Fold: "Cb"}, nil},
		{"exclude what is folded", Filter{Exclude: "Cb;Work", Fold: "Cb"}, []string{"Main;Sys.Sleep;Sys.Wait 10"}},
		{"group", Filter{Group: "Sys.%->system"}, []string{"Main;Cb;Work;Bake 4", "Main;Work 1", "Main;Work;Bake 10", "Main;system 10"}},
		{"chain", Filter{Group: "Sys.%->deep system;system->shallow;^shallow$->never;Bake->;Bake->never"}, []string{"Main;Cb;Work;Bake 4", "Main;Work 1", "Main;Work;Bake 10", "Main;shallow 10"}},
		{"what matched", Filter{Group: "Sys.S;{^W}=>$1$2$&"}, []string{"Main;Cb;W$2W <<Work>>;Bake 4", "Main;Sys.S;Sys.Wait 10", "Main;W$2W <<Work>> 1", "Main;W$2W <<Work>>;Bake 10"}},
		{"grouped names alone", Filter{Group: "Sys.%->system", Exclude: "Sleep;Wait"}, []string{"Main;Cb;Work;Bake 4", "Main;Work 1", "Main;Work;Bake 10", "Main;system 10"}},
		{"entry", Filter{Group: "[what sleeps] {Sys}.%=>$1 group; Work->;%k%=>oven"}, []string{"Main;Cb;Work;oven <<Bake>> 4", "Main;Sys group <<Sys.Sleep>> 10", "Main;Work 1", "Main;Work;oven <<Bake>> 10"}},
		{"expression", Filter{Include: "@^sys\\.w"}, []string{"Main;Sys.Sleep;Sys.Wait 10"}},
		{"group and fold", Filter{Group: "Sys->system", Fold: "^system"}, []string{"Main 10", "Main;Cb;Work;Bake 4", "Main;Work 1", "Main;Work;Bake 10"}},
		{"small", Filter{FoldPercent: 20}, []string{"Main 4", "Main;Sys.Sleep;Sys.Wait 10", "Main;Work 1", "Main;Work;Bake 10"}},
	} {
		p := parse(bakery...)
		q, err := p.Apply(test.f)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := lines(q); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := lines(p); !slices.Equal(got, lines(parse(bakery...))) {
			t.Errorf("%s changes the profile: %q", test.name, got)
		}
	}
	for _, bad := range []Filter{{Include: "@("}, {Exclude: "@("}, {Fold: "@("}, {Group: "[no preset]"}, {Group: "@(->x"}, {Include: strings.Repeat("a;", 65)}} {
		if _, err := parse(bakery...).Apply(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestTransforms(t *testing.T) {
	p := parse(bakery...)
	match, err := Match("^Work")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		p    *Profile
		want []string
	}{
		{"below", p.Below(match), []string{"Work 1", "Work;Bake 11", "Work;Work;Bake 3"}},
		{"callers", p.CallersOf(match), []string{"Work;Cb;Main 4", "Work;Main 11"}},
		{"inverted", p.Inverted(), []string{"Bake;Work;Cb;Main 4", "Bake;Work;Main 7", "Bake;Work;Work;Main 3", "Sys.Wait;Sys.Sleep;Main 10", "Work;Main 1"}},
		{"only", p.Only(func(s Sample) bool { return s.Time < 2 }), []string{"Main;Work 1", "Main;Work;Bake 5"}},
		{"by", p.By(func(s Sample) string { return fmt.Sprint("t", s.Time/5) }), []string{"t0;Main;Sys.Sleep;Sys.Wait 10", "t0;Main;Work 1", "t0;Main;Work;Bake 7", "t0;Main;Work;Work;Bake 3", "t1;Main;Cb;Work;Bake 4"}},
	} {
		if got := lines(test.p); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if _, err := Match("@("); err == nil {
		t.Error("a bad pattern is taken")
	}
}

func TestDiff(t *testing.T) {
	d := Diff(parse("Main;Work 5", "Main;Old 2"), parse("Main;Work 9", "Main;New;Work 1"))
	got := map[string]string{}
	for _, row := range d.View().Top() {
		got[d.Frames[row.Frame].Name] = fmt.Sprint(row.Self)
	}
	if want := (map[string]string{"Work": "[5 10]", "Old": "[2 0]", "New": "[0 0]", "Main": "[0 0]"}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	p := parse(bakery...)
	for _, row := range Diff(p, p).View().Top() {
		if row.Self[0] != row.Self[1] || row.Total[0] != row.Total[1] {
			t.Errorf("%+v", row)
		}
	}
	if d := Diff(&Profile{}, p); len(d.Totals()) != 2 || d.Totals()[1] != 25 {
		t.Errorf("%v", d.Totals())
	}
}

// A profile of no samples has no results, but does not fail.
func TestEmpty(t *testing.T) {
	p := NewProfile(nil, Options{})
	q, err := p.Apply(Filter{Group: "a->b", Fold: "c", FoldPercent: 50, Include: "d"})
	if err != nil || q.Len() != 0 || len(q.View().Top()) != 0 || len(q.Inverted().View().Paths()) != 0 || p.Naming.Percent() != 100 {
		t.Errorf("%+v, %v", q, err)
	}
}

// FuzzFilter applies filters of any text to a profile: totals stay, but for samples that are
// left out.
func FuzzFilter(f *testing.F) {
	f.Add("Work;Bake", "Cb", "Sys.%->system;{%}ork=>$1", "Bake|Main", 20.0)
	f.Add("@^M", "", "[x] a->b->c;=>", "*", 100.0)
	f.Fuzz(func(t *testing.T, include, exclude, group, fold string, percent float64) {
		p := parse(bakery...)
		q, err := p.Apply(Filter{Include: include, Exclude: exclude, Group: group, Fold: fold, FoldPercent: percent})
		if err != nil {
			return
		}
		want := int64(0)
		for s := range q.Samples() {
			want += s.Values[1]
		}
		self := int64(0)
		for _, row := range q.View().Top() {
			self += row.Self[1]
		}
		if q.View().Total(0)[1] != want || self != want || q.Len() > p.Len() || q.Len() == p.Len() && want != 25 {
			t.Errorf("%d by samples, %v by tree, %d by method", want, q.View().Total(0), self)
		}
	})
}

// The runtime's work of throwing is its caller's, and a stack of nothing else stays.
func TestWithoutInnermost(t *testing.T) {
	s := NewSamples("exceptions", ValueType{"exceptions", "count"})
	for _, stack := range [][]uint64{{1, 2, 7, 9}, {1, 7, 1, 9}, {2, 1}, {}} {
		s.AddStack(time.Unix(0, 0), 1, 1, s.InternAddresses(1, stack), 0, 1)
	}
	p := NewProfile(nil, Options{}, s)
	machinery := map[string]bool{"0x1": true, "0x2": true}
	q := p.WithoutInnermost(func(f *Frame) bool { return machinery[f.Name] })
	var got []string
	for x := range q.Samples() {
		text := ""
		for f := range q.Stack(x.Stack) {
			text += q.Frames[f].Name + " "
		}
		got = append(got, text)
	}
	if want := []string{"0x7 0x9 ", "0x7 0x1 0x9 ", "0x2 0x1 ", "[no stack] "}; !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
	if v := slices.Collect(p.Stack(ID(1))); len(v) == 0 {
		t.Error("the profile itself has changed")
	}
}

// Samples that weigh more than can be are cut where they are added, and again where several
// Samples become one profile: no sum of any of them is negative.
func TestAbsurdWeights(t *testing.T) {
	var list []*Samples
	for range 2 {
		s := NewSamples("allocations", ValueType{"samples", "count"}, ValueType{"alloc_space", "bytes"})
		for i := range uint64(3) {
			s.AddStack(time.Unix(0, 0), 1, 1, s.InternAddresses(1, []uint64{i, 7}), 0, 1, math.MaxInt64-5)
		}
		if !s.Cut() || s.Sum()[0].Values[1] != math.MaxInt64-5 {
			t.Errorf("cut: %t, %v", s.Cut(), s.Sum())
		}
		list = append(list, s)
	}
	p := NewProfile(nil, Options{}, list...)
	v := p.View()
	if sum := p.Totals(); sum[0] != 6 || sum[1] != math.MaxInt64 || v.Total(0)[1] != math.MaxInt64 || v.Total(1)[1] != math.MaxInt64 {
		t.Errorf("%v, %v, %v", sum, v.Total(0), v.Total(1))
	}
	if d := Diff(p, p); !p.Cut() || !d.Cut() || d.Totals()[0] != math.MaxInt64 || d.Totals()[1] != math.MaxInt64 {
		t.Errorf("cut: %t and %t, %v", p.Cut(), d.Cut(), d.Totals())
	}
}

// TestPresets: all presets are read, and the code of a program is told by its folders.
func TestPresets(t *testing.T) {
	p := parse("Shop!Main();lib!Bake();Shop!Work() 3", "Shop!Main();System.Private.CoreLib!Sort();Shop!Less();web!Get();json!Read() 4")
	for i := range p.Frames {
		f := &p.Frames[i]
		f.Kind = symbols.Managed
		switch f.Full {
		case "System.Private.CoreLib!Sort()":
			f.Module = "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Private.CoreLib.dll"
		case "web!Get()":
			f.Module = "/home/shared/.nuget/packages/web/1.0.0/lib/net8.0/web.dll"
		case "json!Read()":
			f.Module = `C:\Users\b\.nuget\packages\json\1.0.0\lib\net8.0\json.dll`
		default:
			f.Module = "/srv/shared/a;b->c {x}/" + f.Full[:strings.Index(f.Full, "!")] + ".dll"
		}
	}
	for _, preset := range Presets() {
		if _, err := p.Apply(Filter{Group: "[" + preset + "]"}); err != nil {
			t.Errorf("%s: %v", preset, err)
		}
	}
	for group, want := range map[string][]string{
		"[Just My App]": {"Shop!Main();OTHER <<System.Private.CoreLib!Sort()>>;Shop!Less();OTHER <<web!Get()>> 4", "Shop!Main();lib!Bake();Shop!Work() 3"},
		"[group full path module entries]": {
			`module /srv/shared/a;b->c {x}/Shop <<Shop!Main()>>;module /srv/shared/a;b->c {x}/lib <<lib!Bake()>>;module /srv/shared/a;b->c {x}/Shop <<Shop!Work()>> 3`,
			`module /srv/shared/a;b->c {x}/Shop <<Shop!Main()>>;module /usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Private.CoreLib <<System.Private.CoreLib!Sort()>>;` +
				`module /srv/shared/a;b->c {x}/Shop <<Shop!Less()>>;module /home/shared/.nuget/packages/web/1.0.0/lib/net8.0/web <<web!Get()>>;module C:\Users\b\.nuget\packages\json\1.0.0\lib\net8.0\json <<json!Read()>> 4`,
		},
		"[modules] {%}!->module $1": {"module Shop;module System.Private.CoreLib;module Shop;module web;module json 4", "module Shop;module lib;module Shop 3"},
	} {
		q, err := p.Apply(Filter{Group: group})
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(q); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", group, got, want)
		}
	}
	if _, err := parse("a!b 1").Apply(Filter{Group: "[just my app]"}); err == nil {
		t.Error("there is an app without code")
	}
}

// The same addresses are in another image where that lies there later.
func TestNativeHolds(t *testing.T) {
	s := NewSamples("cpu", ValueType{Name: "samples", Unit: "count"})
	stack := s.InternAddresses(1, []uint64{0x1010, 0x9010})
	for _, at := range []int64{10, 11, 25, 12, 26, 40} {
		s.AddStack(time.Unix(0, at), 1, 1, stack, 0, 1)
	}
	native := func(_ int64, address uint64, at time.Time) (symbols.Native, bool) {
		switch {
		case address > 0x9000:
			return symbols.Native{Module: "app.exe", Offset: address}, true
		case at.UnixNano() < 20:
			return symbols.Native{Module: "a.dll", From: math.MinInt64, To: 20}, true
		case at.UnixNano() < 30:
			return symbols.Native{Module: "b.dll", From: 20, To: 30}, true
		}
		return symbols.Native{From: 30, To: math.MaxInt64}, false
	}
	p := NewProfile(nil, Options{Native: native}, s)
	got := make(map[string]int64)
	for x := range p.Samples() {
		_, frame := p.Split(x.Stack)
		got[p.Frames[frame].Name] += x.Values[0]
	}
	if want := map[string]int64{"a.dll!?": 3, "b.dll!?": 2, "0x1010": 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
