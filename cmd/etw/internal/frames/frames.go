package frames

import "encoding/binary"

// A Frame is a part of a stream of version 4: the bytes before the blocks, a block by its
// name, or bytes that are not understood.
type Frame struct {
	Name string
	Kind []byte // the type of the object, as it stands there
	Data []byte
}

// The Frames that are no blocks.
const (
	FrameHead = ""
	FrameRaw  = "?"
)

// The tags of the format.
const (
	FrameEnd    = 1 // also the type of an object's type
	frameBegin  = 5
	frameObject = 6 // its end
)

// The bytes before the first object, and the length of the object with the facts about the
// trace.
const (
	StreamMagic = "Nettrace\x14\x00\x00\x00!FastSerialization.1"
	traceSize   = 48
)

// Frames cuts a stream into its frames as it comes.
type Frames struct {
	Buf  []byte
	at   int64 // of buf in the stream
	head bool  // it has passed
	raw  bool  // the rest is not understood
}

// Next returns the next frame that is whole. Its data is valid until more is appended.
func (f *Frames) Next() (Frame, bool) {
	switch {
	case len(f.Buf) == 0:
		return Frame{}, false
	case f.raw:
		return f.take(FrameRaw, nil, 0, len(f.Buf), len(f.Buf)), true
	case !f.head:
		if len(f.Buf) < len(StreamMagic) {
			return Frame{}, false
		}
		if f.head = true; string(f.Buf[:len(StreamMagic)]) != StreamMagic {
			f.raw = true
			return f.Next()
		}
		return f.take(FrameHead, nil, 0, len(StreamMagic), len(StreamMagic)), true
	case f.Buf[0] != frameBegin: // the end of the stream
		f.raw = true
		return f.Next()
	}
	return f.object()
}

// object returns an object: its type, and its data.
//
//	5 5 1, version u32, reader's version u32, length of the name u32, name, 6
//	size u32, padding to 4 bytes of the stream, data; of a Trace the data alone
//	6
func (f *Frames) object() (Frame, bool) {
	const fixed = 3 + 4 + 4 + 4
	if len(f.Buf) < fixed {
		return Frame{}, false
	}
	n := int(binary.LittleEndian.Uint32(f.Buf[fixed-4:]))
	if n > 100 || n < 0 {
		f.raw = true
		return f.Next()
	}
	begin := fixed + n + 1
	if len(f.Buf) < begin+4 {
		return Frame{}, false
	}
	name := string(f.Buf[fixed : fixed+n])
	if name == "Trace" {
		end := begin + traceSize + 1
		if len(f.Buf) < end {
			return Frame{}, false
		}
		return f.take(FrameHead, nil, 0, end, end), true
	}
	size := int64(binary.LittleEndian.Uint32(f.Buf[begin:]))
	data := begin + 4
	data += int(-(f.at + int64(data)) & 3)
	end := int64(data) + size + 1
	if end > int64(len(f.Buf)) {
		return Frame{}, false
	}
	return f.take(name, f.Buf[:begin], data, int(end)-1, int(end)), true
}

// take returns a frame, and passes over it.
func (f *Frames) take(name string, kind []byte, from, to, end int) Frame {
	out := Frame{name, kind, f.Buf[from:to:to]}
	f.Buf = f.Buf[end:]
	f.at += int64(end)
	return out
}

// AppendBlock appends a block as it stands at an offset of a stream.
func AppendBlock(b []byte, f Frame, at int64) []byte {
	b = append(b, f.Kind...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	for (at+int64(len(b)))&3 != 0 {
		b = append(b, 0)
	}
	return append(append(b, f.Data...), frameObject)
}
