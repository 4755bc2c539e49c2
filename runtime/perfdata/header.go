package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Header is a file's facts about the recording.
type Header struct {
	// Clock is that of the records, in nanoseconds. Dated says that the file tells the wall
	// time, which it does if perf was given a clock (-k); else Start is 0, or made of the
	// time that [WithEnd] gave.
	Clock etw.Clock
	Dated bool

	Pipe      bool // as it is written into a pipe
	BigEndian bool
	Packed    bool // by -z

	Host, Release, Perf, Arch, CPU string
	Processors                     int
	CommandLine                    []string
	Events                         []string // the names of what was recorded

	// SamplingInterval is the time between two samples, 0 if the file has no samples of time,
	// or they are taken by another count.
	SamplingInterval time.Duration
}

// The magic number of a file, as machines of both byte orders write it.
const (
	magicLittle = "PERFILE2"
	magicBig    = "2ELIFREP"
)

// Recognizes reports whether a file that begins with head is a perf.data.
// One of the bytes may be damaged.
func Recognizes(head []byte) bool {
	order, _ := magicOf(head)
	return order != nil
}

// ErrFormat says that a file is no perf.data.
var ErrFormat = errors.New("perfdata: not a perf.data")

// The features of a header that are read, by their numbers.
const (
	featureTracing    = 1
	featureBuildIDs   = 2
	featureHost       = 3
	featureRelease    = 4
	featurePerf       = 5
	featureArch       = 6
	featureProcessors = 7
	featureCPU        = 8
	featureCommand    = 11
	featureEvents     = 12
	featureTimes      = 21
	featurePacked     = 27
	featureClock      = 29
	features          = 256
)

// The fields of the header of a file.
const (
	headerSize = 104
	pipeSize   = 16
	bitmapAt   = 72
)

// idsSize is what says where the numbers of an event are.
const idsSize = 16

// maxSection bounds one read of the header.
const maxSection = 64 << 20

// A section is a part of a file.
type section struct{ offset, size int64 }

// header reads the header of the file, and the parts that it refers to.
func (r *Reader) readHeader() error {
	head := make([]byte, min(r.size, headerSize))
	if _, err := r.src.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if !Recognizes(head) || len(head) < pipeSize {
		return ErrFormat
	}
	exact := false
	if r.order, exact = magicOf(head); !exact {
		r.damage(0, "header", errors.New("the magic number is another"))
	}
	r.header.BigEndian = r.order == binary.BigEndian
	size := r.sizeOfHeader(head)
	if size == pipeSize {
		r.header.Pipe = true
		r.data = section{pipeSize, r.size - pipeSize}
		return nil
	}
	if size != headerSize || len(head) < headerSize {
		return fmt.Errorf("%w: it says that its header has %d bytes, where %d or %d are known, and the file has %d", ErrFormat, size, headerSize, pipeSize, r.size)
	}
	r.repair(head)
	s := r.sections(head)
	r.data = s.data
	if err := r.readAttrs(s.attrs, s.each); err != nil {
		return err
	}
	if r.data.offset < headerSize || r.data.offset > r.size {
		return fmt.Errorf("%w: its data begin at %d of %d bytes", ErrFormat, r.data.offset, r.size)
	}
	if r.data.size > 0 {
		r.data.size += r.moved
	}
	left := r.size - r.data.offset
	switch {
	case r.data.size == 0 && left > 0:
		r.damage(r.size, "header", errors.New("perf was ended before it had written how much it recorded: all that is there is read"))
		r.data.size = left
		return nil // nor has it written features
	case r.data.size < 0 || r.data.size > left:
		r.damage(r.size, "file", fmt.Errorf("it ends after %d of %d bytes of data", left, uint64(r.data.size)))
		r.data.size = left
		return nil
	}
	r.readFeatures(head[bitmapAt:])
	r.settleCopies()
	return nil
}

// sizeOfHeader returns the size that the header says it has, of which one bit may be wrong.
func (r *Reader) sizeOfHeader(head []byte) uint64 {
	size := r.order.Uint64(head[8:])
	for _, known := range []uint64{headerSize, pipeSize} {
		if bits.OnesCount64(size^known) == 1 && (known == pipeSize || len(head) == headerSize) {
			r.damage(8, "header", fmt.Errorf("it says that it has %d bytes, and not %d", size, known))
			return known
		}
	}
	return size
}

// readAttrs reads the table of the recorded events.
func (r *Reader) readAttrs(table section, each int64) error {
	b, err := r.read(table)
	switch {
	case err != nil:
		return fmt.Errorf("%w: the table of events: %w", ErrFormat, err)
	case each < attrLeast+idsSize || int64(len(b)) < each:
		return fmt.Errorf("%w: a table of events with %d bytes, %d each", ErrFormat, len(b), each)
	}
	for at := table.offset; int64(len(b)) >= each; at, b = at+each, b[each:] {
		a, ok := parseAttr(b[:each-idsSize], r.order)
		if !ok { // its size is wrong
			r.order.PutUint32(b[4:], uint32(each-idsSize))
			a, _ = parseAttr(b[:each-idsSize], r.order)
			r.damage(at, "header", errors.New("an event says that it has another size than it has room for"))
		}
		ids := section{int64(r.order.Uint64(b[each-idsSize:])), int64(r.order.Uint64(b[each-8:]))}
		list, err := r.read(ids)
		if err != nil {
			r.damage(at, "header", fmt.Errorf("the numbers of an event: %w", err))
		}
		if err := r.addEvent(a, list); err != nil {
			return err
		}
		r.events[len(r.events)-1].at = at
	}
	return nil
}

// read reads a section whole.
func (r *Reader) read(s section) ([]byte, error) {
	if s.size == 0 {
		return nil, nil
	}
	if s.offset < 0 || s.size < 0 || s.offset > r.size || s.size > r.size-s.offset || s.size > maxSection {
		return nil, fmt.Errorf("%d bytes at %d of a file of %d bytes", s.size, s.offset, r.size)
	}
	b := make([]byte, s.size)
	if _, err := r.src.ReadAt(b, s.offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// readFeatures reads the features that a bitmap has. Their places stand behind the data, in
// the order of their numbers.
func (r *Reader) readFeatures(bitmap []byte) {
	at, moved := r.data.offset+r.data.size+r.displaced, r.moved
	for n := range features {
		if r.order.Uint64(bitmap[n/64*8:])>>(n%64)&1 == 0 {
			continue
		}
		place, err := r.read(section{at, 16})
		if err != nil {
			r.damage(at, "header", fmt.Errorf("the places of its parts: %w", err))
			return
		}
		at += 16
		if !isRead(n) {
			continue
		}
		s := section{int64(r.order.Uint64(place)) + moved, int64(r.order.Uint64(place[8:]))}
		err = r.featureAt(n, s)
		if err != nil && moved == r.moved && r.movedEnd != moved { // from here on, maybe
			s.offset += r.movedEnd - moved
			if r.featureAt(n, s) == nil {
				moved = r.movedEnd
			}
		}
		if err != nil {
			r.damage(at-16, "header", fmt.Errorf("part %d: %w", n, err))
		}
	}
}

// featureAt reads a feature.
func (r *Reader) featureAt(n int, s section) error {
	b, err := r.read(s)
	if err == nil && !r.feature(n, b) {
		err = errors.New("it is too short")
	}
	return err
}
