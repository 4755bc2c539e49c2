package nettrace

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A kind says what a block holds. The values are those of version 6; the object
// container of earlier versions spells them as type names.
type kind uint8

const (
	kindEnd           kind = 0
	kindTrace         kind = 1
	kindEvents        kind = 2
	kindMetadata      kind = 3
	kindSequencePoint kind = 4
	kindStacks        kind = 5
	kindThreads       kind = 6
	kindRemoveThreads kind = 7
	kindLabels        kind = 8
	kindUnknown       kind = 0xff
)

var kindNames = [...]string{
	"end of stream", "trace header", "event block", "metadata block", "sequence point", "stack block", "thread block", "thread removal", "label block",
}

func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown block"
}

// A block is the unit of all versions: some bytes with a kind.
type block struct {
	kind kind
	data []byte // valid until the next block is read
	off  int64  // of data in the stream
	cut  bool   // the stream ended inside the block
}

// A container splits a stream into blocks.
type container interface {
	// next reads the next block; kindEnd is the end marker. Unknown kinds are
	// skipped. A block that the stream cuts off comes with what there is of it.
	next(s *source) (block, error)
}

const (
	magicNettrace  = "Nettrace"
	magicSerialize = "!FastSerialization.1"
)

// open recognises the stream by its first bytes. For version 6 it also returns
// the numbers of the version.
func openContainer(s *source) (c container, major, minor uint32, err error) {
	start, err := s.take(8)
	if err != nil && !isEnd(err) {
		return nil, 0, 0, &Error{0, "magic", err}
	}
	if string(start) == magicNettrace {
		n, err := takeU32(s)
		if err != nil {
			return nil, 0, 0, notTrace(s, err)
		}
		if n == 0 {
			b, err := s.take(8)
			if err != nil {
				return nil, 0, 0, notTrace(s, err)
			}
			major, minor = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
			if major != 6 {
				return nil, 0, 0, &Error{12, "magic", fmt.Errorf("%w: nettrace %d.%d", ErrVersion, major, minor)}
			}
			return plainBlocks{}, major, minor, nil
		}
		if n != uint32(len(magicSerialize)) {
			return nil, 0, 0, &Error{8, "magic", ErrFormat}
		}
		text, err := s.take(len(magicSerialize))
		if err != nil || string(text) != magicSerialize {
			return nil, 0, 0, notTrace(s, err)
		}
		return &objects{begin: tagBeginPrivate}, 4, 0, nil
	}
	// netperf starts with the length of the second magic.
	if len(start) == 8 && binary.LittleEndian.Uint32(start) == uint32(len(magicSerialize)) && string(start[4:]) == magicSerialize[:4] {
		rest, err := s.take(len(magicSerialize) - 4)
		if err != nil || string(rest) != magicSerialize[4:] {
			return nil, 0, 0, notTrace(s, err)
		}
		return &objects{begin: tagBegin}, 3, 0, nil
	}
	return nil, 0, 0, &Error{0, "magic", ErrFormat}
}

// notTrace is the error for a stream that stops in the magic or disagrees with
// it.
func notTrace(s *source, err error) error {
	if err != nil && !isEnd(err) {
		return &Error{s.off, "magic", err}
	}
	return &Error{s.off, "magic", ErrFormat}
}

func isEnd(err error) bool {
	return err == io.EOF || err == io.ErrUnexpectedEOF
}

func takeU32(s *source) (uint32, error) {
	b, err := s.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// plainBlocks is the container of version 6: each block is a word, the kind in
// its upper byte and the size in the rest, and the bytes.
type plainBlocks struct{}

func (plainBlocks) next(s *source) (block, error) {
	for {
		at := s.off
		head, err := takeU32(s)
		if err != nil {
			return block{}, endOfStream(at, err)
		}
		k, size := kind(head>>24), int(head&0xffffff)
		if k > kindLabels {
			if err := s.skip(int64(size)); err != nil {
				return block{}, cutBlock(at, kindUnknown, err)
			}
			continue
		}
		return takeBlock(s, k, at, size)
	}
}

// endOfStream says what an error means where a block would start.
func endOfStream(at int64, err error) error {
	switch err {
	case io.EOF:
		return &Error{at, "end of stream", ErrNotStopped}
	case io.ErrUnexpectedEOF:
		return &Error{at, "start of a block", ErrTruncated}
	}
	return &Error{at, "start of a block", err}
}

// cutBlock says what an error means inside a block that starts at offset at.
func cutBlock(at int64, k kind, err error) error {
	if isEnd(err) {
		err = ErrTruncated
	}
	return &Error{at, k.String(), err}
}

// takeBlock reads the data of a block. If the stream ends in it, it returns what
// there is and no error: what was whole before the cut is worth having.
func takeBlock(s *source, k kind, at int64, size int) (block, error) {
	b := block{kind: k, off: s.off}
	data, err := s.take(size)
	if err != nil {
		if !isEnd(err) {
			return block{}, &Error{at, k.String(), err}
		}
		b.cut = true
	}
	b.data = data
	return b, nil
}

// The tags of the object container.
const (
	tagNull         = 1
	tagBegin        = 4 // netperf
	tagBeginPrivate = 5 // nettrace
	tagEnd          = 6
)

// objects is the container of versions 3 to 5: the objects of a general
// serialization library, of which each is one block.
type objects struct {
	begin byte // the tag that starts an object
	open  bool // the end tag of the last object is still to come
}

// traceSize is the size of a Trace object, which alone has no size field.
const traceSize = 48

// maxTypeName bounds the names of types; the longest known has 38 bytes.
const maxTypeName = 64

var objectKinds = map[string]kind{
	"Trace": kindTrace, "EventBlock": kindEvents, "MetadataBlock": kindMetadata, "StackBlock": kindStacks, "SPBlock": kindSequencePoint,
}

const netperf2 = "Microsoft.DotNet.Runtime.EventPipeFile"

// next reads one object:
//
//	begin begin null, object version i32, minimum reader version i32,
//	type name (i32 length, ASCII), end, payload, end
//
// The payload of a block is its size, padding to a multiple of 4 in the stream,
// and its data. A null in place of an object ends the stream.
func (c *objects) next(s *source) (block, error) {
	for {
		at := s.off
		if c.open {
			// The end tag belongs to the last block, which is whole: a stream
			// that stops right before it lost nothing but the end marker.
			tag, err := s.take(1)
			if err != nil {
				return block{}, endOfStream(at, err)
			}
			if tag[0] != tagEnd {
				return block{}, &Error{at, "end of an object", damaged("tag %d", tag[0])}
			}
			c.open = false
			at = s.off
		}
		tag, err := s.take(1)
		if err != nil {
			return block{}, endOfStream(at, err)
		}
		switch tag[0] {
		case tagNull:
			return block{kind: kindEnd, off: at}, nil
		case c.begin:
		default:
			return block{}, &Error{at, "start of an object", damaged("tag %d", tag[0])}
		}
		name, version, err := c.typeOf(s, at)
		if err != nil {
			return block{}, err
		}
		k, ok := objectKinds[name]
		if !ok {
			k = kindUnknown
		}
		if k == kindTrace || name == netperf2 {
			if err := checkObjectVersion(c.begin, name, version); err != nil {
				return block{}, &Error{at, "trace header", err}
			}
		}
		c.open = true
		if k == kindTrace {
			return takeBlock(s, k, at, traceSize)
		}
		size, err := takeU32(s)
		if err != nil {
			return block{}, cutBlock(at, k, err)
		}
		if size > 1<<31-1 {
			return block{}, &Error{at, k.String(), damaged("size %d", int32(size))}
		}
		if err := s.align(); err != nil {
			return block{}, cutBlock(at, k, err)
		}
		if k == kindUnknown {
			if err := s.skip(int64(size)); err != nil {
				return block{}, cutBlock(at, k, err)
			}
			continue
		}
		return takeBlock(s, k, at, int(size))
	}
}

// typeOf reads the type of an object, after its first tag.
func (c *objects) typeOf(s *source, at int64) (name string, version int32, err error) {
	const what = "type of an object"
	b, err := s.take(14)
	if err != nil {
		return "", 0, &Error{at, what, cut(err)}
	}
	if b[0] != c.begin || b[1] != tagNull {
		return "", 0, &Error{at, what, damaged("tags %d %d", b[0], b[1])}
	}
	version = int32(binary.LittleEndian.Uint32(b[2:]))
	n := binary.LittleEndian.Uint32(b[10:])
	if n > maxTypeName {
		return "", 0, &Error{at, what, damaged("a name of %d bytes", n)}
	}
	b, err = s.take(int(n) + 1)
	if err != nil {
		return "", 0, &Error{at, what, cut(err)}
	}
	if b[n] != tagEnd {
		return "", 0, &Error{at, what, damaged("tag %d", b[n])}
	}
	return string(b[:n]), version, nil
}

// cut turns the end of the stream into ErrTruncated.
func cut(err error) error {
	if isEnd(err) {
		return ErrTruncated
	}
	return err
}

// checkObjectVersion refuses what is not read: netperf 1 and 2, which need
// random access, and versions to come.
func checkObjectVersion(begin byte, name string, version int32) error {
	switch {
	case name == netperf2:
		return fmt.Errorf("%w: netperf %d, of a .NET Core 2.0 preview", ErrVersion, version)
	case begin == tagBegin && version != 3:
		return fmt.Errorf("%w: netperf %d", ErrVersion, version)
	case begin == tagBeginPrivate && version != 4 && version != 5:
		return fmt.Errorf("%w: nettrace %d", ErrVersion, version)
	}
	return nil
}
