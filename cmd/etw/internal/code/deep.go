package code

import (
	"fmt"

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
