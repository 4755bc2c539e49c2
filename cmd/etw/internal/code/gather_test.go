package code

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestCallerless: of a stack with one frame outside the kernel the callers are missing, unless the thread is
// one of the kernel. Of a part of the time it is the part.
func TestCallerless(t *testing.T) {
	const kernel, begins, ms = 0xffffffff81000000, 0xffffffff82000000, int64(time.Millisecond)
	s := stacks.NewSamples(threads.Blocked, stacks.ValueType{Name: "times", Unit: "count"}, stacks.ValueType{Name: "blocked", Unit: "nanoseconds"})
	for i, frames := range [][]uint64{{kernel, kernel + 1, 0x7000}, {kernel}, {kernel, 0x7000, 0x4000}, {0x7000}, nil, {kernel, begins}} {
		s.AddStack(time.Unix(0, 1), 1, 1, s.InternAddresses(1, frames), 0, 1, ms<<i)
	}
	var mux etw.Mux
	p := stacks.NewProfile(symbols.New(&mux).Table(), stacks.Options{}, s)
	for i := range p.Frames {
		switch f := &p.Frames[i]; {
		case f.Address >= begins:
			f.Full = "vmlinux!ret_from_fork_asm"
		case f.Address >= kernel:
			f.Full = "vmlinux!schedule"
		}
	}
	for to, want := range map[int64]string{0: "of 3.000 ms ", 1 + ms/2: "of 1.000 ms "} {
		part := p
		if to > 0 {
			part = Within(p, stacks.Query{To: time.Unix(0, to), Spans: true})
		}
		if got := callerlessFact(part); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("until %d: %q, want %q", to, got, want)
		}
	}
	if got := callerlessFact(p.Only(func(s stacks.Sample) bool { return s.Values[1] == 4*ms })); got != nil {
		t.Errorf("%q", got)
	}
}
