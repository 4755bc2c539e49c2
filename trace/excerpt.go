package trace

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Excerpt reads only a part of a file that has more than so many bytes, up to about three
// sixteenths of that number: its begin, its end, and of a .nettrace what comes first of each
// kind of event. It is for those who want to know what a trace is. Its facts are those
// that need no more: events are not counted and losses not added up. What is packed, or
// comes through a pipe, is read whole. See [File.Excerpt].
func Excerpt(over int64) Option { return func(o *options) { o.excerptOver = over } }

// Excerpt returns how many bytes of the file are read, and reports whether that is only
// a part of it.
func (f *File) Excerpt() (bytes int64, ok bool) { return f.excerpt, f.excerpt > 0 }

// excerptOf opens a part of a file if it is so large that no more is to be read. It
// returns nil if the file is to be read whole.
func (o *opening) excerptOf(f io.ReaderAt, size int64, k kind) ([]*File, error) {
	if o.excerptOver <= 0 || size <= o.excerptOver {
		return nil, nil
	}
	var r reader
	var part int64
	var err error
	if k == kindNettrace {
		r, part, err = o.netExcerpt(f, size)
	} else {
		r, part, err = o.etlExcerpt(f, size)
	}
	if r == nil || err != nil {
		return nil, err
	}
	found := o.found(r)
	found.excerpt, found.size = part, size
	return []*File{found}, nil
}

// etlExcerpt opens the begin and the end of an .etl file, or returns nil if it does not
// begin as it should.
func (o *opening) etlExcerpt(src io.ReaderAt, size int64) (reader, int64, error) {
	part := o.excerptOver / excerptParts
	opts := append(o.etlOptions(), etl.Named(o.name))
	begin, err := etl.NewReader(io.NewSectionReader(src, 0, part), part, opts...)
	if err != nil {
		return nil, 0, nil // its reader says more about it
	}
	h := begin.Header()
	if err := begin.Close(); err != nil {
		return nil, 0, err
	}
	tail := size - part
	if h.Mode&etl.ModeCompressed != 0 {
		part /= compressedRatio
		tail = size - part // the reader finds where a buffer begins
	} else if unit := int64(h.BufferSize); unit > 0 {
		tail -= tail % unit
	}
	head := bufferEnd(src, part)
	if head == 0 || head > tail {
		return nil, 0, nil
	}
	joined := &ends{src, head, tail - head}
	r, err := etl.NewReader(joined, size-joined.gap, opts...)
	if err != nil {
		return nil, 0, err
	}
	return &etlExcerptReader{newETL(r)}, size - joined.gap, nil
}

const (
	// excerptParts is how many parts there are in what a file must be larger than. An
	// excerpt has up to three of them.
	excerptParts = 16
	// compressedRatio is by how much more a compressed part tells.
	compressedRatio = 4
)

// An etlExcerptReader reads an excerpt of an .etl file, whose header knows what was lost.
type etlExcerptReader struct{ *etlReader }

// Next leaves out what is wrong with the excerpt, which begins to differ from the file
// where that was cut.
func (r *etlExcerptReader) Next(rec *etw.Record) error {
	err := r.etlReader.Next(rec)
	if errors.Is(err, etw.ErrIncomplete) {
		return io.EOF
	}
	return err
}

func (r *etlExcerptReader) stats() Stats {
	n := r.etlReader.stats()
	return Stats{Records: n.Records, Lost: n.Lost, LostBuffers: n.LostBuffers}
}

func (r *etlExcerptReader) facts(of *File) facts {
	f := r.headerFacts(of)
	f.number("buffers_written", int64(r.header.BuffersWritten), "")
	f.number("events_lost", int64(r.header.EventsLost), "")
	f.number("buffers_lost", int64(r.header.BuffersLost), "")
	if r.header.End == 0 {
		f.ended(false, "no: the session was not stopped")
	} // else who has not seen all buffers does not know
	return f
}

// bufferEnd returns where the last buffer ends that an .etl file has before the offset
// most, or 0 if buffers do not lead there.
func bufferEnd(src io.ReaderAt, most int64) int64 {
	const header, largest = 0x48, 16 << 20
	var b [4]byte
	for at := int64(0); ; {
		if _, err := src.ReadAt(b[:], at); err != nil {
			return 0
		}
		size := int64(binary.LittleEndian.Uint32(b[:]))
		switch {
		case size < header || size > largest:
			return 0
		case at+size > most && at > 0:
			return at
		}
		at += size
	}
}

// ends are the two ends of a file: what lies before an offset, and what comes after a
// gap there.
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
