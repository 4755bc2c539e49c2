package requests

import "fmt"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, p := range r.Processes {
		where := fmt.Sprintf("process %d: ", p.PID)
		if p.Open > 0 {
			list = append(list, fmt.Sprintf("%sactivities that were not over at the end, and are in no sum: %d", where, p.Open))
		}
		if p.LostStops > 0 {
			list = append(list, fmt.Sprintf("%sactivities whose end was lost, and that are in no sum: %d", where, p.LostStops))
		}
		if p.StopsWithoutStart > 0 {
			list = append(list, fmt.Sprintf("%sactivities whose begin was not seen, and that are in no sum: %d", where, p.StopsWithoutStart))
		}
		if p.WithoutID > 0 {
			list = append(list, fmt.Sprintf("%sbegins without an activity, so that nothing tells which end is theirs (record System.Threading.Tasks.TplEventSource:0x80:4, too): %d", where, p.WithoutID))
		}
		for _, text := range p.RuntimeAsync.Warnings() {
			list = append(list, where+text)
		}
	}
	return list
}
