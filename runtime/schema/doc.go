// Package schema knows a trace's descriptions of its own events. Use it beside a live source
// of your own: readers of files describe events themselves.
//
// A [Set] learns the schemas that come by as events, and describes other events
// by them:
//
//	var set schema.Set
//	for r, err := range etw.Records(source) {
//		if err != nil {
//			return err
//		}
//		set.Learn(r)
//		set.Describe(r) // sets r.Schema and r.ProviderName
//	}
//
// There are three sources of schemas, of which the first that has one for an
// event is taken:
//
//  1. The event itself, in an extended item: TraceLogging.
//  2. What a merge tool stored of the recording system's knowledge: events of the
//     class MetaData, which hold structures of the Trace Data Helper (TDH).
//  3. The manifest that an EventSource writes, in chunks, among its own events.
//
// The first needs no learning. The others describe events after they were learned; a reader
// of files, where they often come behind the events that need them, lets its Set learn all
// of them first. Package etl does that, so that only live sessions need this package
// directly.
//
// EventPipe describes its events in its own words, which package nettrace reads; [Widths]
// finds out where these are wrong.
//
// Schemas are programs' words about themselves and can be wrong. One that makes no sense is
// left out; for one that does not fit its events there is [etw.Dynamic.DecodeLoose]. The
// memory of a Set is bounded, whatever it is given to learn.
package schema
