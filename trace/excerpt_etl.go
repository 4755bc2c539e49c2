package trace

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// excerpt opens the begin and the end of an .etl file, or returns nil if something is
// wrong with one of them or the session was not stopped.
func (etlFormat) excerpt(o *opening, src io.ReaderAt, size int64) (reader, int64, error) {
	joined, err := o.etlEnds(src, size)
	if joined == nil || err != nil {
		return nil, 0, err
	}
	size -= joined.gap
	name := etl.WithName(o.name)
	first, err := etl.NewReader(joined, size, etl.WithContext(o.ctx), etl.WithoutAttribution(), etl.WithoutSchemas(), name)
	if err != nil {
		return nil, 0, o.ctx.Err() // its reader says more about it
	}
	defer first.Close()
	if err := drain(first); o.ctx.Err() != nil || err != io.EOF && !onlyMissing(first) || !intact(first.Stats()) {
		return nil, 0, o.ctx.Err()
	}
	r, err := etl.NewReader(joined, size, append(o.etlOptions(), name)...)
	if err != nil {
		return nil, 0, err
	}
	return &etlExcerptReader{newETL(r, 0)}, size, nil
}

// etlEnds returns the begin and the end of an .etl file, both of whole buffers, or nil if
// buffers do not lead there, or those in between are too many or too few.
func (o *opening) etlEnds(src io.ReaderAt, size int64) (*ends, error) {
	part := o.excerptOver / excerptParts
	begin, err := etl.NewReader(io.NewSectionReader(src, 0, part), part, etl.WithContext(o.ctx), etl.WithoutAttribution(), etl.WithoutSchemas())
	if err != nil {
		return nil, o.ctx.Err()
	}
	defer begin.Close()
	h := begin.Header()
	unit := int64(h.BufferSize)
	var tail int64
	switch {
	case h.End == 0 || unit == 0:
		return nil, nil
	case h.Mode&etl.ModeCompressed != 0:
		part /= compressedRatio
		tail = bufferBegin(src, size-part, size)
	case size%unit == 0:
		tail = size - part
		tail -= tail % unit
		written := int64(h.BuffersWritten)
		// More are never right. Fewer are, where the session has overwritten some, and
		// then even the begin alone misses none.
		if n := size / unit; n != written && (n > written && written > 0 || begin.Stats().MissingBuffers > 0) {
			return nil, nil
		}
	}
	head := bufferEnd(src, part)
	if head == 0 || head > tail {
		return nil, nil
	}
	return &ends{src, head, tail - head}, nil
}

// compressedRatio is by how much more a compressed part tells.
const compressedRatio = 4

// onlyMissing reports whether nothing is wrong but that buffers are missing, as they are
// between two ends.
func onlyMissing(r *etl.Reader) bool {
	d := r.Stats().Damage
	return d.Count == 1 && len(d.Damages) == 1 && errors.Is(d.Damages[0], etl.ErrMissing)
}

// intact reports whether nothing was skipped.
func intact(n etl.Stats) bool {
	return n.Undecodable == 0 && n.TruncatedBuffers == 0 && n.UnreadBytes == 0 && n.UnwrittenBytes == 0
}

// An etlExcerptReader reads an excerpt of an .etl file, whose header knows the losses.
type etlExcerptReader struct{ *etlReader }

// Next does not miss the buffers between the ends.
func (r *etlExcerptReader) Next(rec *etw.Record) error {
	err := r.etlReader.Next(rec)
	if errors.Is(err, etw.ErrIncomplete) && onlyMissing(r.Reader) {
		return io.EOF
	}
	return err
}

func (r *etlExcerptReader) stats() Stats {
	n := r.etlReader.stats()
	return Stats{Records: n.Records, Lost: n.Lost, LostBuffers: n.LostBuffers}
}

// facts has nothing of the end: who has not seen all buffers does not know whether it is
// clean.
func (r *etlExcerptReader) facts(of *File) facts {
	f := r.headerFacts(of)
	f.number("buffersWritten", int64(r.header.BuffersWritten), "")
	f.number("lost", int64(r.header.EventsLost), "")
	f.number("lostBuffers", int64(r.header.BuffersLost), "")
	return f
}

// Sizes of the buffers of an .etl file, with their headers.
const (
	leastBuffer   = 0x48
	largestBuffer = 16 << 20
)

// bufferBegin returns where the first buffer of any size begins that lies between two
// offsets and from which buffers lead exactly to the second, or 0 if there is none.
func bufferBegin(src io.ReaderAt, from, to int64) int64 {
	const flags, kind, kinds = 0x34, 0x36, 8
	p := make([]byte, to-from)
	if blocks.ReadWhole(src, p, from) != nil {
		return 0
	}
	leads := make([]bool, len(p)+1)
	leads[len(p)] = true
	first := 0
	for at := len(p) - leastBuffer; at >= 0; at-- {
		size := int64(binary.LittleEndian.Uint32(p[at:]))
		if size < leastBuffer || size > int64(len(p)-at) || !leads[int64(at)+size] {
			continue
		}
		if p[at+flags+1] == 0 && p[at+kind] < kinds && p[at+kind+1] == 0 {
			leads[at] = true
			first = at
		}
	}
	if first == 0 {
		return 0
	}
	return from + int64(first)
}

// bufferEnd returns where the last buffer ends that an .etl file has before the offset
// most, or 0 if buffers do not lead there.
func bufferEnd(src io.ReaderAt, most int64) int64 {
	var b [4]byte
	for at := int64(0); ; {
		if _, err := src.ReadAt(b[:], at); err != nil {
			return 0
		}
		size := int64(binary.LittleEndian.Uint32(b[:]))
		switch {
		case size < leastBuffer || size > largestBuffer:
			return 0
		case at+size > most && at > 0:
			return at
		}
		at += size
	}
}

// ends are the two ends of a file: the bytes before an offset, and those after a gap there.
type ends struct {
	src     io.ReaderAt
	at, gap int64
}

func (e *ends) ReadAt(p []byte, off int64) (n int, err error) {
	if off < e.at {
		n, err = e.src.ReadAt(p[:min(int64(len(p)), e.at-off)], off)
		if err != nil || n == len(p) {
			return n, err
		}
		off = e.at
	}
	m, err := e.src.ReadAt(p[n:], off+e.gap)
	return n + m, err
}
