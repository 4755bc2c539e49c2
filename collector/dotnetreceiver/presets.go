package dotnetreceiver

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/internal/profiling"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

const metersName = "System.Diagnostics.Metrics"

// Presets are the names of the presets.
func Presets() []string {
	return []string{"gc", "exceptions", "contention", "threadpool", "requests", "cause", "counters", "cpu", "allocs"}
}

// A plan is the events that a session records, and where metrics of the runtime come from.
type plan struct {
	providers []eventpipe.Provider
	source    string
	metrics   time.Duration // how often, or 0
}

// plan returns the events to record of a runtime.
func (c *Config) plan(version int, known []*etw.Provider) plan {
	p := plan{source: c.Metrics.Source}
	if p.source == flow.SourceAuto {
		p.source = flow.SourceCounters
		if version >= 9 && c.readsMeters() { // of which meters have all that counters do
			p.source = flow.SourceMeters
		}
	}
	for _, name := range c.Presets {
		p.add(c, name, version)
	}
	for _, own := range c.Providers {
		level, _ := flow.Level(own.Level, 5) // both were checked
		keywords, _ := own.keywords(known)
		var pairs []string
		for k, v := range own.Arguments {
			pairs = append(pairs, k, flow.Text(v))
		}
		p.providers = append(p.providers, eventpipe.Provider{Name: own.Name, Keywords: keywords, Level: level, Arguments: eventpipe.Arguments(pairs...)})
	}
	p.providers = eventpipe.Merge(p.providers)
	return p
}

// readsMeters reports whether meters are read; without them events supply the metrics they can.
func (c *Config) readsMeters() bool {
	return slices.Contains(c.Presets, "counters") || slices.ContainsFunc(c.Providers, func(p Provider) bool { return p.Name == metersName })
}

// runtime adds the needs of an analysis of the runtime.
func (p *plan) runtime(needs []need.Need) {
	if p.metrics == 0 {
		p.metrics = 10 * time.Second
	}
	p.providers = append(p.providers, profiling.Providers(needs)...)
}

// add adds the providers of a preset.
func (p *plan) add(c *Config, preset string, version int) {
	switch preset {
	case "gc":
		p.runtime(gc.Needs)
	case "exceptions":
		p.runtime(exceptions.NeedsHandling)
	case "contention":
		p.runtime(contention.Needs)
	case "threadpool":
		p.runtime(threadpool.Needs)
	case "requests":
		if !slices.Contains(c.Presets, "cause") {
			p.providers = append(p.providers, spans(c.Traces.Sources, "/Stop"))
		}
	case "cause": // which takes starts, too
		p.providers = append(p.providers, spans(c.Traces.Sources, ""))
		p.providers = append(p.providers, profiling.Providers(activities.Needs)...)
	case "counters":
		p.metrics = min(c.Counters.Interval, c.Meters.Interval)
		for _, name := range c.Counters.Sources {
			if name == "System.Runtime" && p.source != flow.SourceCounters {
				continue
			}
			p.providers = append(p.providers, eventpipe.Provider{Name: name, Level: etw.LevelInformational, Arguments: eventpipe.Arguments("EventCounterIntervalSec", seconds(c.Counters.Interval))})
		}
		if version >= 6 && p.source == flow.SourceMeters {
			p.providers = append(p.providers, meters(&c.Meters, version))
		}
	}
}

// meters returns the provider of meters. A process serves one session of them at a
// time, known by an id; .NET 8 and later serve several that share one.
func meters(c *MetersConfig, version int) eventpipe.Provider {
	list := []string{"SessionId", fmt.Sprintf("otelcol-%d-%d", os.Getpid(), time.Now().UnixNano()), "Metrics", strings.Join(c.Include, ","), "RefreshInterval", seconds(c.Interval),
		"MaxTimeSeries", strconv.Itoa(c.MaxTimeSeries), "MaxHistograms", strconv.Itoa(c.MaxHistograms)}
	if c.Histograms == "exponential" && version >= 10 {
		list = append(list, "Base2ExponentialHistogram", "scale=20;maxBuckets=160;reportDeltas=false")
	}
	return eventpipe.Provider{Name: metersName, Keywords: 0x2, Level: etw.LevelInformational, Arguments: eventpipe.Arguments(list...)}
}

// spans returns the provider that passes on activities with their ids, as they begin and end,
// or only as they do one of these.
func spans(sources []string, only string) eventpipe.Provider {
	var specs []string
	for _, s := range sources {
		specs = append(specs, "[AS]"+s+only+":-TraceId;SpanId;ParentSpanId;OperationName;DisplayName;Kind;Status;DurationTicks=Duration.Ticks;TagObjects=TagObjects.*Enumerate")
	}
	return eventpipe.Provider{Name: "Microsoft-Diagnostics-DiagnosticSource", Keywords: 0x3, Level: etw.LevelVerbose, Arguments: eventpipe.Arguments("FilterAndPayloadSpecs", strings.Join(specs, "\n"))}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
