// Package packed has texts that are parts of programs, packed by gzip so that they take less
// of these.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
)

// Of packs a text.
func Of(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // which is a level
	z.Write(text)                                         // to a buffer, which takes all
	z.Close()
	return b.Bytes()
}

// Text unpacks a text. It panics if this is damaged: it is a part of the program.
func Text(packed string) string {
	var text []byte
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		text, err = io.ReadAll(z)
	}
	if err != nil {
		panic(err)
	}
	return string(text)
}
