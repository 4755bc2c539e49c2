package activities

import "github.com/etwgen/etwgen/analysis/window"

// busy returns for how much of a piece its thread did not wait, of the part in a window.
func (w *walk) busy(p *piece, in window.Window) int64 {
	from, to := in.Clip(p.from, p.to)
	busy := to - from
	for _, s := range w.statesOf(p.thread) {
		switch s.kind {
		case Lock, Blocked, Ready:
			busy -= max(min(s.to, to)-max(s.from, from), 0)
		}
	}
	return busy
}
