package pick

import (
	"math"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/filter"
)

// addChildren adds the children of processes in a list. at is when so many milliseconds of the session
// were over.
func addChildren(h *filter.Header, list []system.ProcessFacts, at func(ms float64) int64) {
	parents := system.Parents(list)
	met, chosen := make(map[int64]bool), make([]bool, len(list))
	for i := range list {
		met[list[i].PID] = true
		chosen[i] = h.Program(list[i].PID, list[i].Name)
	}
	var added []int
	for found := true; found; {
		found = false
		for i, parent := range parents {
			has := parent >= 0 && chosen[parent]
			if of := int64(list[i].ParentPID); parent < 0 && !list[i].ParentPID.IsZero() && !met[of] {
				has = h.Processes.Has(of)
			}
			if has && !chosen[i] {
				chosen[i], found = true, true
				added = append(added, i)
			}
		}
	}
	for _, i := range added {
		h.Processes = append(h.Processes, filter.Number(list[i].PID)...)
	}
	for _, i := range added {
		if life, whole := lifeOf(list, chosen, i, at); !whole {
			if h.Lives == nil {
				h.Lives = make(map[int64][]filter.Life)
			}
			h.Lives[list[i].PID] = append(h.Lives[list[i].PID], life)
		}
	}
}

// lifeOf returns the life of a process, and whether all processes of its number are chosen.
func lifeOf(list []system.ProcessFacts, chosen []bool, i int, at func(ms float64) int64) (life filter.Life, whole bool) {
	p := &list[i]
	life = filter.Life{Name: p.Name, From: math.MinInt64, To: math.MaxInt64}
	if !p.StartMS.IsZero() {
		life.From = at(p.StartMS.Or(0))
	}
	whole = true
	for k := range list {
		if list[k].PID != p.PID || k == i {
			continue
		}
		whole = whole && chosen[k]
		if start := list[k].StartMS; k > i && !start.IsZero() {
			life.To = min(life.To, at(start.Or(0)))
		}
	}
	return life, whole
}
