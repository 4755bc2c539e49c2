package html

import (
	"math"
	"testing"
)

func TestTexts(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{grouped(1234567.891, 2), "1,234,567.89"}, {grouped(999, 0), "999"}, {grouped(1000, 0), "1,000"}, {grouped(-1234.5, 1), "-1,234.5"}, {grouped(-0.001, 1), "0.0"},
		{precise(0), "0"}, {precise(99.96), "100"}, {precise(12345.6), "12,346"}, {precise(9.996), "10.0"}, {precise(1.2345), "1.23"}, {precise(0.12345), "0.123"}, {precise(0.0012345), "0.0012"},
		{span(0), "0\u00a0ms"}, {span(12.34), "12.3\u00a0ms"}, {span(1234), "1.23\u00a0s"}, {span(0.0123), "12.3\u00a0µs"}, {span(6_000_000), "100\u00a0min"},
		{size(999), "999\u00a0bytes"}, {size(1234), "1.23\u00a0kB"}, {size(5e6), "5.00\u00a0MB"}, {size(7.5e9), "7.50\u00a0GB"}, {size(2e12), "2.00\u00a0TB"},
		{percent(3.456), "3.5\u00a0%"}, {percent(0.5432), "0.54\u00a0%"}, {percent(99.99), "100.0\u00a0%"}, {percent(0), "0.0\u00a0%"}, {percent(100), "100\u00a0%"}, {at(1234.5678), "1.235\u00a0s"}, {times(1), "once"}, {times(2), "twice"}, {times(1500), "1,500 times"},
		{count(1, "thing", "things"), "1 thing"}, {count(1200, "thing", "things"), "1,200 things"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestProgram(t *testing.T) {
	for line, want := range map[string]string{
		`/usr/bin/dotnet app.dll`: "dotnet", `"C:\Program Files\app.exe" -x`: "app.exe", `C:\app.exe`: "app.exe", ``: "", `/`: "",
	} {
		if got := program(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestBars checks that every value is within the bounds of its bar.
func TestBars(t *testing.T) {
	for _, span := range [][2]float64{{0.001, 5000}, {1, 1}, {3, 3.0001}, {1, 10}, {0.1, 99.9}, {1e-9, 1e9}, {1, 1000}} {
		bounds := barBounds(span[0], span[1])
		if len(bounds) < 2 || len(bounds)-1 > barsOfHistogram {
			t.Errorf("%v: %d bars", span, len(bounds)-1)
		}
		for i := range 101 {
			v := span[0] * math.Pow(span[1]/span[0], float64(i)/100)
			v = min(v, span[1])
			bar := barOf(bounds, v)
			if v < bounds[bar]*(1-1e-12) || v >= bounds[bar+1]*(1+1e-12) {
				t.Errorf("%v: %v is in the bar from %v to %v", span, v, bounds[bar], bounds[bar+1])
			}
		}
	}
}
