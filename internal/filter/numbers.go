package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
)

// Numbers are ranges of numbers, such as 1,3,10-20. The zero Numbers contain all.
type Numbers []span

type span struct{ low, high int64 }

// Number returns the range that is one number.
func Number(n int64) Numbers { return Numbers{{n, n}} }

// ParseNumbers reads ranges up to a largest number.
func ParseNumbers(text string, most int64) (Numbers, error) {
	var n Numbers
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		s := span{integer(low), integer(high)}
		switch {
		case s.low < 0 || s.high < 0:
			return nil, fmt.Errorf("%q is neither a number nor a range such as 10-20", part)
		case s.low > s.high:
			return nil, fmt.Errorf("the range %q is empty", part)
		case s.high > most:
			return nil, fmt.Errorf("%d is more than %d", s.high, most)
		}
		n = append(n, s)
	}
	return n, nil
}

// integer reads a number in decimal or hexadecimal, and returns -1 for others.
func integer(text string) int64 {
	x, ok := parseNumber(strings.TrimSpace(text))
	if !ok || x.isFloat || x.negative || x.integer > math.MaxInt64 {
		return -1
	}
	return int64(x.integer)
}

// Has reports whether n contains v.
func (n Numbers) Has(v int64) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(s span) bool { return s.low <= v && v <= s.high })
}

// String returns n as [ParseNumbers] reads it: in order, those that adjoin as one range.
func (n Numbers) String() string {
	sorted := slices.Clone(n)
	order.Sort(sorted, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	var b []byte
	for i := 0; i < len(sorted); {
		s := sorted[i]
		for i++; i < len(sorted) && (s.high == math.MaxInt64 || sorted[i].low <= s.high+1); i++ {
			s.high = max(s.high, sorted[i].high)
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		if b = strconv.AppendInt(b, s.low, 10); s.high > s.low {
			b = strconv.AppendInt(append(b, '-'), s.high, 10)
		}
	}
	return string(b)
}

// And returns the numbers that are in both, and reports whether there are any.
func (n Numbers) And(m Numbers) (both Numbers, any bool) {
	if len(n) == 0 || len(m) == 0 {
		return append(n, m...), true
	}
	for _, a := range n {
		for _, b := range m {
			if s := (span{max(a.low, b.low), min(a.high, b.high)}); s.low <= s.high {
				both = append(both, s)
			}
		}
	}
	return both, both != nil
}
