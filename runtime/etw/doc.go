// Package etw turns the records of event traces into typed events. Packages that etwgen
// generates are built on it, and so are the programs that use them. Use it in every
// program that handles events: [Handle] and [Mux] are where to begin.
//
//	var mux etw.Mux
//	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
//		fmt.Println(r.Time(), e.Reason)
//		return nil
//	})
//	err := mux.Run(ctx, source)
//
// The parts that programs use, by purpose:
//
//   - Records in: [Source], [Record], [Records]; of the header [GUID], [Level], [Opcode], [Kind],
//     [ExtendedItem], [Stack], [Clock].
//   - Handlers: [Handle], [Mux], [Mux.Enablement] and [Enable], [Shared].
//   - A trace that is cut off is read as far as it goes, and then [ErrIncomplete] recognises
//     the error: [IncompleteError], [Damage], [DecodeError], [Interrupter] for live ones.
//   - Events without a type: [Decoder], [Dynamic], [Provider], [Registry].
//   - Fields by name: [Field], [Fields], [Value].
//   - Events as text, JSON and attributes of a log: [AppendText], [AppendMessage], [AppendJSON],
//     [LogValue], [Show].
//   - Types of fields: [UTF16], [ANSI], [Binary], [SID], [Pointer], [Bool], [FileTime], [SystemTime],
//     arrays such as [Ints]; [MakeUTF16], [MakeInts] and their like make them for AppendPayload.
//   - Descriptions, of which text, JSON and [Dynamic] are made: [EventDesc], [FieldDesc], [MapDesc].
//
// # Allocation, aliasing and exactness
//
// Decoding, encoding into a buffer with room, iterating over an array and dispatching allocate
// nothing. The price: strings, binary values and arrays are views of the payload, which is valid
// until the source delivers the next record. Clone copies events, views and records, and String
// text. A program that keeps a view may seem to work; a test that reads from Poison, of package
// etwtest, finds it.
//
// Encoding a decoded event gives its bytes back. A payload longer than the layout of its event
// decodes, and the decoder returns how many bytes it knows; a shorter one is a [DecodeError].
//
// # For generated code
//
// Generated packages call these. Other programs have no need of them.
//
//   - Reading payloads: [Cursor], [NewCursor], [ReadInts], [LoadSystemTime], and
//     [Short] for those that are too short.
//   - Encoding them: [Appender], [NewAppender], [AppendInts], [AppendSystemTime].
//   - The values of fields: [IntValue], [UintValue], [FloatValue], [Float32Value],
//     [BoolValue], [PointerValue], [GUIDValue], [FileTimeValue], [SystemTimeValue],
//     [UTF16Value], [ANSIValue], [BinaryValue], [SIDValue], [ArrayValue],
//     [ListValue], [StructValue].
//   - Arrays of structs: [ElementsText], [ElementsJSON], [Pointers.PtrSize].
//   - Events without fields: [Empty]; of several versions: [DescOf], [Seen].
//   - Layouts that depend on the size of pointers: [PtrSize.Choose].
//   - Names of values: [MapDesc.ValueString], [MapDesc.ValueName], [KeywordNames], [Provider.TaskName].
//   - That generated code and this package fit: [EnforceVersion], [MinVersion],
//     [MaxVersion].
package etw
