package trace

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// A kind is what the first bytes of a file say that it is.
type kind uint8

const (
	kindUnknown kind = iota
	kindEmpty
	kindETL
	kindNettrace // or netperf
	kindZip
	kindGzip
)

// magicSize is how many bytes kindOf looks at.
const magicSize = 0x50

// kindOf recognises a file by its first bytes, of which head has up to magicSize.
func kindOf(head []byte) kind {
	switch {
	case len(head) == 0:
		return kindEmpty
	case bytes.HasPrefix(head, []byte("Nettrace")),
		bytes.HasPrefix(head, []byte("\x14\x00\x00\x00!FastSerialization")):
		return kindNettrace
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return kindZip
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return kindGzip
	case isETL(head):
		return kindETL
	}
	return kindUnknown
}

// isETL reports whether head is the start of a buffer whose first record is that
// of the log file's header: event 0 of group 0, in the kernel's own form of either
// pointer size.
func isETL(head []byte) bool {
	const bufferHeader = 0x48
	if len(head) < bufferHeader+8 {
		return false
	}
	record := head[bufferHeader:]
	marker := binary.LittleEndian.Uint16(record[2:])
	return (marker == 0xc001 || marker == 0xc002) && record[6] == 0 && record[7] == 0
}

// isETLFile reports whether the file at path is an .etl file as it is.
func isETLFile(path string) bool {
	if path == Stdin {
		return false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [magicSize]byte
	n, err := io.ReadFull(f, head[:])
	return (err == nil || err == io.ErrUnexpectedEOF) && kindOf(head[:n]) == kindETL
}
