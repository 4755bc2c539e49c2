package activities

import (
	"sort"

	"github.com/etwgen/etwgen/analysis/window"
)

// busy returns for how much of a piece its thread did not wait, of the part in a window.
func (w *walk) busy(p *piece, in window.Window) int64 {
	from, to := in.Clip(p.from, p.to)
	busy := to - from
	list := w.statesOf(p.thread)
	first := sort.Search(len(list), func(i int) bool { return list[i].to > from })
	for _, s := range list[first:] {
		if s.from >= to {
			break
		}
		switch s.kind {
		case Lock, Blocked, Ready:
			busy -= max(min(s.to, to)-max(s.from, from), 0)
		}
	}
	return busy
}

// completes reports whether the await of the next piece of a thread ended with p: that went on after the await
// began, and both are of one item of the pool. Time of the thread in between, such as for compiling, is nobody's.
func (p *piece) completes(next *piece) bool {
	a := next.await
	return a != nil && p.to > a.begin && (p.from >= a.begin || a.by != p.thread) &&
		next.item.taken != 0 && p.item.taken == next.item.taken && p.from >= p.item.taken
}
