// Package mutate damages traces in ways that are known: it knows of each trace where its
// buffers or blocks lie, and of each mutant which of them were touched. Its knowledge of the
// formats is its own, and shares no code with the readers.
package mutate
