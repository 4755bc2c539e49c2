package stacks

import "math"

// A span is a span of time, from included and to excluded.
type span struct{ from, to int64 }

// within returns the time that is in another span, too.
func (s span) within(o span) span { return span{max(s.from, o.from), min(s.to, o.to)} }

var always = span{math.MinInt64, math.MaxInt64}
