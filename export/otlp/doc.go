// Package otlp writes events, counters and activities as OpenTelemetry has them: in
// OTLP/JSON, to a file that a collector's otlpjsonfile receiver reads, or to a collector by
// HTTP. It imports nothing but the standard library. Use it to send the contents of a trace
// to the store of a system's telemetry.
//
// # Events
//
// An event is a log record. Its EventName is that of the provider and the event, without a
// version, such as Microsoft-Windows-DotNETRuntime/GCStart; the scope is the provider. There
// is no body. The fields are attributes under their own names: numbers, of which unsigned
// ones of 64 bits are in two's complement, text, enumerations by name, GUIDs and times as
// text, bytes, structs as maps and arrays as arrays. The values of the header are the
// attributes etw.provider.id, etw.event.id, etw.version, etw.opcode, etw.task, etw.level,
// etw.channel, etw.keywords, etw.process.id, etw.thread.id, etw.cpu, etw.activity.id and
// etw.related_activity.id. The severity of the levels critical to verbose is 21, 17, 13, 9
// and 5, and that of other levels is not specified. Ids of W3C trace context are the trace
// id and the span id.
//
// # Metrics
//
// The mean of an event counter is a gauge, a count a cumulative sum, under the name of its
// source and its own. Metrics of meters keep their names; histograms of quantiles are
// summaries, called NAME.summary. The pauses for collections are the histogram
// etwgen.dotnet.gc.pause.duration, in seconds.
//
// # Spans
//
// Activities with ids of W3C trace context are spans.
//
// # Profiles
//
// Samples of call stacks are [Profiles], in the binary form alone.
package otlp
