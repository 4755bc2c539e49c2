// Package etl reads and writes .etl files, the event trace logs of Windows, on any
// system. Use it for these files alone, and to write them; a program that takes any trace
// uses package trace.
//
//	r, err := etl.Open("trace.etl")
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	for rec, err := range r.Records() {
//		if err != nil {
//			return err // damage, after all that could be read
//		}
//		fmt.Println(rec.Time(), rec.ProviderName, rec.ID)
//	}
//
// A [Writer] writes such files, of records that a program makes or that a Reader
// delivered: [Writer.Copy] keeps all that a file says of one.
//
// # Order and memory
//
// Records come in the order of their times, those of one processor in the order
// in which it logged them. A file holds the buffers of all processors mixed. The
// Reader first reads the buffers' headers only, and then merges: at any time it
// has in memory the buffers that the current time lies in, which is one for each
// processor, and a few that are read and decompressed ahead in other goroutines.
// How large the file is does not matter. A Record and the memory that it points
// to are reused; reading on allocates nothing. A [bytes.Reader] is read where its memory
// lies, without copying it, and Records point there: it must not change meanwhile.
//
// [OpenAll] merges several files, as recorders leave them that log the kernel and
// programs apart.
//
// # Damage
//
// Files are cut off, are still being written, or have suffered. The Reader delivers
// everything that is readable. Other data is counted in [Stats], with its places, and does
// not end the reading: after the last good record, Next returns an [*etw.IncompleteError]
// once, and from then on io.EOF. A caller that treats every error but io.EOF as a failure
// therefore hears of damage, after it has seen all there is. Zeros at the end, as in a file
// that is being written, are not damage.
//
// A loss is more than the unreadable part: buffers that the session has written, by the
// file's header, and that the file does not have are an [ErrMissing], and an [ErrGap] where the last is there. Buffers are found
// again wherever bytes are wrong, missing or too many, and whatever one member of a header
// says: by other facts about the file, or else by a search. The work that a file can make
// the Reader do is in proportion to its size: compressed buffers may unpack to 128 times
// that, and 4 MiB.
//
// # Schemas
//
// Some events are described by the trace itself: those of TraceLogging and of
// EventSource, and those that a merge tool has stored the system's knowledge of.
// Their records have a Schema, by which an [etw.Dynamic] decodes the payload; see
// package schema. EventSource and merge tools write schemas as events among the
// others, and often after those that they describe. So before the first record that
// may need them is delivered the Reader goes over all files once to find them.
//
// # Kernel events
//
// Events of the kernel and of other classic providers have the Kind [etw.KindClassic] and
// are identified by a class and an opcode; package classic names those of the kernel. Where
// the header of a record does not say which process and thread it is about, or says who
// logged it, the Reader finds out, by facts learned on the same first pass; see
// [classic.Owners]. Who remains unknown is -1.
//
// A program that needs neither schemas nor owners, or only the first records of a
// large file, saves the pass with [WithoutSchemas] and [WithoutAttribution].
package etl
