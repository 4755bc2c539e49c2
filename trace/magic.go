package trace

import (
	"bytes"
	"io"
	"os"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/nettrace"
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
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return kindZip
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return kindGzip
	case nettrace.Recognizes(head), bytes.HasPrefix(head, []byte("Nettrace")): // which the reader says more about
		return kindNettrace
	case etl.Recognizes(head):
		return kindETL
	}
	return kindUnknown
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
