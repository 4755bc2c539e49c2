package gcdump

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// A printer makes a file.
type printer struct {
	b     []byte
	types map[string]int32
	d     *Dump
}

// WriteTo writes the file.
func (d *Dump) WriteTo(w io.Writer) (int64, error) {
	p := &printer{d: d, types: make(map[string]int32), b: []byte(magic)}
	p.dump()
	if len(p.b) > math.MaxInt32 {
		return 0, errTooLarge
	}
	n, err := w.Write(p.b)
	return int64(n), err
}

var errTooLarge = errors.New("gcdump: the heap is too large for a file of 2 GiB")

func (p *printer) int32(v int32) { p.b = binary.LittleEndian.AppendUint32(p.b, uint32(v)) }
func (p *printer) int64(v int64) { p.b = binary.LittleEndian.AppendUint64(p.b, uint64(v)) }
func (p *printer) byte(v byte)   { p.b = append(p.b, v) }

func (p *printer) bool(v bool) {
	if v {
		p.byte(1)
	} else {
		p.byte(0)
	}
}

func (p *printer) float(v float32) { p.int32(int32(math.Float32bits(v))) }

func (p *printer) text(t Text) {
	if !t.Valid {
		p.int32(-1)
		return
	}
	p.int32(int32(len(t.Value)))
	p.b = append(p.b, t.Value...)
}

// Versions of the output of a Builder: those that dotnet-gcdump writes.
var writtenVersions = map[string]version{name: {10, 8}, graphName: {1, 0}, "GCHeapDumpSegment": {1, 1}}

func (p *printer) begin(typ string) {
	p.byte(tagBegin)
	if at, ok := p.types[typ]; ok {
		p.byte(tagRef)
		p.int32(at)
		return
	}
	p.types[typ] = int32(len(p.b))
	v, ok := p.d.versions[typ]
	if !ok {
		v = writtenVersions[typ]
	}
	p.b = append(p.b, tagBegin, tagNull)
	p.int32(v.version)
	p.int32(v.oldest)
	p.text(Text{typ, true})
	p.byte(tagEnd)
}

func (p *printer) dump() {
	d := p.d
	p.begin(name)
	p.graph()
	p.bool(d.Is64)
	p.float(d.CountMultiplier)
	p.float(d.SizeMultiplier)
	if d.JavaScript {
		p.begin("JSHeapInfo")
		p.byte(tagEnd)
	} else {
		p.byte(tagNull)
	}
	p.dotnet()
	p.text(d.Log)
	p.int64(d.Ticks)
	p.text(d.Machine)
	p.text(d.Process)
	p.int32(d.ProcessID)
	p.int64(d.Commit)
	p.int64(d.WorkingSet)
	p.int32(int32(len(d.TypeMultipliers)))
	for _, m := range d.TypeMultipliers {
		p.float(m)
	}
	var ends []int32
	if d.hasSkip {
		p.byte(tagSkip)
		p.int32(0) // the first of the ends
		p.interop()
		ends = append(ends, int32(len(p.b)))
	}
	if d.hasTool {
		p.byte(tagString)
		p.text(d.Tool)
	}
	p.b = append(p.b, tagEnd, tagEnd)
	at := int32(len(p.b))
	p.int32(int32(len(ends)))
	for _, end := range ends {
		p.int32(end)
	}
	end := int32(len(p.b))
	p.int32(at)
	p.int32(end)
}

func (p *printer) dotnet() {
	d := p.d.DotNet
	if d == nil {
		p.byte(tagNull)
		return
	}
	p.begin("DotNetHeapInfo")
	p.int64(d.Size)
	p.int32(int32(len(d.Segments)))
	for _, s := range d.Segments {
		p.begin("GCHeapDumpSegment")
		p.int64(s.Start)
		p.int64(s.End)
		v, ok := p.d.versions["GCHeapDumpSegment"]
		if !ok {
			v = writtenVersions["GCHeapDumpSegment"]
		}
		for _, end := range s.Ends[:segmentEnds(v)] {
			p.int64(end)
		}
		p.byte(tagEnd)
	}
	p.byte(tagEnd)
}

func (p *printer) interop() {
	x := p.d.Interop
	if x == nil {
		p.byte(tagNull)
		return
	}
	p.begin("InteropInfo")
	p.int32(x.Count)
	if x.Count != 0 {
		for _, n := range x.Wrappers {
			p.int32(n)
		}
		p.int32(int32(len(x.Modules)))
		p.b = append(p.b, x.Raw...)
		for _, m := range x.Modules {
			p.int64(m.Base)
			p.int32(m.Size)
			p.int32(m.TimeStamp)
			p.text(m.File)
		}
	}
	p.byte(tagEnd)
}

func (p *printer) graph() {
	d := p.d
	p.begin(graphName)
	p.int64(d.TotalSize)
	p.int32(int32(d.Root))
	p.int32(int32(len(d.Types)))
	for _, t := range d.Types {
		p.text(t.Name)
		p.int32(t.Size)
		p.text(t.Module)
	}
	p.int32(int32(len(d.offsets)))
	for _, at := range d.offsets {
		p.int32(at)
	}
	p.int32(int32(len(d.blob)))
	p.b = append(p.b, d.blob...)
	p.int32(int32(len(d.Addresses)))
	for _, a := range d.Addresses {
		p.int64(int64(a))
	}
	if d.has64 {
		p.byte(tagByte)
		p.bool(d.Is64)
	}
	p.byte(tagEnd)
}
