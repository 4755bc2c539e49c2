package blocks

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Tags of objects.
const (
	tagNull         = 1
	tagObject       = 4
	tagPrivate      = 5
	tagEnd          = 6
	maxTypeName     = 64
	traceObjectSize = 48
)

// objects lists the objects of versions 1 to 5, after the magic.
func (f *file) objects(magic int64) error {
	n, err := f.read(magic, 4)
	if err != nil {
		return err
	}
	at := magic + 4 + int64(binary.LittleEndian.Uint32(n))
	for {
		tag, err := f.read(at, 1)
		switch {
		case err != nil:
			return err
		case len(tag) == 0:
			return fault(at, "the file is cut off: the mark of the end is missing")
		case tag[0] == tagNull:
			if err := f.do(Block{Offset: at, Size: 1, Kind: "End"}); err != nil {
				return err
			}
			if rest := f.size - at - 1; rest > 0 {
				return fault(at+1, "%d bytes follow the end", rest)
			}
			return nil
		case tag[0] != tagObject && tag[0] != tagPrivate:
			return fault(at, "%#x is not the begin of an object", tag[0])
		}
		if at, err = f.object(at); err != nil {
			return err
		}
	}
}

// object lists one object and returns where the next one is.
func (f *file) object(at int64) (int64, error) {
	head, err := f.read(at, 15+maxTypeName+1)
	if err != nil {
		return 0, err
	}
	if len(head) < 15 {
		return 0, fault(at, "the file is cut off in the begin of an object")
	}
	name := int64(binary.LittleEndian.Uint32(head[11:]))
	if name > maxTypeName || int64(len(head)) < 16+name || head[15+name] != tagEnd {
		return 0, fault(at, "the type of the object cannot be read")
	}
	b := Block{Offset: at, Kind: string(head[15 : 15+name])}
	version := binary.LittleEndian.Uint32(head[3:])
	data := at + 16 + name
	size := int64(traceObjectSize)
	if b.Kind != "Trace" {
		n, err := f.read(data, 4)
		if err != nil {
			return 0, err
		}
		if len(n) < 4 {
			return 0, fault(data, "the file is cut off in the size of a block")
		}
		size = int64(binary.LittleEndian.Uint32(n))
		data = (data + 4 + 3) &^ 3
	}
	b.Size = data + size + 1 - at
	b.Detail = "version=" + strconv.Itoa(int(version))
	if err := f.content(&b, data, size, version >= 2); err != nil {
		return 0, err
	}
	if err := f.do(b); err != nil {
		return 0, err
	}
	end, err := f.read(data+size, 1)
	if err != nil {
		return 0, err
	}
	if len(end) == 0 || end[0] != tagEnd {
		return 0, fault(data+size, "the object at %d does not end here", at)
	}
	return data + size + 1, nil
}

// content reads the begin of a block.
func (f *file) content(b *Block, at, size int64, headers bool) error {
	p, err := f.read(at, min(size, 64))
	if err != nil {
		return err
	}
	switch b.Kind {
	case "Trace":
		if len(p) >= 36 {
			f.clock(p)
			b.Detail += fmt.Sprintf(" origin=%d frequency=%d pointer=%d", f.origin, f.frequency, binary.LittleEndian.Uint32(p[32:]))
		}
	case "EventBlock", "MetadataBlock", "Event", "Metadata":
		if headers && len(p) >= 20 {
			b.Times = true
			b.First, b.Last = f.ms(int64(binary.LittleEndian.Uint64(p[4:]))), f.ms(int64(binary.LittleEndian.Uint64(p[12:])))
			b.Detail += " flags=0x" + strconv.FormatUint(uint64(binary.LittleEndian.Uint16(p[2:])), 16)
		}
	case "StackBlock", "Stack", "LabelList":
		if len(p) >= 8 {
			b.Detail += " first=" + decimal(p) + " count=" + decimal(p[4:])
		}
	case "SPBlock", "SequencePoint":
		if len(p) >= 12 {
			b.Times = true
			b.First = f.ms(int64(binary.LittleEndian.Uint64(p)))
			b.Last = b.First
			b.Detail += " threads=" + decimal(p[8:])
		}
	}
	return nil
}

// decimal returns the number of 32 bits that p begins with.
func decimal(p []byte) string {
	return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(p)), 10)
}

// clock reads the clock that begins the content of a trace object.
func (f *file) clock(p []byte) {
	f.origin = int64(binary.LittleEndian.Uint64(p[16:]))
	f.frequency = int64(binary.LittleEndian.Uint64(p[24:]))
}

// kinds6 are the kinds of blocks of version 6.
var kinds6 = [...]string{"End", "Trace", "Event", "Metadata", "SequencePoint", "Stack", "Thread", "RemoveThread", "LabelList"}

// version6 lists the blocks of version 6.
func (f *file) version6() error {
	for at := int64(20); ; {
		head, err := f.read(at, 4)
		if err != nil {
			return err
		}
		if len(head) < 4 {
			return fault(at, "the file is cut off: the block of the end is missing")
		}
		word := binary.LittleEndian.Uint32(head)
		size, kind := int64(word&0xffffff), int(word>>24)
		b := Block{Offset: at, Size: 4 + size, Detail: "version=6"}
		if kind < len(kinds6) {
			b.Kind = kinds6[kind]
		} else {
			b.Kind = "kind " + strconv.Itoa(kind)
		}
		if at+b.Size > f.size {
			return fault(at, "the block %s of %d bytes is cut off", b.Kind, b.Size)
		}
		headers := b.Kind == "Event"
		if err := f.content(&b, at+4, size, headers); err != nil {
			return err
		}
		if err := f.do(b); err != nil {
			return err
		}
		if at += b.Size; kind == 0 {
			if at < f.size {
				return fault(at, "%d bytes follow the end", f.size-at)
			}
			return nil
		}
	}
}
