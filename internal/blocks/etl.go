package blocks

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// bufferHeader is the size of the header of a buffer.
const bufferHeader = 0x48

// maxBuffer is the largest size of a buffer.
const maxBuffer = 64 << 20

// isBuffer reports whether a file that begins with a size may begin with a buffer.
func isBuffer(size uint32) bool { return size >= bufferHeader && size <= maxBuffer }

var (
	bufferTypes = [...]string{"Generic", "Rundown", "ContextSwap", "ReferenceTime", "Header", "Batched", "Empty", "DebugInfo"}
	bufferFlags = [...]string{"flush-marker", "events-lost", "buffer-lost", "backup-corrupt", "backup", "cpu-index", "compressed"}
)

// buffers lists the buffers of an .etl file.
func (f *file) buffers() error {
	for at := int64(0); at < f.size; {
		p, err := f.read(at, bufferHeader)
		if err != nil {
			return err
		}
		if len(p) < bufferHeader {
			return fault(at, "the file is cut off in the header of a buffer")
		}
		size := int64(binary.LittleEndian.Uint32(p))
		switch {
		case size == 0:
			return fault(at, "%d bytes are not written yet", f.size-at)
		case size < bufferHeader:
			return fault(at, "a buffer of %d bytes is smaller than its header", size)
		}
		if err := f.do(buffer(p, at, size)); err != nil {
			return err
		}
		if at+size > f.size {
			return fault(at, "the buffer of %d bytes is cut off", size)
		}
		at += size
	}
	return nil
}

// buffer returns the header p of a buffer.
func buffer(p []byte, at, size int64) Block {
	flags, kind := binary.LittleEndian.Uint16(p[0x34:]), binary.LittleEndian.Uint16(p[0x36:])
	b := Block{Offset: at, Size: size, Kind: fmt.Sprintf("type %d", kind)}
	if int(kind) < len(bufferTypes) {
		b.Kind = bufferTypes[kind]
	}
	processor := uint16(p[0x28])
	if flags&0x20 != 0 {
		processor = binary.LittleEndian.Uint16(p[0x28:]) & 0x7ff
	}
	var names []string
	for i, name := range bufferFlags {
		if flags>>i&1 != 0 {
			names = append(names, name)
		}
	}
	b.Detail = fmt.Sprintf("number=%d cpu=%d logger=%d state=%d filled=%d flushed=%d flags=%s",
		binary.LittleEndian.Uint64(p[0x18:]), processor, binary.LittleEndian.Uint16(p[0x2a:]), binary.LittleEndian.Uint32(p[0x2c:]),
		binary.LittleEndian.Uint32(p[0x30:]), binary.LittleEndian.Uint64(p[0x10:]), strings.Join(names, ","))
	return b
}
