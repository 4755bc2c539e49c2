package trace

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/gcdump"
)

// A dumpReader is a dump of a heap.
type dumpReader struct{ *gcdump.Reader }

// A gcdumpFormat is that of dotnet-gcdump, PerfView and Visual Studio.
type gcdumpFormat struct{}

func (gcdumpFormat) recognizes(head []byte) bool { return gcdump.Recognizes(head) }

func (gcdumpFormat) extensions() []string { return []string{"gcdump"} }

func (gcdumpFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	if size > math.MaxInt32 {
		return nil, errors.New("dumps of 2 GiB and more are not supported")
	}
	data, err := io.ReadAll(o.whole(src, size))
	if err != nil {
		return nil, err
	}
	d, err := gcdump.Read(data)
	if err != nil {
		return nil, err
	}
	return []*File{o.found(&dumpReader{gcdump.NewReader(d)})}, nil
}

// Dump returns the dump of a heap that the file is, nil if it is another trace.
func (f *File) Dump() *gcdump.Dump {
	if r, ok := f.r.(*dumpReader); ok {
		return r.Dump()
	}
	return nil
}

func (r *dumpReader) reader() etw.Source { return r.Reader }

func (r *dumpReader) format() string { return "gcdump" }

func (r *dumpReader) clock() etw.Clock { return r.Clock() }

func (r *dumpReader) stats() Stats { return Stats{Records: r.Delivered()} }

func (r *dumpReader) head() Head { return Head{Recorder: DotNet} }

func (r *dumpReader) share(*File) float64 { return -1 }

func (r *dumpReader) Close() error { return nil }

func (r *dumpReader) facts(of *File) facts {
	d := r.Dump()
	var f facts
	f.packing(of.packing)
	if d.ProcessID > 0 {
		f.number("pid", int64(d.ProcessID), "")
	}
	f.text("process", d.Process.Value)
	f.text("machine", d.Machine.Value)
	f.text("tool", d.Tool.Value)
	ptr := etw.Ptr32
	if d.Is64 {
		ptr = etw.Ptr64
	}
	f.number("pointerSize", int64(ptr.Bytes()), "bytes")
	f.number("nodes", int64(d.Nodes()), "")
	f.number("types", int64(len(d.Types)), "")
	f.number("totalSize", d.TotalSize, "bytes")
	if d.CountMultiplier != 1 || d.SizeMultiplier != 1 {
		f.add("countMultiplier", d.CountMultiplier, fmt.Sprintf("%g: the file has a sample of the objects", d.CountMultiplier))
		f.add("sizeMultiplier", d.SizeMultiplier, fmt.Sprint(d.SizeMultiplier))
	}
	if start := r.Clock().Start; start != 0 {
		f.time("start", start)
	}
	return f
}
