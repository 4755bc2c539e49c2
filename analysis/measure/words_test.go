package measure

import "testing"

func TestWords(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Grouped(1234567.891, 2), "1,234,567.89"}, {Grouped(999, 0), "999"}, {Grouped(1000, 0), "1,000"}, {Grouped(-1234.5, 1), "-1,234.5"}, {Grouped(-0.001, 1), "0.0"},
		{Precise(0), "0"}, {Precise(99.96), "100"}, {Precise(12345.6), "12,346"}, {Precise(9.996), "10.0"}, {Precise(1.2345), "1.23"}, {Precise(0.12345), "0.123"}, {Precise(0.0012345), "0.0012"},
		{Span(0), "0 ms"}, {Span(12.34), "12.3 ms"}, {Span(1234), "1.23 s"}, {Span(0.0123), "12.3 µs"}, {Span(6_000_000), "100 min"},
		{Size(999), "999 bytes"}, {Size(1234), "1.23 kB"}, {Size(5e6), "5.00 MB"}, {Size(7.5e9), "7.50 GB"}, {Size(2e12), "2.00 TB"},
		{Percent(3.456), "3.5 %"}, {Percent(0.5432), "0.54 %"}, {Percent(99.99), "100.0 %"}, {Percent(0), "0.0 %"}, {Percent(100), "100 %"}, {At(1234.5678), "1.235 s"}, {Times(1), "once"}, {Times(2), "twice"}, {Times(1500), "1,500 times"},
		{Count(1, "thing", "things"), "1 thing"}, {Count(1200, "thing", "things"), "1,200 things"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
