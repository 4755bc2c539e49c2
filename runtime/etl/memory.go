package etl

import (
	"bytes"
	"io"
	"runtime/debug"
)

// memoryOf returns the memory of a bytes.Reader, so that its contents can be used where they
// lie, or nil.
func memoryOf(src io.ReaderAt, size int64) []byte {
	r, ok := src.(*bytes.Reader)
	if !ok || r.Size() < size {
		return nil
	}
	var m grip
	c := *r // whose place in it may move
	c.Seek(0, io.SeekStart)
	c.WriteTo(&m)
	return m[:size:size]
}

// A grip takes the output of a bytes.Reader, which is all it has in one call, without
// copying it.
type grip []byte

func (g *grip) Write(b []byte) (int, error) {
	*g = b
	return len(b), nil
}

// A guard keeps a panic of a goroutine for the one that waits for it. Memory can be a
// mapped file, which is a fault to touch where the file has become shorter: whether that
// is survived is up to who mapped it, and reads.
type guard struct{ panicked any }

// run calls do.
func (g *guard) run(mapped bool, do func()) {
	if mapped {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := recover(); p != nil {
				g.panicked = p
			}
		}()
	}
	do()
}

// raise panics if the goroutine did.
func (g *guard) raise() {
	if g.panicked != nil {
		panic(g.panicked)
	}
}
