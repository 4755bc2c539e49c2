package alloc

import "fmt"

// Warnings says which numbers are not what they seem.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		if rt.Ticks != nil && rt.Ticks.Clamped {
			list = append(list, fmt.Sprintf("process %d: some allocation ticks of this old runtime have impossible amounts, and count as the usual one", rt.PID))
		}
	}
	return list
}
