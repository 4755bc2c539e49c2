// Package nettrace reads the traces of .NET's EventPipe: .nettrace files and
// streams, and the .netperf files of .NET Core 2.1 and 2.2.
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
//			return err
//		}
//		fmt.Println(rec.Time(), rec.ProviderName, rec.ID)
//	}
//
// # Order
//
// Records come in the order of the stream, in which the events of one thread
// are in order of time, but those of several threads are not. The option
// [Sorted] merges them.
//
// # Memory and lifetime
//
// A record's payload and stack are views of the reader's buffers, valid until
// the next record. In stream order the reader holds one block, which writers
// keep to some 100 KB, and the stacks since the last sequence point; reading an
// event allocates nothing. No size that a stream claims is allocated before the
// bytes are there.
//
// # Damage
//
// A stream that was not stopped or is cut off yields all its whole records, and
// then [ErrNotStopped] or [ErrTruncated] in place of io.EOF. A block with a fault
// is read up to there; the stream goes on behind it, and ends with [ErrDamaged],
// which says where the first fault was. Metadata is not trusted: a row that
// cannot be read is counted in [Stats], and descriptions that do not fit the
// payloads, which profilers are known to write, are for [etw.Dynamic.DecodeLoose].
//
// # Versions
//
// Read are netperf 3, nettrace 4 and 5, which cannot be told apart, and 6. Others
// are refused with [ErrVersion].
package nettrace
