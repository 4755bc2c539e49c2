package gcdump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// magic begins a file of the serializer, and name is its first object.
const (
	magic = "\x14\x00\x00\x00!FastSerialization.1"
	name  = "GCHeapDump"
)

// Tags of the serializer.
const (
	tagNull    = 1
	tagRef     = 2
	tagBegin   = 4
	tagPrivate = 5
	tagEnd     = 6
	tagByte    = 8
	tagSkip    = 12
	tagString  = 13
)

// headSize is that of a head that tells the kind of a file.
const headSize = len(magic) + 15 + len(name)

// Recognizes reports whether a file begins with head, of some 50 bytes.
func Recognizes(head []byte) bool {
	return len(head) >= headSize && bytes.HasPrefix(head, []byte(magic)) && string(head[headSize-len(name):headSize]) == name
}

// A parser reads the file from front to back. Behind an error it reads zeros.
type parser struct {
	b     []byte
	at    int
	part  string
	err   error
	types map[int32]string // by the offset of their first use
	d     *Dump
}

// Read reads a file.
func Read(data []byte) (*Dump, error) {
	p := &parser{b: data, part: "head", types: make(map[int32]string), d: &Dump{versions: make(map[string]version)}}
	if len(data) > math.MaxInt32 {
		return nil, errors.New("gcdump: files of 2 GiB and more are not supported")
	}
	if !Recognizes(data) {
		return nil, p.wrong("it is no .gcdump")
	}
	p.at = len(magic)
	p.dump()
	if p.err != nil {
		return nil, p.err
	}
	return p.d, nil
}

// wrong notes the first thing that is wrong.
func (p *parser) wrong(format string, args ...any) error {
	if p.err == nil {
		p.err = &etw.Damage{Format: "gcdump", Offset: int64(p.at), Part: p.part, Err: fmt.Errorf(format, args...)}
	}
	return p.err
}

// take returns the next n bytes, or nil.
func (p *parser) take(n int) []byte {
	if p.err == nil && (n < 0 || n > len(p.b)-p.at) {
		p.wrong("it ends within %d bytes", n)
	}
	if p.err != nil {
		return nil
	}
	p.at += n
	return p.b[p.at-n : p.at]
}

func (p *parser) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *parser) int32() int32 {
	if b := p.take(4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (p *parser) int64() int64 {
	if b := p.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (p *parser) float() float32 { return math.Float32frombits(uint32(p.int32())) }

func (p *parser) text() Text {
	n := p.int32()
	if n == -1 {
		return Text{}
	}
	return Text{string(p.take(int(n))), true}
}

// count reads how many elements of at least size bytes follow.
func (p *parser) count(size int) int {
	n := p.int32()
	if n < 0 || int(n) > (len(p.b)-p.at)/size {
		p.wrong("%d elements do not fit into the rest of the file", n)
		return 0
	}
	return int(n)
}

func (p *parser) expect(tag byte) {
	if got := p.byte(); got != tag {
		p.wrong("tag %d in the place of %d", got, tag)
	}
}

// begin reads the type of an object that has the name, and false if there is no object.
func (p *parser) begin(want string) bool {
	tag := p.byte()
	if tag == tagNull || p.err != nil {
		return false
	}
	if tag != tagBegin && tag != tagPrivate {
		p.wrong("tag %d begins no object", tag)
		return false
	}
	at, got := int32(p.at), ""
	switch tag := p.byte(); tag {
	case tagRef:
		got = p.types[p.int32()]
	case tagBegin, tagPrivate:
		p.expect(tagNull)
		v := version{p.int32(), p.int32()}
		got = p.text().Value
		p.expect(tagEnd)
		p.types[at] = got
		p.d.versions[got] = v
	default:
		p.wrong("tag %d begins no type", tag)
	}
	if got != want {
		p.wrong("an object of the type %.50q in the place of %q", got, want)
	}
	return p.err == nil
}

// Versions of types that are known.
const (
	oldestDump = 8
	newestDump = 10
	newestRead = 0 // of the graph's reader: later ones defer types
)

// dump reads the first object, and the common end of all files.
func (p *parser) dump() {
	d := p.d
	if !p.begin(name) {
		p.wrong("it holds nothing")
		return
	}
	if v := d.versions[name]; v.version < oldestDump || v.oldest > newestDump {
		p.wrong("version %d is not supported", v.version)
	}
	p.graph()
	p.part = "description"
	d.Is64 = p.byte() != 0
	d.CountMultiplier, d.SizeMultiplier = p.float(), p.float()
	if d.JavaScript = p.begin("JSHeapInfo"); d.JavaScript {
		p.expect(tagEnd)
	}
	p.dotnet()
	d.Log, d.Ticks = p.text(), p.int64()
	d.Machine, d.Process, d.ProcessID = p.text(), p.text(), p.int32()
	d.Commit, d.WorkingSet = p.int64(), p.int64()
	for range p.count(4) {
		d.TypeMultipliers = append(d.TypeMultipliers, p.float())
	}
	for p.err == nil {
		switch tag := p.byte(); tag {
		case tagSkip:
			p.int32() // where it ends, which it says itself
			d.hasSkip = true
			p.interop()
		case tagString:
			d.hasTool = true
			d.Tool = p.text()
		case tagEnd:
			p.trailer()
			return
		default:
			p.wrong("tag %d is not known", tag)
		}
	}
}

// trailer reads the end of the file.
func (p *parser) trailer() {
	p.part = "trailer"
	p.expect(tagEnd)
	at := p.at
	for range p.count(4) {
		p.int32()
	}
	end := p.at
	if int(p.int32()) != at || int(p.int32()) != end {
		p.wrong("it does not say where it is")
	}
	if p.at != len(p.b) {
		p.wrong("%d bytes follow the end", len(p.b)-p.at)
	}
}

func (p *parser) dotnet() {
	if !p.begin("DotNetHeapInfo") {
		return
	}
	d := &DotNet{Size: p.int64()}
	for range p.count(50) {
		if !p.begin("GCHeapDumpSegment") {
			p.wrong("a segment is missing")
			return
		}
		s := Segment{Start: p.int64(), End: p.int64()}
		for i := range segmentEnds(p.d.versions["GCHeapDumpSegment"]) {
			s.Ends[i] = p.int64()
		}
		p.expect(tagEnd)
		d.Segments = append(d.Segments, s)
	}
	p.expect(tagEnd)
	p.d.DotNet = d
}

// segmentEnds returns how many ends a segment of that version has.
func segmentEnds(v version) int {
	if v.version >= 1 {
		return 5
	}
	return 4
}

// Sizes of a wrapper of each kind.
var wrapperSizes = [3]int{40, 32, 33}

func (p *parser) interop() {
	if !p.begin("InteropInfo") {
		return
	}
	x := &Interop{Count: p.int32()}
	if x.Count != 0 {
		size := 0
		for i := range x.Wrappers {
			n := p.int32()
			if n < 0 {
				p.wrong("%d wrappers", n)
			}
			x.Wrappers[i] = n
			size += int(n) * wrapperSizes[i]
		}
		modules := p.count(1)
		x.Raw = bytes.Clone(p.take(size))
		for range modules {
			x.Modules = append(x.Modules, InteropModule{p.int64(), p.int32(), p.int32(), p.text()})
			if p.err != nil {
				return
			}
		}
	}
	p.expect(tagEnd)
	p.d.Interop = x
}

const graphName = "Graphs.MemoryGraph"

// graph reads types and nodes.
func (p *parser) graph() {
	d := p.d
	p.part = "graph"
	if !p.begin(graphName) {
		p.wrong("there is no graph")
		return
	}
	if v := d.versions[graphName]; v.oldest > newestRead {
		p.wrong("version %d of the graph is not supported", v.version)
	}
	d.TotalSize, d.Root = p.int64(), int(p.int32())
	p.part = "types"
	for range p.count(12) {
		d.Types = append(d.Types, Type{p.text(), p.int32(), p.text()})
		if p.err != nil {
			return
		}
	}
	p.part = "nodes"
	d.offsets = make([]int32, p.count(4))
	for i := range d.offsets {
		d.offsets[i] = p.int32()
	}
	d.blob = bytes.Clone(p.take(p.count(1)))
	p.checkNodes()
	p.part = "addresses"
	if n := p.count(8); n != len(d.offsets) {
		p.wrong("%d addresses of %d nodes", n, len(d.offsets))
		return
	}
	d.Addresses = make([]uint64, len(d.offsets))
	for i := range d.Addresses {
		d.Addresses[i] = uint64(p.int64())
	}
	tag := p.byte()
	if d.has64 = tag == tagByte; d.has64 {
		d.Is64 = p.byte() != 0
		tag = p.byte()
	}
	if tag != tagEnd {
		p.wrong("tag %d in the place of %d", tag, tagEnd)
	}
}

// checkNodes decodes all nodes. Several could lie at one place, so that a small file has more
// references than memory holds: all together have no more than the blob has bytes.
func (p *parser) checkNodes() {
	d := p.d
	if p.err == nil && (d.Root < 0 || d.Root >= len(d.offsets)) {
		p.wrong("the root is node %d of %d", d.Root, len(d.offsets))
	}
	var list []int
	left := len(d.blob)
	for i, at := range d.offsets {
		if p.err != nil {
			return
		}
		if at < 0 || int(at) >= len(d.blob) {
			p.wrong("node %d lies at %d of %d bytes", i, at, len(d.blob))
			return
		}
		n, _, ok := d.node(i, list)
		list = n.Children
		if left -= len(list); !ok || left < 0 {
			p.wrong("node %d at %d cannot be read", i, at)
		}
	}
}
