package contention

import "fmt"

// Warnings says which numbers are not what they seem.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		where := fmt.Sprintf("process %d: ", rt.PID)
		if rt.Open > 0 {
			list = append(list, fmt.Sprintf("%swaits that were not over at the end, after %.3f ms together, and are in no sum: %d", where, rt.OpenMS, rt.Open))
		}
		if rt.LostStops > 0 {
			list = append(list, fmt.Sprintf("%swaits whose end was lost, and that are in no sum: %d", where, rt.LostStops))
		}
		if rt.StopsWithoutStart > 0 {
			list = append(list, fmt.Sprintf("%swaits whose begin was not seen: %d", where, rt.StopsWithoutStart))
		}
	}
	return list
}
