package live

import (
	"io"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// lag measures how long events take to a handler that has them in the order of time. It
// fails for none: its log is for docs/live.md.
func lag(t *testing.T, c *eventpipe.Client) {
	s := begin(t, c, eventpipe.Config{Providers: []eventpipe.Provider{
		{Name: "Microsoft-DotNETCore-SampleProfiler", Level: etw.LevelInformational},
		{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x1c01d, Level: etw.LevelVerbose}}})
	var sum, longest time.Duration
	seen, began := 0, time.Now()
	var rec etw.Record
	for ended := false; ; {
		err := s.Next(&rec)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Error(err)
			break
		}
		if now := time.Now(); now.Sub(began) < 5*time.Second {
			late := now.Sub(rec.Time())
			sum, longest = sum+late, max(longest, late)
			seen++
		} else if !ended {
			ended = true
			stop(t, s)
		}
	}
	if seen > 0 {
		t.Logf("%d events: %v on average, %v at most", seen, (sum / time.Duration(seen)).Round(time.Millisecond), longest.Round(time.Millisecond))
	}
}
