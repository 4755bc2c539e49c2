package show

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

func TestAppendMS(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                {"0.0000", "0"},
		1:                {"0.0000", "0.000001"},
		49:               {"0.0000", "0.000049"},
		50:               {"0.0001", "0.00005"},
		1e6:              {"1.0000", "1"},
		1234567890:       {"1234.5679", "1234.56789"},
		-1500 * 1e3:      {"-1.5000", "-1.5"},
		-1:               {"-0.0000", "-0.000001"},
		math.MaxInt64:    {"9223372036854.7758", "9223372036854.775807"},
		math.MinInt64:    {"-9223372036854.7758", "-9223372036854.775808"},
		999999*1e3 + 960: {"1000.0000", "999.99996"},
	} {
		if got := string(AppendMS(nil, d)); got != want[0] {
			t.Errorf("%d ns: %s, want %s", d, got, want[0])
		}
		if got := string(AppendExactMS(nil, d)); got != want[1] {
			t.Errorf("%d ns exactly: %s, want %s", d, got, want[1])
		}
	}
}

// TestStamp holds times against package etw, in an order that changes the second
// and does not.
func TestStamp(t *testing.T) {
	var s Stamp
	base := etw.FileTimeOf(time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC))
	for _, ft := range []etw.FileTime{base, base + 1, base + 9999999, base + 1e7, base, 0, 1, -1, -1e7, 1<<63 - 1, base} {
		if got := string(s.Append(nil, ft)); got != ft.String() {
			t.Errorf("%d: %s, want %s", int64(ft), got, ft)
		}
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		events  int64
		share   float64
		elapsed time.Duration
		want    string
	}{
		{1500000, 0.25, 2 * time.Second, " 25%  1.5M events, 750k/s, 6s left"},
		{999, -1, time.Second, "999 events, 999/s"},
		{2e9, 1, 10 * time.Second, "100%  2G events, 200M/s, 0s left"},
	} {
		if got := progressLine(c.events, c.share, c.elapsed); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	// A shown line is taken away again, and comes no more often than it should.
	var b bytes.Buffer
	p := &Progress{W: &b, begun: time.Now().Add(-2 * time.Second)}
	p.Show(100, 0.5)
	p.Show(200, 0.5)
	p.End()
	p.End()
	parts := strings.Split(b.String(), "\r")
	if len(parts) != 4 || parts[0] != "" || !strings.HasPrefix(parts[1], " 50%  100 events") || strings.TrimSpace(parts[2]) != "" || len(parts[2]) != len(parts[1]) || parts[3] != "" {
		t.Errorf("shown: %q", b.String())
	}
	// Nothing is shown where it would not be seen.
	quiet := NewProgress(&b, &b)
	if quiet.Show(1, 0.5); quiet.W != nil {
		t.Error("progress is shown on what is no terminal")
	}
}
