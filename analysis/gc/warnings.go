package gc

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
)

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		where := fmt.Sprintf("process %d", rt.PID)
		list = append(list, rt.gaps(where)...)
		list = append(list, rt.ticks(where)...)
		list = append(list, rt.absurd(where)...)
	}
	return list
}

// gaps tells of missing events.
func (rt *Runtime) gaps(where string) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, where+": "+fmt.Sprintf(format, args...)) }
	if n := rt.Suspensions.LostBegins + rt.Suspensions.LostEnds; n > 0 {
		add("of %d suspensions only one end was recorded: pauses are lower bounds", n)
	}
	if rt.Suspensions.Open > 0 {
		add("%d suspensions were under way at the end, and are in no sum", rt.Suspensions.Open)
	}
	if rt.Partial > 0 {
		add("%d collections began before the trace, or their begins were lost, and are in no sum", rt.Partial)
	}
	if rt.Unfinished > 0 {
		add("%d collections were not finished at the end, and are in no sum", rt.Unfinished)
	}
	if rt.MissingNumbers > 0 {
		add("%d numbers of collections are missing: they were lost, or used up by regions without collections", rt.MissingNumbers)
	}
	return list
}

// ticks compares the allocations by ticks with those by collections, which are known for all
// but the first of them.
func (rt *Runtime) ticks(where string) []string {
	ticked := rt.tickedBetween()
	if rt.All.AllocatedByHistoriesMB == 0 || ticked == 0 || agrees(ticked, rt.All.AllocatedByHistoriesMB) {
		return nil
	}
	return []string{fmt.Sprintf("%s: allocation ticks say %.1f MB, and the collections %.1f MB: take shares from the ticks, and the total from the collections",
		where, ticked, rt.All.AllocatedByHistoriesMB)}
}

// absurd tells of sizes that no memory has, at which sums end.
func (rt *Runtime) absurd(where string) []string {
	limit, _ := mb(measure.Most).Get()
	n := 0
	for _, g := range rt.GCs {
		if max(g.BeforeMB.Or(0), g.AfterMB.Or(0), g.PromotedMB.Or(0), g.AllocatedMB.Or(0)) >= limit ||
			slices.ContainsFunc(g.Generations, func(s GenerationSizes) bool { return s.absurd(limit) }) ||
			g.Pinned != nil && max(g.Pinned.Bytes, g.Pinned.PlugBytes) >= measure.Most {
			n++
		}
	}
	if n == 0 && rt.TickedMB < limit {
		return nil
	}
	return []string{fmt.Sprintf("%s: sizes of %d collections, or what was allocated, are 2^63 bytes and more, which no memory has: sums end there", where, n)}
}

func (s *GenerationSizes) absurd(limit float64) bool {
	return max(s.BeforeMB.Or(0), s.AfterMB.Or(0), s.InMB.Or(0), s.OutMB.Or(0), s.ObjectsBeforeMB.Or(0),
		s.FragmentationMB.Or(0), s.BudgetMB.Or(0)) >= limit
}
