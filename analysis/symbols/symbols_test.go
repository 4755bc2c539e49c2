package symbols

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A scene is a made-up trace.
type scene struct {
	*testtrace.Script
	a *Analysis
	t *testing.T
}

func newScene(t *testing.T, opts ...Option) *scene {
	var mux etw.Mux
	a := New(&mux, opts...)
	return &scene{testtrace.NewScript(t, &mux), a, t}
}

const ms = time.Millisecond

func (s *scene) load(at time.Duration, id, start uint64, name string) {
	s.Event(at, 1, &clr.MethodLoadVerboseV2{MethodID: id, MethodStartAddress: start, MethodSize: 0x10, MethodNamespace: etw.MakeUTF16("T"), MethodName: etw.MakeUTF16(name), ModuleID: 7})
}

func (s *scene) unload(at time.Duration, id, start uint64, name string) {
	s.Event(at, 1, &clr.MethodUnloadVerboseV2{MethodID: id, MethodStartAddress: start, MethodSize: 0x10, MethodNamespace: etw.MakeUTF16("T"), MethodName: etw.MakeUTF16(name), ModuleID: 7})
}

func (s *scene) rundown(at time.Duration, id, start uint64, name string) {
	s.Event(at, 1, &rundown.MethodDCEndVerboseV2{MethodID: id, MethodStartAddress: start, MethodSize: 0x10, MethodNamespace: etw.MakeUTF16("T"), MethodName: etw.MakeUTF16(name), ModuleID: 7})
}

// want checks the name at an address and a time: with a question mark if it is a
// guess, "" if there is none.
func (s *scene) want(address uint64, at time.Duration, name string) {
	s.t.Helper()
	loc := s.a.Table().Lookup(1, address, time.Unix(0, s.when(at)))
	got := ""
	if loc.Kind != Unknown {
		m := loc.Method()
		got = m.Name
		if loc.Guess {
			got += "?"
		}
		if now := s.when(at); loc.from > now || loc.to <= now {
			s.t.Errorf("%#x at %v: from %d to %d", address, at, loc.from, loc.to)
		}
	}
	if got != name {
		s.t.Errorf("%#x at %v is %q, want %q", address, at, got, name)
	}
}

// when is the time of the scripts' clock on the scale of lookups.
func (s *scene) when(at time.Duration) int64 { return unixOfZero + int64(at) }

// Addresses are used again by others: a name holds for the life of its method.
func TestReusedAddresses(t *testing.T) {
	s := newScene(t)
	s.load(10*ms, 1, 0x1000, "A")
	s.unload(20*ms, 1, 0x1000, "A")
	s.load(45*ms, 2, 0x1000, "B")
	s.unload(50*ms, 2, 0x1000, "B")
	s.load(51*ms, 1, 0x1000, "C") // with the id of another
	s.want(0x1000, 10*ms, "A")
	s.want(0x100f, 20*ms-1, "A")
	s.want(0x1008, 46*ms, "B")
	s.want(0x1008, 60*ms, "C")
	s.want(0x1008, 5*ms, "A?")
	s.want(0x1008, 25*ms, "A?")
	s.want(0x1008, 40*ms, "B?")
	s.want(0x1010, 60*ms, "")
	s.want(0xfff, 60*ms, "")
}

// When a process ends, the runtime unloads all methods, and then lists them.
func TestUnloadsAtProcessEnd(t *testing.T) {
	s := newScene(t)
	s.load(10*ms, 1, 0x1000, "A")
	s.unload(90*ms, 1, 0x1000, "A")
	s.unload(90*ms, 2, 0x2000, "Older")
	s.rundown(91*ms, 1, 0x1000, "A")
	s.rundown(91*ms, 2, 0x2000, "Older")
	s.rundown(91*ms, 3, 0x3000, "Precompiled")
	s.want(0x1000, 50*ms, "A")
	s.want(0x1000, 95*ms, "A")
	s.want(0x2000, 0, "Older")
	s.want(0x3000, 0, "Precompiled")
}

// A method of which only the rundown tells was not where another one was before.
func TestRundownAfterReuse(t *testing.T) {
	s := newScene(t)
	s.load(10*ms, 1, 0x1008, "Gone")
	s.unload(20*ms, 1, 0x1008, "Gone")
	s.rundown(90*ms, 2, 0x1000, "Late")
	s.want(0x1008, 15*ms, "Gone")
	s.want(0x1008, 25*ms, "Late")
	s.want(0x1000, 25*ms, "Late")
}

// A trace that is cut before the rundown names the modules loaded in it, and nothing else.
func TestCutBeforeRundown(t *testing.T) {
	s := newScene(t)
	s.load(10*ms, 1, 0x1000, "A")
	s.want(0x1000, 15*ms, "A")
	s.want(0x2000, 15*ms, "")
	if s.a.Table().HasRundown(1) {
		t.Error("there is no rundown")
	}
	s.rundown(20*ms, 1, 0x1000, "A")
	if !s.a.Table().HasRundown(1) {
		t.Error("there is a rundown")
	}
}

// The end of a method whose unload was lost is the begin of the next one in its place.
func TestLostUnload(t *testing.T) {
	s := newScene(t)
	s.load(10*ms, 1, 0x1000, "A")
	s.load(30*ms, 2, 0x1008, "B")
	s.want(0x1008, 20*ms, "A")
	s.want(0x1008, 40*ms, "B")
	s.want(0x1000, 40*ms, "A?")
}

// Of a method that is loaded without a name, the rundown may tell it.
func TestNameOfRundown(t *testing.T) {
	s := newScene(t)
	s.Event(10*ms, 1, &clr.MethodLoadV2{MethodID: 1, MethodStartAddress: 0x1000, MethodSize: 0x10, MethodToken: 0x6000001, ModuleID: 7})
	s.Event(10*ms, 1, &clr.ModuleLoadV2{ModuleID: 7, ModuleILPath: etw.MakeUTF16(`C:\x\Shop.dll`)})
	loc := s.a.Table().Lookup(1, 0x1000, time.Unix(0, s.when(11*ms)))
	if m := loc.Method(); m.Named() || m.Full() != "Shop!0x6000001" || m.Short() != "0x6000001" {
		t.Errorf("%+v, %s", m, m.Full())
	}
	s.rundown(20*ms, 1, 0x1000, "A")
	loc = s.a.Table().Lookup(1, 0x1004, time.Unix(0, s.when(11*ms)))
	if m := loc.Method(); m.Full() != "Shop!T.A" || m.Token != 0x6000001 || loc.Offset() != 4 {
		t.Errorf("%+v, %s", m, m.Full())
	}
}

// The ids of processes and of modules are used again.
func TestReusedIDs(t *testing.T) {
	s := newScene(t)
	module := func(at time.Duration, path string) {
		s.Event(at, 1, &clr.ModuleLoadV2{ModuleID: 7, ModuleILPath: etw.MakeUTF16(path)})
	}
	module(5*ms, "/a/One.dll")
	s.load(10*ms, 1, 0x1000, "A")
	s.unload(19*ms, 1, 0x1000, "A")
	module(20*ms, "/a/Two.exe")
	s.load(25*ms, 2, 0x1000, "B")
	full := func(at time.Duration) string {
		loc := s.a.Table().Lookup(1, 0x1000, time.Unix(0, s.when(at)))
		m := loc.Method()
		return m.Full()
	}
	if full(12*ms) != "One!T.A" || full(30*ms) != "Two!T.B" {
		t.Error(full(12*ms), full(30*ms))
	}
	s.Event(40*ms, 1, &clr.RuntimeInformationStart{})
	s.Event(50*ms, 1, &clr.RuntimeInformationStart{}) // another process
	s.load(55*ms, 2, 0x2000, "Other")
	s.want(0x1000, 45*ms, "B")
	s.want(0x1000, 60*ms, "")
	s.want(0x2000, 60*ms, "Other")
	s.want(0x2000, 45*ms, "")
}

func TestILOffset(t *testing.T) {
	s := newScene(t, ILOffsets())
	s.load(10*ms, 1, 0x1000, "A")
	s.Event(10*ms, 1, &clr.MethodILToNativeMapV1{MethodID: 1, CountOfMapEntries: 4,
		ILOffsets: etw.MakeInts[uint32](0xfffffffe, 12, 0, 0xfffffffd), NativeOffsets: etw.MakeInts[uint32](0, 8, 2, 14)})
	s.load(20*ms, 1, 0x2000, "A") // compiled again
	s.Event(20*ms, 1, &clr.MethodILToNativeMapV1{MethodID: 1, CountOfMapEntries: 1, ILOffsets: etw.MakeInts[uint32](77), NativeOffsets: etw.MakeInts[uint32](0)})
	for _, test := range []struct {
		address uint64
		il      int
		ok      bool
	}{{0x1000, 0, true}, {0x1002, 0, true}, {0x1007, 0, true}, {0x1008, 12, true}, {0x100e, 12, true}, {0x2004, 77, true}, {0x3000, 0, false}} {
		loc := s.a.Table().Lookup(1, test.address, time.Unix(0, s.when(30*ms)))
		if il, ok := loc.ILOffset(); il != test.il || ok != test.ok {
			t.Errorf("%#x is %d, %v; want %d, %v", test.address, il, ok, test.il, test.ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ space, name, short, demangled string }{
		{"Bakery.Oven", "Bake", "Oven.Bake", "Bakery.Oven.Bake"},
		{"System.Collections.Generic.List`1[System.__Canon]", "Add", "List.Add", "System.Collections.Generic.List`1[System.__Canon].Add"},
		{"Outer.A+B`2[X.Y,Z+W]", "M[System.Int32]", "A+B.M", "Outer.A+B`2[X.Y,Z+W].M[System.Int32]"},
		{"N.Shop+<SellAsync>d__5", "MoveNext", "Shop.SellAsync", "N.Shop.SellAsync"},
		{"N.Shop+<>c", "<Main>b__0_0", "Shop.Main.lambda", "N.Shop.Main.lambda"},
		{"N.Shop+<>c__DisplayClass1_0", "<Main>b__0", "Shop.Main.lambda", "N.Shop.Main.lambda"},
		{"N.Shop+<>c", "<Main>b__0_10", "Shop.Main.lambda#11", "N.Shop.Main.lambda#11"},
		{"N.Shop+<>c__DisplayClass1_0+<<Main>b__9>d", "MoveNext", "Shop.Main.lambda#10", "N.Shop.Main.lambda#10"},
		{"N.Shop+<>c", "<Main>b__0_99999999999999999999", "Shop.Main.lambda", "N.Shop.Main.lambda"},
		{"N.Shop", "<Main>g__Local|1_0", "Shop.Main.Local", "N.Shop.Main.Local"},
		{"N.Shop+<>c", "<<Main>g__Inner|0_0>b__1", "Shop.Main.Inner.lambda#2", "N.Shop.Main.Inner.lambda#2"},
		{"N.Shop+<<Main>g__Inner|0_0>d", "MoveNext", "Shop.Main.Inner", "N.Shop.Main.Inner"},
		{"N.Shop", "<odd", "Shop.<odd", "N.Shop.<odd"},
		{"N.Shop", "<Clone>$", "Shop.<Clone>$", "N.Shop.<Clone>$"},
		{"", "IL_STUB", "IL_STUB", "IL_STUB"},
	} {
		m := Method{Namespace: test.space, Name: test.name}.Demangled()
		if m.Short() != test.short || m.Qualified() != test.demangled {
			t.Errorf("%s.%s is %s and %s, want %s and %s", test.space, test.name, m.Short(), m.Qualified(), test.short, test.demangled)
		}
	}
	for path, want := range map[string]string{`C:\a\B.dll`: "B", "/x/y.ni.dll": "y", "dynamic": "dynamic", "/a/b.EXE": "b", ".dll": ".dll"} {
		if got := moduleName(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestNestedNames takes names apart in which lambdas are within each other, as deep as nobody
// writes them: it would take hours if each level looked at all others.
func TestNestedNames(t *testing.T) {
	const n = 1 << 20
	for levels, want := range map[int]string{3: "M.lambda.lambda.lambda", maxLambdas: "M" + strings.Repeat(".lambda", maxLambdas)} {
		m := Method{Name: strings.Repeat("<", levels) + "M" + strings.Repeat(">b__0", levels)}.Demangled()
		if m.Name != want {
			t.Errorf("%d levels are %s", levels, m.Name)
		}
	}
	m := Method{Namespace: strings.Repeat("A[", n) + strings.Repeat("+<>c", n), Name: strings.Repeat("<", n) + "M" + strings.Repeat(">b__0", n)}.Demangled()
	if !strings.HasSuffix(m.Name, strings.Repeat(".lambda", maxLambdas)) || m.Short() == "" {
		t.Errorf("%.40s", m.Name)
	}
}
