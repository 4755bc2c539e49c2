package gcdump

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Provider is that of the record which ends the heap.
var Provider = etw.ProviderDesc{Name: "Etwgen-HeapDump", GUID: etw.MustParseGUID("d7e169b5-ad14-4729-aea7-f0b691e593e3")}

// The last record says how much there was.
var ended = etw.EventDesc{Provider: &Provider, ID: 1, Level: etw.LevelInformational, Name: "HeapDump", Named: true, Fields: []etw.FieldDesc{
	{Name: "Nodes", Type: etw.InUInt32}, {Name: "Types", Type: etw.InUInt32}, {Name: "TotalSize", Type: etw.InUInt64},
}}

var dotnet = etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")

// Ids of the runtime's events, and the keywords that switch them on.
const (
	bulkType          = 15
	bulkRootEdge      = 16
	bulkNode          = 18
	bulkEdge          = 19
	bulkRootCCW       = 36
	bulkRootStaticVar = 38

	keywordType     = 0x80000
	keywordHeapDump = 0x100000
)

// batchSize is how many bytes of elements a record has at least, if there are so many.
const batchSize = 32 << 10

// Kinds of roots of the runtime's events.
var rootKinds = map[RootKind]byte{StackRoot: 0, FinalizerRoot: 1, HandleRoot: 2}

const otherKind = 3

// A Reader delivers a dump as records. It is an [etw.Source].
type Reader struct {
	d         *Dump
	clock     etw.Clock
	addresses []uint64 // of all nodes, none twice
	typeIDs   uint64   // of type 0
	roots     []Root
	groups    map[int]bool
	step      int // of steps
	at        int // in it
	left      []int
	list      []int
	batches   uint32 // of the step
	elements  []byte
	count     uint32
	payload   []byte
	records   int64
}

// NewReader returns a reader of a dump, which must not change while it is read.
func NewReader(d *Dump) *Reader {
	r := &Reader{d: d, clock: etw.Clock{Frequency: 1e7}}
	if d.Ticks > ticksOfFileTime {
		r.clock.Start = etw.FileTime(d.Ticks - ticksOfFileTime)
	}
	r.roots, r.groups = d.Roots()
	order.Stable(r.roots, func(a, b Root) int { return int(eventOf(a.Kind)) - int(eventOf(b.Kind)) })
	r.address()
	// The ids of types differ between dumps, so that several can be read as one.
	h := fnv.New32a()
	for _, t := range d.Types {
		io.WriteString(h, t.Name.Value)
		h.Write([]byte{0})
	}
	r.typeIDs = uint64(h.Sum32())<<32 | 1
	return r
}

// ticksOfFileTime is the first day of a FileTime, in ticks since the year 1.
const ticksOfFileTime = 504911232000000000

// address gives each node an address of its own. One that has none, or one that others have,
// gets one at the end of the space.
func (r *Reader) address() {
	list := slices.Clone(r.d.Addresses)
	slices.Sort(list)
	twice := map[uint64]bool{0: true}
	for i, a := range list {
		if i > 0 && a == list[i-1] {
			twice[a] = true
		}
	}
	top := ^uint64(0) - uint64(len(list))
	r.addresses = list
	for i, a := range r.d.Addresses {
		if r.addresses[i] = a; twice[a] || a > top {
			r.addresses[i] = top + 1 + uint64(i)
		}
	}
}

// Dump returns the dump.
func (r *Reader) Dump() *Dump { return r.d }

// Clock is that of the records, of which all have one time. Its start is when the dump was
// made, by the clock on the wall there, or 0 where the file does not tell.
func (r *Reader) Clock() etw.Clock { return r.clock }

// Delivered returns how many records were delivered.
func (r *Reader) Delivered() int64 { return r.records }

// Records iterates over the records that are left: see [etw.Records].
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// A step makes the records of one kind. It reports false when there is nothing left.
var steps = [...]func(*Reader, *etw.Record) bool{(*Reader).nextTypes, (*Reader).nextRoots, (*Reader).nextNodes, (*Reader).nextEdges, (*Reader).nextEnd}

// Next sets rec to the next record: see [etw.Source].
func (r *Reader) Next(rec *etw.Record) error {
	for r.step < len(steps) {
		r.elements, r.count = r.elements[:0], 0
		*rec = etw.Record{Provider: dotnet, ProviderName: "Microsoft-Windows-DotNETRuntime", Level: etw.LevelInformational, Keywords: keywordHeapDump,
			PointerSize: etw.Ptr64, Processor: -1, ProcessID: -1, ThreadID: -1, Clock: &r.clock}
		if r.d.ProcessID > 0 {
			rec.ProcessID = int64(r.d.ProcessID)
		}
		if steps[r.step](r, rec) {
			r.records++
			return nil
		}
		r.step, r.at, r.batches = r.step+1, 0, 0
	}
	return io.EOF
}

func (r *Reader) full() bool { return len(r.elements) >= batchSize }

func (r *Reader) add64(values ...uint64) {
	for _, v := range values {
		r.elements = binary.LittleEndian.AppendUint64(r.elements, v)
	}
}

func (r *Reader) add32(v uint32) { r.elements = binary.LittleEndian.AppendUint32(r.elements, v) }

// addText appends a text in UTF-16 that ends with NUL.
func (r *Reader) addText(s string) {
	r.elements = append(etw.AppendUTF16(r.elements, strings.ReplaceAll(s, "\x00", "\ufffd")), 0, 0)
}

// batch ends a record of elements behind a head.
func (r *Reader) batch(rec *etw.Record, id uint16, head []byte) bool {
	if r.count == 0 {
		return false
	}
	rec.ID = id
	r.payload = append(append(r.payload[:0], head...), r.elements...)
	rec.Payload = r.payload
	return true
}

// numbered ends a record that has the number of its batch.
func (r *Reader) numbered(rec *etw.Record, id uint16) bool {
	head := make([]byte, 10) // the last two are the number of the runtime
	binary.LittleEndian.PutUint32(head, r.batches)
	binary.LittleEndian.PutUint32(head[4:], r.count)
	r.batches++
	return r.batch(rec, id, head)
}

// unnumbered ends a record with some bytes between count and elements.
func (r *Reader) unnumbered(rec *etw.Record, id uint16, between int) bool {
	head := make([]byte, 4+between)
	binary.LittleEndian.PutUint32(head, r.count)
	return r.batch(rec, id, head)
}

func (r *Reader) nextTypes(rec *etw.Record) bool {
	rec.Keywords = keywordType
	for ; r.at < len(r.d.Types) && !r.full(); r.at++ {
		r.add64(r.typeIDs+uint64(r.at), 0) // no module
		r.add64(0)                         // neither token nor flags
		r.elements = append(r.elements, 0) // nor element type
		r.addText(r.d.Types[r.at].Name.Value)
		r.add32(0) // no parameters
		r.count++
	}
	return r.unnumbered(rec, bulkType, 2)
}

// eventOf returns the event that tells of roots of a kind.
func eventOf(k RootKind) uint16 {
	switch k {
	case StaticRoot, ThreadStaticRoot:
		return bulkRootStaticVar
	case COMRoot:
		return bulkRootCCW
	}
	return bulkRootEdge
}

func (r *Reader) nextRoots(rec *etw.Record) bool {
	id := uint16(0)
	for ; r.at < len(r.roots) && !r.full(); r.at++ {
		root := r.roots[r.at]
		if id == 0 {
			id = eventOf(root.Kind)
		}
		if id != eventOf(root.Kind) {
			break
		}
		address := r.addresses[root.Node]
		switch id {
		case bulkRootStaticVar:
			r.add64(0, address, 0)
			flags := uint32(0)
			if root.Kind == ThreadStaticRoot {
				flags = 1
			}
			r.add32(flags)
			r.addText(root.Name)
		case bulkRootCCW:
			r.add64(0, address, 0, 0, 0)
			r.add32(0)
		default:
			kind, ok := rootKinds[root.Kind]
			if !ok {
				kind = otherKind
			}
			r.add64(address)
			r.elements = append(r.elements, kind, 0, 0, 0, 0) // and no flags
			r.add64(0)
		}
		r.count++
	}
	switch id {
	case bulkRootStaticVar:
		return r.unnumbered(rec, id, 10)
	case bulkRootCCW:
		return r.unnumbered(rec, id, 2)
	}
	return r.numbered(rec, bulkRootEdge)
}

// isObject reports whether node i stands for an object.
func (r *Reader) isObject(i int) bool { return !r.groups[i] && !r.d.Undefined(i) }

func (r *Reader) nextNodes(rec *etw.Record) bool {
	for ; r.at < r.d.Nodes() && !r.full(); r.at++ {
		if !r.isObject(r.at) {
			continue
		}
		n, _, _ := r.d.node(r.at, r.list)
		r.list = n.Children
		r.add64(r.addresses[r.at], uint64(n.Size), r.typeIDs+uint64(n.Type), uint64(len(n.Children)))
		r.count++
	}
	return r.numbered(rec, bulkNode)
}

func (r *Reader) nextEdges(rec *etw.Record) bool {
	for !r.full() {
		for len(r.left) == 0 && r.at < r.d.Nodes() {
			if r.isObject(r.at) {
				n, _, _ := r.d.node(r.at, r.list)
				r.list, r.left = n.Children, n.Children
			}
			r.at++
		}
		if len(r.left) == 0 {
			break
		}
		r.add64(r.addresses[r.left[0]])
		r.add32(0) // no field
		r.left = r.left[1:]
		r.count++
	}
	return r.numbered(rec, bulkEdge)
}

func (r *Reader) nextEnd(rec *etw.Record) bool {
	if r.at > 0 {
		return false
	}
	r.at = 1
	rec.Provider, rec.ProviderName, rec.Schema = Provider.GUID, Provider.Name, &ended
	rec.ID, rec.Keywords = ended.ID, 0
	r.add32(uint32(r.d.Nodes()))
	r.add32(uint32(len(r.d.Types)))
	r.add64(uint64(r.d.TotalSize))
	rec.Payload = r.elements
	return true
}
