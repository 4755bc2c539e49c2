// Package counters has the events of EventCounters as Go types, and the meanings of
// well-known counters and instruments. Use it to handle single values; package counters of
// analysis has them over time.
//
// Counters of all EventSources log one event, EventCounters, with an id that each process
// chooses. It has one of two shapes: a [Value], of counters of values, and an [Increment],
// of those that add up. No handler of a [etw.Mux] is for events of any provider, so both
// come from the events left over:
//
//	mux.HandleRest(counters.Handler(
//		func(r *etw.Record, v *counters.Value) error { return nil },
//		func(r *etw.Record, i *counters.Increment) error { return nil },
//	))
//
// Events of meters of System.Diagnostics.Metrics have a provider of its own, and types in
// package metrics beside this one.
package counters

//go:generate go tool etwgen gen --files one -o . counters.man
