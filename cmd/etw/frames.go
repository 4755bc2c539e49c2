package main

import "encoding/binary"

// A frame is a part of a stream of version 4: what stands before the blocks, a block by
// its name, or bytes that are not understood.
type frame struct {
	name string
	kind []byte // the type of the object, as it stands there
	data []byte
}

// The frames that are no blocks.
const (
	frameHead = ""
	frameRaw  = "?"
)

// The tags of the format.
const (
	frameEnd    = 1 // also the type of an object's type
	frameBegin  = 5
	frameObject = 6 // its end
)

// What stands before the first object, and the length of the object with the facts
// about the trace.
const (
	streamMagic = "Nettrace\x14\x00\x00\x00!FastSerialization.1"
	traceSize   = 48
)

// frames cuts a stream into its frames as it comes.
type frames struct {
	buf  []byte
	at   int64 // of buf in the stream
	head bool  // it has passed
	raw  bool  // the rest is not understood
}

// next returns the next frame that is whole. Its data is valid until more is appended.
func (f *frames) next() (frame, bool) {
	switch {
	case len(f.buf) == 0:
		return frame{}, false
	case f.raw:
		return f.take(frameRaw, nil, 0, len(f.buf), len(f.buf)), true
	case !f.head:
		if len(f.buf) < len(streamMagic) {
			return frame{}, false
		}
		if f.head = true; string(f.buf[:len(streamMagic)]) != streamMagic {
			f.raw = true
			return f.next()
		}
		return f.take(frameHead, nil, 0, len(streamMagic), len(streamMagic)), true
	case f.buf[0] != frameBegin: // the end of the stream
		f.raw = true
		return f.next()
	}
	return f.object()
}

// object returns an object: its type, and its data.
//
//	5 5 1, version u32, reader's version u32, length of the name u32, name, 6
//	size u32, padding to 4 bytes of the stream, data; of a Trace the data alone
//	6
func (f *frames) object() (frame, bool) {
	const fixed = 3 + 4 + 4 + 4
	if len(f.buf) < fixed {
		return frame{}, false
	}
	n := int(binary.LittleEndian.Uint32(f.buf[fixed-4:]))
	if n > 100 || n < 0 {
		f.raw = true
		return f.next()
	}
	begin := fixed + n + 1
	if len(f.buf) < begin+4 {
		return frame{}, false
	}
	name := string(f.buf[fixed : fixed+n])
	if name == "Trace" {
		end := begin + traceSize + 1
		if len(f.buf) < end {
			return frame{}, false
		}
		return f.take(frameHead, nil, 0, end, end), true
	}
	size := int64(binary.LittleEndian.Uint32(f.buf[begin:]))
	data := begin + 4
	data += int(-(f.at + int64(data)) & 3)
	end := int64(data) + size + 1
	if end > int64(len(f.buf)) {
		return frame{}, false
	}
	return f.take(name, f.buf[:begin], data, int(end)-1, int(end)), true
}

// take returns a frame, and passes over it.
func (f *frames) take(name string, kind []byte, from, to, end int) frame {
	out := frame{name, kind, f.buf[from:to:to]}
	f.buf = f.buf[end:]
	f.at += int64(end)
	return out
}

// appendBlock appends a block as it stands at an offset of a stream.
func appendBlock(b []byte, f frame, at int64) []byte {
	b = append(b, f.kind...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.data)))
	for (at+int64(len(b)))&3 != 0 {
		b = append(b, 0)
	}
	return append(append(b, f.data...), frameObject)
}
