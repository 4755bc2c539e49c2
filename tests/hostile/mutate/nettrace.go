package mutate

import (
	"bytes"
	"encoding/binary"
)

const serialization = "\x14\x00\x00\x00!FastSerialization.1"

// readObjects maps the streams of versions 3 to 5. An object is
//
//	tag tag 1, version, minimal version, length of the name, name, 6, payload, 6
//
// and the payload of a block is a size, padding to a multiple of 4, and the data.
func readObjects(t *Trace) bool {
	data, at := t.Data, 0
	t.Format = Netperf
	if bytes.HasPrefix(data, []byte("Nettrace")) {
		t.Format, at = Nettrace, 8
	}
	if !bytes.HasPrefix(data[at:], []byte(serialization)) {
		return false
	}
	at += len(serialization)
	for at < len(data) && data[at] != 1 {
		start, nameSize := at, 0
		if len(data)-at < 19 {
			return false
		}
		nameSize = number(data[at+11:])
		at += 15
		if nameSize > len(data)-at-5 {
			return false
		}
		name := string(data[at : at+nameSize])
		at += nameSize + 1
		size := 48 // of a Trace
		if name != "Trace" {
			size = number(data[at:])
			at = (at + 4 + 3) &^ 3
		}
		if size > len(data)-at-1 {
			return false
		}
		if name == "Trace" {
			at += size + 1
			t.Head = at
			continue
		}
		t.Parts = append(t.Parts, Part{start, at, at + size + 1})
		at += size + 1
	}
	return at+1 == len(data)
}

// readBlocks maps a stream of version 6: a magic, and blocks behind a word that
// has the kind in its upper byte and the size in the rest. The first block is the
// trace's own header, one of kind 0 the end.
func readBlocks(t *Trace) bool {
	const magic = 20
	data, at := t.Data, magic
	t.Format = Nettrace6
	if len(data) < magic || string(data[:12]) != "Nettrace\x00\x00\x00\x00" {
		return false
	}
	for len(data)-at >= 4 {
		word := binary.LittleEndian.Uint32(data[at:])
		kind, end := word>>24, at+4+int(word&0xffffff)
		if kind == 0 {
			return end == len(data)
		}
		if end > len(data) {
			return false
		}
		if t.Head == 0 {
			t.Head = end
		} else {
			t.Parts = append(t.Parts, Part{at, at + 4, end})
		}
		at = end
	}
	return false
}
