package counters

import "fmt"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, p := range r.Processes {
		for _, n := range p.Notes {
			list = append(list, fmt.Sprintf("process %d: %s at %.3f ms: %s", p.PID, n.Event, n.AtMS, n.Text))
		}
	}
	return list
}
