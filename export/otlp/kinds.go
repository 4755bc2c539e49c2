package otlp

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
)

// A facet is the part of samples in one profile of OpenTelemetry: one of their values, under
// the names by which backends know it.
type facet struct {
	sample stacks.ValueType
	// period is the unit of sampling; it has no name where backends want none.
	period stacks.ValueType
	every  int64 // units of period between two samples, 0 if there are none
	value  int   // of the samples
	// share is how much of the value counts one.
	share int64
}

// Units, as OpenTelemetry and pprof call them.
const (
	nanoseconds = "nanoseconds"
	bytesUnit   = "bytes"
	count       = "count"
)

// allocatedEvery is the mean distance between samples of allocations, in bytes: that of
// ticks, and that of the samples which .NET 10 draws.
const allocatedEvery = 100 << 10

// facets returns the profiles of samples that are so many nanoseconds apart, 0 if they are
// not. A backend such as Pyroscope makes the name of a profile of its period type, so that
// each has one, but for time off the processor, which it knows without.
func facets(p *stacks.Profile, every int64) []facet {
	last := len(p.Types) - 1
	switch p.Kind {
	case cpu.ThreadTime:
		wall := stacks.ValueType{Name: "wall", Unit: nanoseconds}
		return []facet{{sample: wall, period: wall, every: max(every, 1), value: last}}
	case cpu.CPU:
		if every > 0 {
			return []facet{{sample: stacks.ValueType{Name: "samples", Unit: count}, period: stacks.ValueType{Name: "cpu", Unit: nanoseconds}, every: every, value: last, share: every}}
		}
	case "allocations":
		space := stacks.ValueType{Name: "space", Unit: bytesUnit}
		list := []facet{{sample: stacks.ValueType{Name: "allocated_space", Unit: bytesUnit}, period: space, every: allocatedEvery, value: last}}
		if p.Types[0].Name == "alloc_objects" { // every object is counted
			list[0].every = 1
			list = append(list, facet{sample: stacks.ValueType{Name: "allocated_objects", Unit: count}, period: space, every: 1})
		}
		return list
	case "contention":
		waits := stacks.ValueType{Name: "contentions", Unit: count}
		return []facet{
			{sample: stacks.ValueType{Name: "delay", Unit: nanoseconds}, period: waits, every: 1, value: 1},
			{sample: waits, period: waits, every: 1},
		}
	case threads.Blocked, "waits":
		return []facet{{sample: stacks.ValueType{Name: "off_cpu", Unit: nanoseconds}, value: last}}
	}
	var list []facet
	for i, t := range slices.Backward(p.Types) { // what weighs most to people is the last
		list = append(list, facet{sample: t, period: stacks.ValueType{Name: identifier(p.Kind), Unit: t.Unit}, every: 1, value: i})
	}
	return list
}

// identifier returns a name without characters that names of metrics lack.
func identifier(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "samples"
	}
	return string(b)
}

// of returns a value as the facet counts it.
func (f *facet) of(values []int64) int64 {
	v := values[f.value]
	if f.share > 1 {
		v = v/f.share + (v%f.share+f.share/2)/f.share
	}
	return v
}

// keyOfLabel returns the attribute that a label of samples of a kind is.
func keyOfLabel(kind, label string) string {
	if kind == "exceptions" && label == "type" {
		return "exception.type"
	}
	return label
}
