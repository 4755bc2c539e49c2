package etw

import (
	"math"
	"math/big"
	"testing"
	"testing/quick"
	"time"
)

func TestFileTime(t *testing.T) {
	for _, want := range []time.Time{
		time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999999900, time.UTC),
		time.Date(2026, 11, 21, 12, 30, 0, 1234500, time.UTC),
	} {
		ft := FileTimeOf(want)
		if got := ft.Time(); !got.Equal(want) {
			t.Errorf("FileTimeOf(%v).Time() = %v", want, got)
		}
	}
	if got := FileTimeOf(time.Unix(0, 199)); got != fileTimeUnix+1 {
		t.Errorf("100 ns after the Unix epoch is %d, want %d", got, int64(fileTimeUnix+1))
	}
	if got, want := FileTime(fileTimeUnix+1).String(), "1970-01-01T00:00:00.0000001Z"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestClock(t *testing.T) {
	start := FileTimeOf(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	tests := []struct {
		freq, ticks int64
		want        time.Duration
	}{
		{1e7, 1, 100},
		{0, 1, 100}, // a header without a frequency
		{1e9, 1, 1},
		{1e9, 12345, 12345},
		{3124099, 3124099, time.Second},
		{3124099, -3124099, -time.Second},
		{3, -1, -333333334}, // toward negative infinity
		{3, 1, 333333333},
		{1e7, 2e16, 2e18},
		{1e7, math.MaxInt64 / 2, math.MaxInt64}, // clamped
		{1e7, -math.MaxInt64 / 2, math.MinInt64},
		{1, math.MaxInt64 - 1000, math.MaxInt64},
	}
	for _, test := range tests {
		c := Clock{Start: start, Origin: 1000, Frequency: test.freq}
		if got := c.Elapsed(1000 + test.ticks); got != test.want {
			t.Errorf("%d ticks at %d Hz are %d ns, want %d", test.ticks, test.freq, got, test.want)
		}
	}
	c := Clock{Start: start, Origin: 1000, Frequency: 2533315}
	if got := c.FileTime(1000 + 2533315); got != start+1e7 {
		t.Errorf("a second after the start is %d ticks after it", got-start)
	}
	if got := c.Ticks(start + 1e7); got != 1000+2533315 {
		t.Errorf("Ticks = %d", got)
	}
	r := Record{Timestamp: 1000 + 2533315, Clock: &c}
	if got, want := r.Time(), start.Time().Add(time.Second); !got.Equal(want) {
		t.Errorf("Time() = %v, want %v", got, want)
	}
	if got := r.Elapsed(); got != time.Second {
		t.Errorf("Elapsed() = %v", got)
	}
	if r.Clock = nil; !r.Time().IsZero() || r.Elapsed() != 0 {
		t.Error("a record without a clock has a time")
	}
}

func TestMuldiv(t *testing.T) {
	exact := func(a int64, b, c uint32) bool {
		d := int64(c) + 1
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(int64(b)))
		want.Div(want, big.NewInt(d)) // Euclidean: toward negative infinity for d > 0
		switch {
		case want.Cmp(big.NewInt(math.MaxInt64)) > 0:
			want.SetInt64(math.MaxInt64)
		case want.Cmp(big.NewInt(math.MinInt64)) < 0:
			want.SetInt64(math.MinInt64)
		}
		return muldiv(a, int64(b), d) == want.Int64()
	}
	if err := quick.Check(exact, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}
