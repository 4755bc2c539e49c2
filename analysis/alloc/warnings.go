package alloc

import "fmt"

// Warnings names the numbers that mislead, and says why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		if rt.Ticks != nil && rt.Ticks.Clamped {
			list = append(list, fmt.Sprintf("process %d: some allocation ticks of this old runtime have impossible amounts, and count as the usual one", rt.PID))
		}
		if rt.Ticks != nil && rt.Ticks.Old {
			list = append(list, oldText(rt.PID))
		}
		if rt.Damaged > 0 {
			list = append(list, fmt.Sprintf("process %d: events of allocations with amounts that cannot be, as of a damaged file, and are in no number: %d", rt.PID, rt.Damaged))
		}
		if rt.CutEvents > 0 {
			list = append(list, fmt.Sprintf("process %d: allocations add up to more than 2^62 bytes, which no program allocates: the amounts of %d events are cut", rt.PID, rt.CutEvents))
		}
	}
	return list
}

// Doubts are the warnings of ticks of old runtimes, for those who have events and no [Result].
func (a *Analysis) Doubts() (list []string) {
	for _, rt := range a.runtimes.All() {
		if rt.State.old {
			list = append(list, oldText(rt.PID))
		}
	}
	return list
}

func oldText(pid int64) string {
	return fmt.Sprintf("process %d: ticks of runtimes before .NET 5 count some objects for more than they are: sums and shares of allocations may be far off; etw gc says how much was allocated", pid)
}
