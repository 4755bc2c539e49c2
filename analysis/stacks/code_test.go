package stacks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/symbols"
)

const inKernel = 0xffffffff81000000

// nameRound names addresses by the hundred that they are in: of 7 nothing is known, of 8
// that it is no code, 9 is of a file of .NET, 3 of a method.
func nameRound(_ int64, address uint64, _ time.Time) (symbols.Native, bool) {
	n := symbols.Native{Module: "app", Function: fmt.Sprintf("f%d", address/100)}
	switch {
	case address >= inKernel:
		n = symbols.Native{Module: "vmlinux", Function: "irq"}
	case address/100 == 7:
		return symbols.Native{}, false
	case address/100 == 8:
		return symbols.Native{NotCode: true}, false
	case address/100 == 9:
		n = symbols.Native{Module: "lib.dll", InFile: true, TimeDateStamp: 1}
	case address/100 == 3:
		n = symbols.Native{Module: "Shop", Type: "Oven", Function: "Oven.Bake()", Tier: "Tier1"}
	}
	return n, true
}

// Addresses to which calls return are looked up before, those that the kernel interrupted
// are not, and addresses in no code are cut off the base and nowhere else.
func TestCode(t *testing.T) {
	s := NewSamples("cpu", ValueType{Name: "samples", Unit: "count"})
	s.LabelCode()
	for _, stack := range [][]uint64{
		{200, 300}, // a call at the very end of f2
		{inKernel + 8, 200, 300},
		{inKernel + 8, inKernel + 16, 200, 300},
		{inKernel + 8},
		{150, 250, 850, 860},
		{150, 850, 250},
		{850},
		{inKernel, 850},
		{750},
		{350, 150},
		{950, 350},
	} {
		s.AddStack(time.Unix(0, 0), 5, 5, s.InternAddresses(5, stack), 0, 1)
	}
	p := NewProfile(nil, Options{Native: nameRound}, s)
	var got []string
	for x := range p.Samples() {
		var names []string
		for f := range p.Stack(x.Stack) {
			names = append(names, strings.TrimPrefix(p.Frames[f].Name, "app!"))
		}
		slices.Reverse(names)
		line := strings.Join(names, ";")
		for _, l := range x.Labels {
			line += " " + l.Key + "=" + l.Value
		}
		got = append(got, line)
	}
	want := []string{
		"f2;f2 code=native",
		"f2;f2;vmlinux!irq code=kernel",
		"f2;f2;vmlinux!irq;vmlinux!irq code=kernel",
		"vmlinux!irq code=kernel",
		"[incomplete stack];f2;f1 code=native",
		"f2;0x352;f1 code=native",
		"0x352",
		"0x352;vmlinux!irq code=kernel",
		"0x2ee",
		"f1;Shop!Oven.Bake() code=managed tier=Tier1",
		"Shop!Oven.Bake();lib.dll!? code=managed tier=ReadyToRun",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
