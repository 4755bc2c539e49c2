// Package blocks lists the blocks of trace files: the blocks of .nettrace and .netperf files
// and the buffers of .etl files, as they lie there, without looking at the events in them.
// Two files that should be the same can so be compared, and the place found where one is
// damaged.
package blocks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Block is one part of a file.
type Block struct {
	Offset int64
	Size   int64 // with its header
	Kind   string
	// First and Last are the times of the events in it, in milliseconds since the
	// start of the trace, if it says them.
	Times       bool
	First, Last float64
	Detail      string // what else its header says, as name=value
}

// ErrFormat says that a file is of a format that cannot be listed.
var ErrFormat = errors.New("neither a .nettrace, .netperf nor .etl file; if it is packed, unpack it first")

// List calls do for each block of a file, in their order. An error that is not of
// do says at which offset the list ends too early, and why.
func List(src io.ReaderAt, size int64, do func(Block) error) error {
	f := &file{src: src, size: size, do: do}
	var head [24]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch magic := string(head[:n]); {
	case n >= 20 && magic[:8] == "Nettrace" && binary.LittleEndian.Uint32(head[8:]) == 0:
		return f.version6()
	case n >= 12 && magic[:8] == "Nettrace":
		return f.objects(8)
	case n == 24 && magic[4:23] == "!FastSerialization.":
		return f.objects(0)
	case n >= 8 && isBuffer(binary.LittleEndian.Uint32(head[:])):
		return f.buffers()
	}
	return ErrFormat
}

// A file is one that is listed.
type file struct {
	src  io.ReaderAt
	size int64
	do   func(Block) error

	origin    int64 // of the clock, in ticks
	frequency int64

	// The last bytes read, so that the end of a block, the header of the next and the begin
	// of its content take one read.
	window   [512]byte
	windowAt int64
	windowed int64
}

// read returns n bytes at an offset, fewer at the end of the file. They are valid until
// the next call.
func (f *file) read(at, n int64) ([]byte, error) {
	n = max(0, min(n, f.size-at))
	if from := at - f.windowAt; from >= 0 && from+n <= f.windowed {
		return f.window[from : from+n], nil
	}
	m, err := f.src.ReadAt(f.window[:max(0, min(int64(len(f.window)), f.size-at))], at)
	if err != nil && err != io.EOF {
		f.windowed = 0
		return nil, err
	}
	f.windowAt, f.windowed = at, int64(m)
	return f.window[:min(n, f.windowed)], nil
}

// fault reports a fault at an offset.
func fault(at int64, format string, args ...any) error {
	return fmt.Errorf("offset %d: %s", at, fmt.Sprintf(format, args...))
}

// ms returns a time in milliseconds since the start of the trace.
func (f *file) ms(ticks int64) float64 {
	if f.frequency <= 0 {
		return 0
	}
	return float64(ticks-f.origin) / float64(f.frequency) * 1e3
}
