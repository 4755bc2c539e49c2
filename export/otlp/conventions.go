package otlp

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
)

// RuntimeMeter is the name of the meter of .NET 9 and later, and of the source of the
// event counters before it, that tell of the runtime.
const RuntimeMeter = "System.Runtime"

// generationKey is the attribute of the generation that a number is about.
const generationKey = "dotnet.gc.heap.generation"

// A convention gives an event counter of the runtime its name under the semantic conventions
// of OpenTelemetry.
type convention struct {
	Counter string // its name
	Metric  string
	Unit    string
	// Monotonic is for sums that only grow; the others are sums that also shrink.
	Monotonic bool
	Scale     float64 // from the unit of the counter
	Key       string  // of the attribute that tells it from others of its name, or ""
	Value     string
}

// conventions are the event counters of System.Runtime of which conventions have the
// metric. Those for collections are not among them: they count generations up to theirs.
var conventions = []convention{
	{"working-set", "dotnet.process.memory.working_set", "By", false, 1e6, "", ""},
	{"alloc-rate", "dotnet.gc.heap.total_allocated", "By", true, 1, "", ""},
	{"gc-committed", "dotnet.gc.last_collection.memory.committed_size", "By", false, 1e6, "", ""},
	{"gen-0-size", "dotnet.gc.last_collection.heap.size", "By", false, 1, generationKey, "gen0"},
	{"gen-1-size", "dotnet.gc.last_collection.heap.size", "By", false, 1, generationKey, "gen1"},
	{"gen-2-size", "dotnet.gc.last_collection.heap.size", "By", false, 1, generationKey, "gen2"},
	{"loh-size", "dotnet.gc.last_collection.heap.size", "By", false, 1, generationKey, "loh"},
	{"poh-size", "dotnet.gc.last_collection.heap.size", "By", false, 1, generationKey, "poh"},
	{"il-bytes-jitted", "dotnet.jit.compiled_il.size", "By", true, 1, "", ""},
	{"methods-jitted-count", "dotnet.jit.compiled_methods", "{method}", true, 1, "", ""},
	{"time-in-jit", "dotnet.jit.compilation.time", "s", true, 1e-3, "", ""},
	{"monitor-lock-contention-count", "dotnet.monitor.lock_contentions", "{contention}", true, 1, "", ""},
	{"threadpool-thread-count", "dotnet.thread_pool.thread.count", "{thread}", false, 1, "", ""},
	{"threadpool-queue-length", "dotnet.thread_pool.queue.length", "{work_item}", false, 1, "", ""},
	{"threadpool-completed-items-count", "dotnet.thread_pool.work_item.count", "{work_item}", true, 1, "", ""},
	{"active-timer-count", "dotnet.timer.count", "{timer}", false, 1, "", ""},
	{"assembly-count", "dotnet.assembly.count", "{assembly}", false, 1, "", ""},
	{"exception-count", "dotnet.exceptions", "{exception}", true, 1, "error.type", "_OTHER"},
}

// conventional makes a metric of the conventions of a counter, if it is one. The
// result is nil otherwise.
func (m *Metrics) conventional(c *counters.Counter, like *family) *convention {
	if !m.Conventions || c.Provider != RuntimeMeter {
		return nil
	}
	for i := range conventions {
		as := &conventions[i]
		if as.Counter != c.Name {
			continue
		}
		like.name, like.unit, like.kind, like.monotonic = as.Metric, as.Unit, "sum", as.Monotonic
		// The sums of some are values of their own: their present totals.
		like.absolute = c.Type != "Sum"
		return as
	}
	return nil
}

// scaled returns a value in the unit of the convention.
func (c *convention) scaled(v float64) float64 {
	if c == nil {
		return v
	}
	return v * c.Scale
}

// attributes returns those of a point.
func (c *convention) attributes(tags string) []Attribute {
	list := attributesOf(tags)
	if c != nil && c.Key != "" {
		list = append(list, Attribute{c.Key, c.Value})
	}
	return list
}

// conventionalTags returns tags under the names of the conventions, from which the
// runtime strays in one.
func conventionalTags(tags string) string {
	if rest, ok := strings.CutPrefix(tags, "gc.heap.generation="); ok {
		return generationKey + "=" + rest
	}
	return strings.ReplaceAll(tags, ",gc.heap.generation=", ","+generationKey+"=")
}
