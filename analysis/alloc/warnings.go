package alloc

import "fmt"

// Warnings names the numbers that mislead, and says why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		if rt.Ticks != nil && rt.Ticks.Clamped {
			list = append(list, fmt.Sprintf("process %d: some allocation ticks of this old runtime have impossible amounts, and count as the usual one", rt.PID))
		}
		if rt.CutEvents > 0 {
			list = append(list, fmt.Sprintf("process %d: allocations add up to more than 2^62 bytes, which no program allocates: the amounts of %d events are cut", rt.PID, rt.CutEvents))
		}
	}
	return list
}
