package html

import (
	"math"
	"testing"
)

func TestTexts(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{span(12.34), "12.3\u00a0ms"}, {at(1234.5678), "1.235\u00a0s"}, {size(1234), "1.23\u00a0kB"}, {percent(3.456), "3.5\u00a0%"},
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
