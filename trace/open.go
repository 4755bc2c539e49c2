package trace

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// OpenFiles opens the traces at path, each for itself. An archive may hold several; they
// come in its order. A path need not lead to a file: a stream that does not have the format
// to be read as one is read to its end first.
func OpenFiles(path string, opts ...Option) ([]*File, error) {
	return openFiles(path, newOptions(opts))
}

// Read opens the trace that comes from r, such as a connection or a file that is
// still written. The name stands in for that of a file. Closing the trace closes r.
func Read(name string, r io.ReadCloser, opts ...Option) (*Trace, error) {
	return read(name, r, newOptions(opts))
}

func read(name string, r io.ReadCloser, opts options) (*Trace, error) {
	o := &opening{options: opts, name: name, size: -1, closers: []io.Closer{r}}
	files, err := o.stream(r)
	if err != nil {
		o.close()
		return nil, inFile(name, err)
	}
	return Merge(files...), nil
}

func openFiles(path string, opts options) ([]*File, error) {
	o := &opening{options: opts, name: path}
	files, err := o.open(path)
	if err != nil {
		o.close()
		for _, f := range files {
			f.Close()
		}
		return nil, inFile(o.name, err)
	}
	return files, nil
}

// An opening is the state of one call of OpenFiles: how the contents of the path are packed,
// and the state for the next file found.
type opening struct {
	options
	name    string
	packing []string    // outermost first
	closers []io.Closer // that the next file has to close
	failed  error       // why a stream ended early
	size    int64       // of the file, or -1
	// modified is when the file was written to last, zero if that is not known.
	modified time.Time
	read     *counter  // what was read of the file, if it is read as a stream
	part     *Part     // of its mark, or nil
	packed   io.Reader // what it is unpacked from, if it is read as a stream
	allowed  *allowance
}

func (o *opening) close() {
	for _, c := range o.closers {
		c.Close()
	}
	o.closers = nil
}

// found returns the file that r reads.
//
//go:noinline
func (o *opening) found(r reader) *File {
	f := &File{r: r, name: o.name, packing: o.packing, size: o.size, read: o.read, failed: o.failed, packed: o.packed, closers: o.closers, part: o.part, marked: o.part != nil}
	if x, ok := r.(*etlReader); ok {
		f.part, f.parts = etlPart(x.Headers())
	}
	o.closers, o.part = nil, nil
	return f
}

// open opens the target of a path.
func (o *opening) open(path string) ([]*File, error) {
	if path == Stdin {
		o.name, o.size = "<stdin>", -1
		if o.stdin == nil {
			o.stdin = os.Stdin
		}
		if f, ok := o.stdin.(*os.File); ok {
			return o.stdinFile(f)
		}
		return o.stream(o.stdin)
	}
	f, err := o.openFile(path)
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, f)
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return o.folder(path)
	case !info.Mode().IsRegular():
		o.size = -1
		return o.stream(f)
	}
	o.size, o.modified = info.Size(), info.ModTime()
	return o.file(o.through(f), info.Size())
}

// stdinFile opens the standard input, which may be a file that something was read
// of already.
func (o *opening) stdinFile(f *os.File) ([]*File, error) {
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

// file opens a file that can be read in any order.
func (o *opening) file(src io.ReaderAt, size int64) ([]*File, error) {
	var head [magicSize]byte
	n, err := src.ReadAt(head[:min(magicSize, size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f := formatOf(head[:n])
	switch {
	case n == 0:
		return nil, o.emptiness()
	case f == nil:
		return formats[len(formats)-1].file(o, src, size)
	}
	if _, ok := f.(nettraceFormat); ok {
		_, o.part = look(io.NewSectionReader(src, 0, size))
	}
	if files, err := o.excerptOf(f, src, size); files != nil || err != nil {
		return files, err
	}
	return f.file(o, src, size)
}

// whole returns a file to be read from front to back.
func (o *opening) whole(src io.ReaderAt, size int64) io.Reader {
	return o.count(io.NewSectionReader(src, 0, size))
}

// stream opens a file that can be read only once, from front to back.
func (o *opening) stream(r io.Reader) ([]*File, error) {
	r = o.count(r)
	head := make([]byte, magicSize)
	n, err := readFull(r, head[:8]) // no more, for a live stream may be slow
	if err == nil && formatOf(head[:8]) == nil {
		var more int
		more, err = readFull(r, head[8:])
		n += more
	}
	f := formatOf(head[:n])
	switch {
	case f == nil && err != nil && err != io.EOF:
		return nil, err
	case n == 0:
		return nil, o.emptiness()
	case f == nil:
		return nil, ErrFormat
	}
	r = &rejoined{head: head[:n], rest: r}
	if s, ok := f.(streamed); ok {
		return s.stream(o, r)
	}
	s, err := newSpool(r)
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, s)
	o.failed, o.packed = s.failed, nil
	return o.file(s, s.size)
}

// emptiness is the error for nothing.
func (o *opening) emptiness() error {
	if o.failed != nil {
		return o.failed
	}
	return ErrEmpty
}

// count counts the bytes read of the file itself.
func (o *opening) count(r io.Reader) io.Reader {
	if o.read != nil {
		return r
	}
	o.read = &counter{ctx: o.ctx, r: r}
	return o.read
}

// pack enters a layer of packing.
func (o *opening) pack(how string, packed *counter, size int64) error {
	if len(o.packing) > 0 {
		return fmt.Errorf("%s within %s is not supported; unpack it first", how, o.packing[0])
	}
	o.packing = append(o.packing, how)
	o.allowed = &allowance{limit: o.unpackLimit, packed: packed, size: size}
	return nil
}
