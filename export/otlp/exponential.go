package otlp

import (
	"strconv"

	"github.com/etwgen/etwgen/analysis/counters"
)

// exponential appends an exponential histogram.
func exponential(b []byte, e *counters.Exponential) []byte {
	b = strconv.AppendUint(append(b, `,"count":"`...), e.Count, 10)
	b = appendNumber(append(b, `","sum":`...), e.Sum)
	b = strconv.AppendInt(append(b, `,"scale":`...), int64(e.Scale), 10)
	b = strconv.AppendUint(append(b, `,"zeroCount":"`...), e.Zero, 10)
	b = strconv.AppendInt(append(b, `","positive":{"offset":`...), int64(e.Offset), 10)
	b = append(b, `,"bucketCounts":[`...)
	for i, n := range e.Counts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), n, 10), '"')
	}
	b = append(b, "]}"...)
	if e.Count > 0 {
		b = appendNumber(append(b, `,"min":`...), e.Min)
		b = appendNumber(append(b, `,"max":`...), e.Max)
	}
	return append(b, '}')
}
