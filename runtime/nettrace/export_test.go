package nettrace

// WriterHolds returns how many bytes of call stacks a Writer holds.
func WriterHolds(w *Writer) int { return cap(w.stacks.data) + len(w.stacks.slots)*16 }

// RemovedThreads returns how many threads r will drop.
func RemovedThreads(r *Reader) int { return len(r.known.threads.removed) }
