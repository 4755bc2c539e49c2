// Package etw is the runtime of generated event packages: it connects the
// typed events that etwgen writes to whatever delivers events.
//
// A transport, such as the readers in runtime/etl and runtime/nettrace, fills
// a [Record]: the header of an event and the bytes of its payload. A generated
// type decodes those bytes. A [Mux] sits between the two and calls a handler
// with the type it asks for:
//
//	var mux etw.Mux
//	etw.Handle(&mux, func(r *etw.Record, e *clr.GCStartV1) error {
//		fmt.Println(r.Time(), e.Reason)
//		return nil
//	})
//	for rec, err := range reader.Records() {
//		if err != nil {
//			return err
//		}
//		if err := mux.Dispatch(rec); err != nil {
//			return err
//		}
//	}
//
// # Allocation and aliasing
//
// Decoding, encoding into a buffer with room, iterating over an array and
// dispatching allocate nothing. The price is aliasing: strings, binary values
// and arrays of a decoded event are views of the payload it was decoded from.
// They are valid as long as the payload is, and a payload is valid until the
// transport delivers the next record. What must live longer is copied with
// String, [UTF16.AppendTo] or bytes.Clone.
//
// # Exactness
//
// A decoder sets every field from the bytes as they are. Unsigned stays
// unsigned, a Boolean keeps its 32 bits, and encoding a decoded event gives
// the bytes back. A payload longer than the event's layout is no error: the
// decoder returns the number of bytes it knows. A shorter one is a
// [DecodeError] that names the field and its offset.
//
// # Descriptors
//
// Every generated type has an [EventDesc]. Rendering (text, JSON, slog), the
// [Dynamic] decoder and the messages of errors work from descriptors alone, so
// they serve events whose schema is known only at run time just as well.
package etw
