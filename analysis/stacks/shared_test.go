package stacks_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAddShared: of two stacks those frames are sure that called from the same place in both, and
// the next one if it is of the same method, compiled anew or on another line. Deeper ones may have
// returned and been called again.
func TestAddShared(t *testing.T) {
	var mux etw.Mux
	code := symbols.New(&mux)
	script := testtrace.NewScript(t, &mux)
	for i, name := range []string{"Main", "Work", "Help", "Help"} { // at 0x100, 0x200, 0x300 and 0x400
		script.Event(0, 1, &clr.MethodLoadVerboseV1{MethodID: uint64(i + 1), ModuleID: 1, MethodStartAddress: uint64(i+1) << 8, MethodSize: 0x100,
			MethodFlags: clr.MethodFlagsJitted, MethodNamespace: etw.MakeUTF16("P"), MethodName: etw.MakeUTF16(name), MethodSignature: etw.MakeUTF16("void ()")})
	}
	line := func(loc *symbols.Location) (string, int, bool) { return "p.cs", int(loc.Address & 0xff), true }
	for _, test := range []struct {
		a, b  []uint64 // the innermost first
		want  string
		lines []int
		raw   int // how many addresses are of both
	}{
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x310, 0x210, 0x110}, "P.Main P.Work P.Help", []int{0xf, 0xf, 0x10}, 3},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x320, 0x210, 0x110}, "P.Main P.Work P.Help", []int{0xf, 0xf, 0}, 2},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x410, 0x210, 0x110}, "P.Main P.Work P.Help", []int{0xf, 0xf, 0x10}, 2},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x310, 0x220, 0x110}, "P.Main P.Work", []int{0xf, 0}, 1},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x220, 0x110}, "P.Main P.Work", []int{0xf, 0}, 1},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x310, 0x110}, "P.Main", []int{0xf}, 1},
		{[]uint64{0x310, 0x210, 0x110}, []uint64{0x110}, "P.Main", []int{0xf}, 1},
		{[]uint64{0x310, 0x210}, []uint64{0x110}, "", nil, 0},
		{[]uint64{0x310, 0x210, 0x110}, nil, "", nil, 0},
		{nil, []uint64{0x310}, "", nil, 0},
	} {
		s := stacks.NewSamples("test", stacks.ValueType{Name: "n", Unit: "count"})
		a, b := s.InternAddresses(1, test.a), s.InternAddresses(1, test.b)
		s.AddShared(time.Unix(1, 0), 1, 1, a, b, "[pause]", 0, 1)
		s.AddStack(time.Unix(1, 0), 1, 1, a, 0, 1) // who has lines
		for _, lines := range []bool{false, true} {
			o := stacks.Options{Names: stacks.QualifiedNames}
			if lines {
				o.Source = line
			}
			p := stacks.NewProfile(code.Table(), o, s)
			first := slices.Collect(p.Samples())[0]
			frames := slices.Collect(p.Stack(first.Stack))
			slices.Reverse(frames)
			var names []string
			var at []int
			for _, f := range frames[:len(frames)-1] {
				names, at = append(names, p.Frames[f].Name), append(at, p.Frames[f].Line)
			}
			if got := strings.Join(names, " "); got != test.want || p.Frames[frames[len(frames)-1]].Name != "[pause]" || lines && !slices.Equal(at, test.lines) {
				t.Errorf("%#x and %#x: %q on lines %v, want %q on %v", test.a, test.b, got, at, test.want, test.lines)
			}
		}
		if raw := s.Stack(slices.Collect(s.All())[0].Stack); len(raw) != test.raw {
			t.Errorf("%#x and %#x: addresses %#x, want %d", test.a, test.b, raw, test.raw)
		}
	}
}
