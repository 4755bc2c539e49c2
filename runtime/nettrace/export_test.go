package nettrace

// WriterHolds returns how many bytes of call stacks a Writer holds.
func WriterHolds(w *Writer) int { return cap(w.stacks.data) + len(w.stacks.slots)*16 }
