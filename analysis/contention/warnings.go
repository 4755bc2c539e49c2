package contention

import "github.com/etwgen/etwgen/analysis/internal/spans"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		list = append(list, spans.Warnings(rt.PID, rt.Open, rt.OpenMS, rt.LostStops, rt.StopsWithoutStart)...)
	}
	return list
}
