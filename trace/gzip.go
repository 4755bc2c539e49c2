package trace

import (
	"bytes"
	"compress/gzip"
	"io"
)

// A gzipFormat is a packed stream.
type gzipFormat struct{}

func (gzipFormat) recognizes(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b\x08")) }

func (gzipFormat) extensions() []string { return []string{"gz"} }

func (gzipFormat) packing() string { return "gzip" }

func (f gzipFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	return f.stream(o, o.whole(src, size))
}

// stream opens the unpacked src.
func (f gzipFormat) stream(o *opening, src io.Reader) ([]*File, error) {
	if err := o.pack(f.packing(), o.read, 0); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	o.packed = &unpacker{z, o.allowed}
	return o.stream(o.packed)
}
