package trace

import "time"

// Bounds returns between which times, since the trace began, records can be: that of one that is
// damaged can be any. ok is false where a file does not tell when its session ended.
func (t *Trace) Bounds() (from, to time.Duration, ok bool) {
	for _, f := range t.files {
		start, end := f.r.clock().Start, f.Head().End
		if end < start || end == 0 {
			return 0, 0, false
		}
		length := between(start, end)
		from = min(from, between(t.start, start)-length-slack)
		to = max(to, between(t.start, end)+length+slack)
	}
	return from, to, from < to
}
