package jit

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/measure"
)

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		where := fmt.Sprintf("process %d: ", rt.PID)
		if m := rt.Memory; m != nil && max(m.HotCode, m.ReadOnly, m.Allocated) == measure.Most {
			list = append(list, where+"the memory that the compiler asked for adds up to 2^63 bytes and more, which no memory has: sums end there")
		}
		if rt.LostStops > 0 {
			list = append(list, fmt.Sprintf("%scompilations whose end was lost, and that are in no sum: %d", where, rt.LostStops))
		}
		if rt.Open > 0 {
			list = append(list, fmt.Sprintf("%scompilations that were under way at the end, and are in no sum: %d", where, rt.Open))
		}
		if rt.WithoutStart > 0 {
			list = append(list, fmt.Sprintf("%smethods whose begin was not seen, since they are stubs, or were under way when the trace began, or Jit was not recorded at level 5: %d", where, rt.WithoutStart))
		}
	}
	return list
}
