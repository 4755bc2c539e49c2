// Package parquet writes the events of a trace as tables: a lake of Parquet files, which
// DuckDB, Spark, ClickHouse and others read. Use it to ask questions of many traces by
// SQL.
//
// [Export] takes any [etw.Source], a file as well as a live session. Each type of
// event becomes a file of its own, all versions of it together, below a folder that
// names it and the day:
//
//	lake/event=Microsoft-Windows-DotNETRuntime.GCStart/date=2026-11-21/TRACE-4ab0….parquet
//	lake/_traces/4a/4ab0….json
//
// The second is a [Manifest], which describes the trace, its parts by file, and its losses.
// It is written last: files that no manifest lists do not count, and [OpenLake] finds those
// that do. [Options] say when two exports are those of one recording.
//
// # Columns
//
// Each row begins with time (µs, UTC), time_ns, pid, tid, cpu, activity, related and version.
// Then come trace, trace_id and the columns of the [Resource], which is the same in all rows,
// and then the fields under their own names; one that is called like a column before it gets
// the prefix field_. All fields can be null: not every version has every field, and not every
// payload is whole.
//
// With [PlainTypes] columns have types that all engines know, with [ExactTypes] those of the
// fields:
//
//   - Integers have their own width and sign, or without a sign of less than 64 bits the
//     next wider one with it; addresses are UINT64.
//   - An integer with names of values is text: the name, or the number where it has
//     none. Of bits the number is kept, too, as FIELD_value.
//   - GUIDs are text, or UUIDs. FILETIME and SYSTEMTIME are timestamps in µs, with ns in a column
//     FIELD_ns, or in ns, of UTC; null are years before 1678 and after 2261, 0 among them.
//   - Text is UTF-8; what is no valid text is repaired. SIDs, decimals and network
//     addresses are text; other binary values are bytes.
//   - An array is a LIST, a struct a STRUCT.
//   - An event of which nothing is known has its bytes in a column payload.
//
// If a field has another type in another version, the column has one that holds
// both. Types of fields come from all known versions of an event, whichever of them a
// trace has, so that the files of different traces agree.
//
// # Memory
//
// Rows are kept until they make up a row group, or all together [Options.MaxMemory]. Where there
// are several processors (GOMAXPROCS), events of different types become rows at the same time, of
// copies of some thousand events that come on top; the files are the same, byte for byte.
// Nothing is allocated for a row. Events and columns take memory as far as a trace
// has different ones, with a limit beyond which files are split.
package parquet
