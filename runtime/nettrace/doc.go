// Package nettrace reads and writes the traces of .NET's EventPipe: .nettrace files and
// streams, and the .netperf files of .NET Core 2.1 and 2.2. Use it for these streams
// alone, and to write them; a program that takes any trace uses package trace.
//
// It is a transport of package etw: [Reader.Next] fills an [etw.Record] with the
// header of an event, its payload, its call stack and, where the stream has
// one, a description of its fields from which an [etw.Dynamic] decodes the
// payload. The runtime's own events come without a description. Their payloads
// have the layout of the manifest events with the same provider, id and
// version, so that generated types decode them.
//
//	r, err := nettrace.Open("app.nettrace")
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	for rec, err := range r.Records() {
//		if err != nil {
//			return err // what could not be read; all that could be has come before
//		}
//		fmt.Println(rec.Time(), rec.ProviderName, rec.ID)
//	}
//
// # Order
//
// In a stream the events of one thread are in the order of time, but those of several
// threads are not. The reader merges them: it holds back the blocks that are not yet due,
// those between two sort points, which is usually the work of a tenth of a second, and at
// the end of a session everything that the runtime writes about its methods. [WithSortLimit]
// bounds the memory for it. With the option [WithFileOrder] records come as they stand in
// the stream.
//
// # Memory and lifetime
//
// A record's payload and stack are views of the reader's buffers, or of the memory
// of a bytes.Reader, which is read in place. They are valid until the next record.
// In file order the reader holds one block, which writers keep to some 100 KB, and
// the stacks since the last sequence point; reading an event allocates nothing. No
// size that a stream claims is allocated before the bytes are there.
//
// # Writing
//
// A [Writer] writes streams, of version 4 or 6, of records that a program makes or
// that a Reader delivered: [Writer.Copy] keeps all that a stream says of one.
//
// # Damage
//
// Good records come first. A stream that was not stopped or is cut off yields all its whole
// records. A block with a fault is read up to there, and the stream goes on at the next
// block that can be recognised, also where the size of the damaged one is wrong. Then comes
// one error, an [*etw.IncompleteError], in which errors.Is finds [ErrNotStopped],
// [ErrTruncated] and [ErrDamaged], and then io.EOF. To be sure that nothing follows the end
// marker, the reader reads on to the end of the stream.
//
// Metadata is not trusted: a row that cannot be read is counted in [Stats], and
// descriptions that do not fit the payloads, which profilers are known to write, are
// for [etw.Dynamic.DecodeLoose].
//
// # Versions
//
// Read are netperf 3, nettrace 4 and 5, which cannot be told apart, and 6. Others
// are refused with [ErrVersion].
package nettrace
