package trace

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// Open opens the trace at path. An archive may hold several; they come in its
// order. What the path leads to need not be a file: a stream that does not have
// the format to be read as one is read to its end first.
func Open(path string, opts Options) ([]Source, error) {
	o := &opening{Options: opts, name: path}
	sources, err := o.open(path)
	if err != nil {
		o.close()
		for _, s := range sources {
			s.Close()
		}
		return nil, inFile(o.name, err)
	}
	return sources, nil
}

// An opening is the state of one call of Open.
type opening struct {
	Options
	name    string      // for messages
	packing []string    // how the trace is packed, outermost first
	closers []io.Closer // that the next source has to close
	failed  error       // why a stream ended early
	size    int64       // of the file, or -1
	read    *counter    // what was read of the file, if it is read as a stream
	allowed *allowance
}

func (o *opening) close() {
	for _, c := range o.closers {
		c.Close()
	}
	o.closers = nil
}

// open opens what a path leads to.
func (o *opening) open(path string) ([]Source, error) {
	if path == Stdin {
		o.name, o.size = "<stdin>", -1
		if f, ok := o.Stdin.(*os.File); ok {
			return o.stdinFile(f)
		}
		return o.stream(o.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, f)
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a folder")
	case !info.Mode().IsRegular():
		o.size = -1
		return o.stream(f)
	}
	o.size = info.Size()
	return o.file(f, info.Size())
}

// stdinFile opens the standard input, which may be a file that something was read
// of already.
func (o *opening) stdinFile(f *os.File) ([]Source, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return o.stream(f)
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	o.size = max(info.Size()-at, 0)
	return o.file(io.NewSectionReader(f, at, o.size), o.size)
}

// file opens what can be read in any order.
func (o *opening) file(src io.ReaderAt, size int64) ([]Source, error) {
	var head [magicSize]byte
	n, err := src.ReadAt(head[:min(magicSize, size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	whole := func() io.Reader { return io.NewSectionReader(src, 0, size) }
	switch kindOf(head[:n]) {
	case kindEmpty:
		return nil, o.emptiness()
	case kindNettrace:
		return o.nettrace(o.count(whole()))
	case kindGzip:
		return o.gzip(o.count(whole()))
	case kindZip:
		return o.zip(src, size)
	}
	return o.etl(src, size)
}

// stream opens what can be read only once, from front to back.
func (o *opening) stream(r io.Reader) ([]Source, error) {
	r = o.count(r)
	head := make([]byte, magicSize)
	n, err := readFull(r, head[:8]) // no more, for a live stream may be slow
	if err == nil && kindOf(head[:8]) == kindUnknown {
		var more int
		more, err = readFull(r, head[8:])
		n += more
	}
	if k := kindOf(head[:n]); err != nil && err != io.EOF && (k == kindEmpty || k == kindUnknown) {
		return nil, err
	}
	r = &rejoined{head: head[:n], rest: r}
	switch kindOf(head[:n]) {
	case kindEmpty:
		return nil, o.emptiness()
	case kindNettrace:
		return o.nettrace(r)
	case kindGzip:
		return o.gzip(r)
	case kindUnknown:
		return nil, ErrFormat
	}
	s, err := newSpool(r)
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, s)
	o.failed = s.failed
	return o.file(s, s.size)
}

// readFull fills p. Unlike io.ReadFull it returns the error of r as it is.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// emptiness is the error for nothing.
func (o *opening) emptiness() error {
	if o.failed != nil {
		return o.failed
	}
	return ErrEmpty
}

// count counts what is read of the file itself.
func (o *opening) count(r io.Reader) io.Reader {
	if o.read != nil {
		return r
	}
	o.read = &counter{r: r}
	return o.read
}

// pack enters a layer of packing.
func (o *opening) pack(how string, packed *counter, size int64) error {
	if len(o.packing) > 0 {
		return fmt.Errorf("%s within %s is not supported; unpack it first", how, o.packing[0])
	}
	o.packing = append(o.packing, how)
	o.allowed = &allowance{limit: o.UnpackLimit, packed: packed, size: size}
	return nil
}

// gzip opens what r unpacks to.
func (o *opening) gzip(r io.Reader) ([]Source, error) {
	if err := o.pack("gzip", o.read, 0); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return o.stream(&unpacker{z, o.allowed})
}

// A rejoined is a stream whose head was read already.
type rejoined struct {
	head []byte
	rest io.Reader
}

func (r *rejoined) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.rest.Read(p)
}
