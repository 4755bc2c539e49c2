package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrFormat says that a file is not the metadata of a trace that this package reads.
var ErrFormat = errors.New("ctf: not the metadata of a trace in CTF 1.8")

var errNone = errors.New("they are empty")

// The beginnings of metadata: the magic number of its packets in both byte orders, and text.
const (
	metaLittle = "\x57\x1d\xd1\x75"
	metaBig    = "\x75\xd1\x1d\x57"
	metaText   = "/* CTF 1"
)

// metaHead is the size of the header of a packet of metadata.
const metaHead = 37

// maxMetadata bounds the metadata. That of LTTng has some hundred bytes for each event.
const maxMetadata = 64 << 20

// Recognizes reports whether a file that begins with head is the metadata of a trace.
func Recognizes(head []byte) bool {
	return slices.ContainsFunc([]string{metaLittle, metaBig, metaText}, func(begin string) bool { return bytes.HasPrefix(head, []byte(begin)) })
}

// unpackMetadata joins the text of the packets of metadata. What is whole of it is returned with
// an error.
func unpackMetadata(b []byte) (text []byte, err error) {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case !Recognizes(b):
		return nil, ErrFormat
	case bytes.HasPrefix(b, []byte(metaText)):
		return b, nil
	case bytes.HasPrefix(b, []byte(metaBig)):
		order = binary.BigEndian
	}
	for at := 0; len(b) > at; {
		p, content, size := b[at:], 0, 0
		if len(p) >= metaHead && bytes.Equal(p[:4], b[:4]) && p[32] == 0 && p[33] == 0 { // neither packed nor encrypted
			content, size = int(order.Uint32(p[24:])/8), int(order.Uint32(p[28:])/8)
		}
		if content < metaHead || size < content || content > len(p) {
			return text, fmt.Errorf("the metadata have no whole packet at byte %d", at)
		}
		text = append(text, p[metaHead:content]...)
		at += size
	}
	return text, nil
}
