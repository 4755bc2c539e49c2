package analysis

import "fmt"

// warnings returns which numbers are not what they seem.
func warnings(r *Result) []string {
	var list []string
	if r.Lost > 0 {
		list = append(list, fmt.Sprintf("at least %d events were lost when the trace was recorded: counts and sums are lower bounds", r.Lost))
	}
	if r.Incomplete != "" {
		list = append(list, "the trace is incomplete: "+r.Incomplete)
	}
	for _, answer := range []interface{ Warnings() []string }{
		r.GC, r.Alloc, r.JIT, r.Contention, r.Waits, r.Heap, r.Requests, r.Counters,
	} {
		list = append(list, answer.Warnings()...)
	}
	if r.Undecodable > 0 {
		list = append(list, fmt.Sprintf("%d records do not fit the events that they claim to be, and are in no number", r.Undecodable))
	}
	return list
}
