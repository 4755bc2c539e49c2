package analysis

import "fmt"

// bounds says how far counts and sums can be trusted of which events are missing. Events of a damaged
// trace may count for others.
func (r *Result) bounds() string {
	if r.Undecodable > 0 {
		return "may be off, since the trace seems damaged"
	}
	return "are lower bounds"
}

// warnings returns which numbers mislead, and why.
func (r *Result) warnings() []string {
	var list []string
	if r.Lost > 0 {
		list = append(list, fmt.Sprintf("at least %d events were lost when the trace was recorded: counts and sums %s", r.Lost, r.bounds()))
	}
	if r.Incomplete != "" {
		list = append(list, "the trace is incomplete: "+r.Incomplete)
	}
	list = append(list, r.doubts...)
	if r.Undecodable > 0 {
		list = append(list, fmt.Sprintf("%d records do not fit the events that they claim to be, and are in no number", r.Undecodable))
	}
	return list
}
