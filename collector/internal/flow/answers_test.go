package flow

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/counters"
)

// TestOneSource has each metric of the runtime come from one source: of counters and
// events of collections those stay that no other has.
func TestOneSource(t *testing.T) {
	result := func() *counters.Result {
		counter := func(provider, name string) counters.Counter {
			return counters.Counter{Provider: provider, Name: name}
		}
		return &counters.Result{Processes: []counters.Process{{
			Counters: []counters.Counter{
				counter("System.Runtime", "gen-0-gc-count"), counter("System.Runtime", "gen-2-gc-count"), counter("System.Runtime", "total-pause-time-by-gc"),
				counter("System.Runtime", "gen-0-size"), counter("System.Runtime", "time-in-gc"), counter("Own", "gen-0-gc-count"),
			},
			Metrics: []counters.Metric{{Meter: "System.Runtime", Instrument: "dotnet.gc.collections"}, {Meter: "Own", Instrument: "mine"}},
		}}}
	}
	for _, c := range []struct {
		source   string
		collects bool
		want     []string
	}{
		{SourceCounters, false, []string{"System.Runtime/gen-0-gc-count", "System.Runtime/gen-2-gc-count", "System.Runtime/total-pause-time-by-gc", "System.Runtime/gen-0-size", "System.Runtime/time-in-gc", "Own/gen-0-gc-count", "Own/mine"}},
		{SourceCounters, true, []string{"System.Runtime/gen-0-size", "System.Runtime/time-in-gc", "Own/gen-0-gc-count", "Own/mine"}},
		{SourceMeters, true, []string{"Own/gen-0-gc-count", "System.Runtime/dotnet.gc.collections", "Own/mine"}},
		{SourceEvents, true, []string{"Own/gen-0-gc-count", "Own/mine"}},
	} {
		res := result()
		choose(res, c.source, c.collects)
		var got []string
		for _, x := range res.Processes[0].Counters {
			got = append(got, x.Provider+"/"+x.Name)
		}
		for _, x := range res.Processes[0].Metrics {
			got = append(got, x.Meter+"/"+x.Instrument)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, with events of collections %v: %v, want %v", c.source, c.collects, got, c.want)
		}
	}
}
