// Package etw turns the records of event traces into typed events. Packages that etwgen
// generates are built on it, and so are the programs that use them. Use it in every
// program that handles events: [Handle] and [Mux] are where to begin.
//
// A [Source], such as the readers of packages etl and nettrace and whatever
// package trace opens, delivers a [Record] for each event: the header, decoded,
// and the payload, as bytes. A [Mux] runs through a source and calls handlers with
// the types that they ask for:
//
//	var mux etw.Mux
//	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
//		fmt.Println(r.Time(), e.Reason)
//		return nil
//	})
//	err := mux.Run(ctx, source)
//
// A trace that is cut off or damaged is read as far as it goes. Only then comes an
// error, which [ErrIncomplete] recognises: print what there is, and then the error.
//
// [Records] iterates over a source without a Mux, and [Mux.Enablement] says what a
// session must enable for handlers to be called.
//
// # Events without a type
//
// A [Decoder] decodes any record by the best description there is: by a generated
// type, by the schema that the trace itself has, or by a manifest that was read at
// run time, which package manifest describes. [Field] and [Fields] find the values
// of its events by name, and [Value] has them as they are, as values of Go, or as
// text. [AppendText], [AppendJSON] and [LogValue] show events as a whole, and [Show] makes
// encoding/json and log/slog do so.
//
// # Building events
//
// Tests of handlers, and programs that write traces, set the fields of a generated
// type and call its AppendPayload. [MakeUTF16], [MakeInts] and their like make the
// strings and arrays.
//
// # Allocation and aliasing
//
// Decoding, encoding into a buffer with room, iterating over an array and
// dispatching allocate nothing. The price is aliasing: strings, binary values
// and arrays of a decoded event are views of the payload that it was decoded from.
// They are valid as long as the payload is, and a payload is valid until the source
// delivers the next record. What must live longer is copied: Clone does it for
// events, views and records, String for text.
//
// A program that keeps a view may seem to work, since sources overwrite their
// buffers only now and then. A test that reads from Poison, of package etwtest,
// finds it.
//
// # Exactness
//
// A decoder sets every field from the bytes as they are. Unsigned stays
// unsigned, a Boolean keeps its 32 bits, and encoding a decoded event gives
// the bytes back. A payload that is longer than the layout of its event decodes,
// and the decoder returns how many bytes it knows. A shorter one is a
// [DecodeError] that names the field and its offset.
//
// # Descriptions
//
// Every generated type has an [EventDesc]. Text, JSON and log attributes, the
// [Dynamic] decoder and the messages of errors work from descriptions alone, so
// they serve events whose schema is known only at run time just as well.
//
// # For generated code
//
// Generated packages call what follows. Other programs have no need of it.
//
//   - Reading payloads: [Cursor], [NewCursor], [ReadInts], [LoadSystemTime], and
//     [Short] for those that are too short.
//   - Encoding them: [Appender], [NewAppender], [AppendInts], [AppendSystemTime].
//   - The values of fields: [IntValue], [UintValue], [FloatValue], [Float32Value],
//     [BoolValue], [PointerValue], [GUIDValue], [FileTimeValue], [SystemTimeValue],
//     [UTF16Value], [ANSIValue], [BinaryValue], [SIDValue], [ArrayValue],
//     [ListValue], [StructValue].
//   - Arrays of structs: [ElementsText], [ElementsJSON], [Pointers.PtrSize].
//   - Events without fields: [Empty].
//   - Layouts that depend on the size of pointers: [PtrSize.Choose].
//   - Names of values: [MapDesc.ValueString], [KeywordNames], [Provider.TaskName].
//   - That generated code and this package fit: [EnforceVersion], [MinVersion],
//     [MaxVersion].
package etw
