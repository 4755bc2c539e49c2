package code

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// So many frames recorders keep of a stack, the innermost ones.
const (
	deepestEventPipe = 100
	deepestPerf      = 127 // by default, with those of the kernel
	deepestWindows   = 192
)

// manyDeep is of how many samples one that is cut off is told.
const manyDeep = 1000

// appendDeep says of how many samples the first callers are missing, since their stacks have all the
// frames that their recorder keeps.
func appendDeep(facts []string, list []*stacks.Samples, most int) []string {
	deep, all := 0, 0
	for _, samples := range list {
		for s := range samples.All() {
			if all++; len(samples.Stack(s.Stack)) == most {
				deep++
			}
		}
	}
	if deep*manyDeep <= all {
		return facts
	}
	return append(facts, fmt.Sprintf("%s have %d frames, as many as are recorded: their first callers are missing, and with them time below --root and in trees", show.Count(deep, "sample", "samples"), most))
}

// someCallerless is the share of stacks without callers from which on sums of callers mislead.
const someCallerless = 0.02

// callerlessFact says for how long threads of Linux were off processors with stacks that have one frame
// outside the kernel at most. Every thread is begun by a function that calls another one, so that the
// callers of that frame are missing, unless it is one of the kernel itself.
func callerlessFact(p *stacks.Profile) []string {
	var cut, all float64
	for s := range p.Samples() {
		first, second := -1, -1 // the outermost frames
		for frame := range p.Stack(s.Stack) {
			if second = first; second < 0 {
				second = frame
			}
			first = frame
		}
		ns := float64(lastOf(s.Values))
		if all += ns; first >= 0 && strings.HasPrefix(p.Frames[second].Full, "vmlinux!") && !strings.HasPrefix(p.Frames[first].Full, "vmlinux!ret_from_fork") {
			cut += ns
		}
	}
	if cut == 0 || cut < someCallerless*all {
		return nil
	}
	return []string{fmt.Sprintf("of %s the stacks end in the kernel, or in the library that called it: --stack-kb 16 of etw collect --system finds callers without frame pointers", show.MS(cut/1e6))}
}
