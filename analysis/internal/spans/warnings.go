package spans

import "fmt"

// State says of a wait whether it is not over.
func State(open bool) string {
	if open {
		return "open"
	}
	return ""
}

// Warnings says of how many waits in a process the begin or the end is unknown. Those that
// were open at the end had taken openMS together.
func Warnings(pid int64, open int, openMS float64, lost, withoutStart int) []string {
	var list []string
	if open > 0 {
		list = append(list, fmt.Sprintf("process %d: waits that were not over at the end, after %.3f ms together, and are rows without being in sums: %d", pid, openMS, open))
	}
	if lost > 0 {
		list = append(list, fmt.Sprintf("process %d: waits whose end was lost, and that are in no sum: %d", pid, lost))
	}
	if withoutStart > 0 {
		list = append(list, fmt.Sprintf("process %d: waits whose begin was not seen: %d", pid, withoutStart))
	}
	return list
}
