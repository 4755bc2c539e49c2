package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// shapes are those that are tried. Those that were found to cost the square once are among them.
var shapes = []shape{
	{"a list of objects", 8000, netTrace(listOfObjects), []string{"heap", "report"}},
	{"a table flooded", 8000, netTrace(tableFlooded), []string{"heap", "report"}},
	{"a ring of objects", 8000, netTrace(ringOfObjects), []string{"heap", "heap --by holder", "report"}},
	{"deep stacks", 32, netTrace(deepStacks), []string{"stat", "allocs", "top --of allocs", "report"}},
	{"kinds of events", 62500, netTrace(kindsOfEvents), []string{"stat", "info", "dump --format csv", "report"}},
	{"kinds of TraceLogging", 62500, etlTrace(kindsOfTraceLogging), []string{"stat", "info", "report"}},
	{"threads", 4000, netTrace(threads), []string{"stat", "waits --locks", "timeline", "report"}},
	{"allocated types", 8000, netTrace(allocatedTypes), []string{"allocs", "report"}},
	{"methods", 8000, netTrace(methods), []string{"jit", "top --of allocs", "report"}},
	{"names within names", 2000, netTrace(namesWithin), []string{"jit", "top --of allocs", "report"}},
	{"collections", 2000, netTrace(collections), []string{"gc", "timeline", "report"}},
	{"collections without end", 2000, netTrace(withoutEnd), []string{"gc", "report"}},
	{"types of exceptions", 8000, netTrace(exceptions), []string{"exceptions", "report"}},
	{"processes, each of the last", 2000, etlTrace(processes), []string{"processes", "stat", "info", "report"}},
	{"images of a process", 2000, etlTrace(images), []string{"processes --images", "top", "report"}},
	{"files that are read", 4000, etlTrace(files), []string{"files --disks", "top --of disk", "report"}},
	{"switches of threads", 4000, etlTrace(switches), []string{"threads", "timeline", "report"}},
	{"samples with stacks", 4000, etlTrace(samples), []string{"top", "tree", "report"}},
}

// A pen writes the events of a shape. Its first error stays.
type pen struct {
	write func(*etw.Record) error
	clock etw.Clock
	stack etw.Stack
	err   error
}

func (p *pen) record(at, pid, tid int64, r *etw.Record) {
	r.Timestamp, r.ProcessID, r.ThreadID, r.Clock, r.Stack, r.PointerSize = at, pid, tid, &p.clock, p.stack, etw.Ptr64
	if p.err == nil {
		p.err = p.write(r)
	}
}

func (p *pen) event(at, pid, tid int64, e etw.Event) {
	payload, err := e.AppendPayload(nil, etw.Ptr64)
	p.err = errors.Join(p.err, err)
	p.described(at, pid, tid, e.EventDesc(), payload)
}

func (p *pen) described(at, pid, tid int64, d *etw.EventDesc, payload []byte) {
	r := &etw.Record{
		Provider: d.Provider.GUID, ProviderName: d.Provider.Name, Kind: d.Kind, ID: d.ID, Version: d.Version,
		Opcode: d.Opcode, Level: d.Level, Keywords: d.Keywords, Payload: payload,
	}
	if d.Kind == etw.KindClassic {
		r.Provider, r.ProviderName = d.Class, ""
	}
	p.record(at, pid, tid, r)
}

// at gives an event a stack.
func (p *pen) at(addresses ...uint64) {
	p.stack = etw.Stack{PtrSize: etw.Ptr64}
	for _, a := range addresses {
		p.stack.Addresses = binary.LittleEndian.AppendUint64(p.stack.Addresses, a)
	}
}

var shapesClock = etw.Clock{Frequency: 1e7, Start: etw.FileTimeOf(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))}

// netTrace writes a .nettrace.
func netTrace(fill func(p *pen, n int)) func(string, int) error {
	return func(path string, n int) error {
		return toFile(path, func(out *os.File) error {
			b := bufio.NewWriter(out)
			w, err := nettrace.NewWriter(b, nettrace.Header{Version: 4, ProcessID: 7, Processors: 2, Clock: shapesClock})
			if err != nil {
				return err
			}
			p := &pen{write: w.Write, clock: shapesClock}
			fill(p, n)
			return errors.Join(p.err, w.Close(), b.Flush())
		})
	}
}

// etlTrace writes an .etl of Windows.
func etlTrace(fill func(p *pen, n int)) func(string, int) error {
	return func(path string, n int) error {
		return toFile(path, func(out *os.File) error {
			w, err := etl.NewWriter(out, etl.Header{
				SessionName: "shape", Processors: 2, PointerSize: etw.Ptr64, BufferSize: 64 << 10, Clock: shapesClock,
				WindowsMajor: 10, WindowsBuild: 19041, TimerResolution: 15625 * time.Microsecond,
			})
			if err != nil {
				return err
			}
			p := &pen{write: w.Write, clock: shapesClock}
			fill(p, n)
			return errors.Join(p.err, w.Close())
		})
	}
}

func toFile(path string, write func(*os.File) error) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}

func tick(p *pen, i int, id uint64, name string) {
	p.event(int64(i+1)*1000, 7, 1, &clr.GCAllocationTickV4{AllocationAmount: 100000, AllocationAmount64: 100000, TypeID: etw.Pointer(id), TypeName: etw.MakeUTF16(name), ObjectSize: 24})
}

// deepStacks has n stacks of 8,000 frames, none of which is in another.
func deepStacks(p *pen, n int) {
	frames := make([]uint64, 8000)
	for i := range n {
		for j := range frames {
			frames[j] = uint64(i*len(frames)+j+1) << 4
		}
		p.at(frames...)
		tick(p, i, 1, "T")
	}
}

func kindsOfEvents(p *pen, n int) {
	of := &etw.ProviderDesc{Name: "Shape", GUID: etw.NameGUID("Shape")}
	for i := range n {
		d := &etw.EventDesc{Provider: of, ID: uint16(i), Version: uint8(i >> 16), Name: "Event" + strconv.Itoa(i), Fields: []etw.FieldDesc{{Name: "field" + strconv.Itoa(i), Type: etw.InUInt32}}}
		p.record(int64(i+1)*1000, 7, 1, &etw.Record{Provider: of.GUID, ProviderName: of.Name, ID: d.ID, Version: d.Version, Level: 4, Schema: d, Payload: []byte{1, 2, 3, 4}})
	}
}

// kindsOfTraceLogging brings the description of each event along with it.
func kindsOfTraceLogging(p *pen, n int) {
	sized := func(s string) []byte { return append(binary.LittleEndian.AppendUint16(nil, uint16(len(s)+2)), s...) }
	for i := range n {
		p.record(int64(i+1)*1000, 7, 1, &etw.Record{
			Provider: etw.NameGUID("Shape"), Channel: 11, Level: 5, Payload: []byte{1, 2, 3, 4},
			Extended: []etw.ExtendedItem{
				{Type: etw.ExtProviderTraits, Data: sized("Shape\x00")},
				{Type: etw.ExtSchema, Data: sized(fmt.Sprintf("\x00Event%d\x00field%d\x00\x08", i, i))},
			},
		})
	}
}

func threads(p *pen, n int) {
	for i := range n {
		p.at(uint64(i+1)<<4, 16)
		p.event(int64(2*i+1)*1000, 7, int64(i+1), &clr.ContentionStartV2{LockID: etw.Pointer(i + 1), LockOwnerThreadID: uint64(i)})
	}
	for i := range n {
		p.event(int64(2*n+i+1)*1000, 7, int64(n-i), &clr.ContentionStopV1{DurationNs: 1000})
	}
}

func allocatedTypes(p *pen, n int) {
	for i := range n {
		tick(p, i, uint64(i+1), "Shape.Type"+strconv.Itoa(i))
	}
}

func methods(p *pen, n int) {
	for i := range n {
		at := int64(i+1) * 1000
		p.event(at, 7, 1, &clr.MethodJittingStartedV1{MethodID: uint64(i + 1), MethodNamespace: etw.MakeUTF16("Shape"), MethodName: etw.MakeUTF16("M" + strconv.Itoa(i))})
		p.event(at+500, 7, 1, &clr.MethodLoadVerboseV1{MethodID: uint64(i + 1), MethodStartAddress: uint64(i+1) << 8, MethodSize: 256, MethodFlags: clr.MethodFlagsJitted, MethodNamespace: etw.MakeUTF16("Shape"), MethodName: etw.MakeUTF16("M" + strconv.Itoa(i))})
		p.at(uint64(i+1)<<8|16, 256|16)
		tick(p, i, 1, "T")
	}
}

// namesWithin has one method, of a lambda within a lambda, and so on.
func namesWithin(p *pen, n int) {
	name := strings.Repeat("<", n) + "Main" + strings.Repeat(">b__0", n)
	p.event(1000, 7, 1, &clr.MethodLoadVerboseV1{MethodID: 1, MethodStartAddress: 256, MethodSize: 256, MethodFlags: clr.MethodFlagsJitted, MethodNamespace: etw.MakeUTF16("Shape"), MethodName: etw.MakeUTF16(name[:min(len(name), 30000)])})
	p.at(256 | 16)
	for i := range n {
		tick(p, i+1, 1, "T")
	}
}

func collections(p *pen, n int) {
	for i := range n {
		at, count := int64(i+1)*100000, uint32(i+1)
		p.event(at, 7, 1, &clr.GCSuspendEEBeginV1{Count: count, Reason: 1})
		p.event(at+100, 7, 1, &clr.GCSuspendEEEndV1{})
		p.event(at+200, 7, 1, &clr.GCStartV2{Count: count, Depth: uint32(i % 3), ClientSequenceNumber: uint64(i)})
		p.event(at+1200, 7, 1, &clr.GCEndV1{Count: count, Depth: uint32(i % 3)})
		p.event(at+1300, 7, 1, &clr.GCHeapStatsV2{GenerationSize0: uint64(i)})
		p.event(at+1400, 7, 1, &clr.GCRestartEEEndV1{})
	}
}

func withoutEnd(p *pen, n int) {
	for i := range n {
		at, count := int64(i+1)*100000, uint32(i+1)
		p.event(at, 7, int64(i), &clr.GCSuspendEEBeginV1{Count: count, Reason: 1})
		p.event(at+200, 7, int64(i), &clr.GCStartV2{Count: count, Type: clr.GCType(i % 3), Depth: 2})
	}
}

func exceptions(p *pen, n int) {
	for i := range n {
		p.at(uint64(i+1)<<4, 16)
		p.event(int64(i+1)*1000, 7, int64(i%100), &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("Shape.E" + strconv.Itoa(i)), ExceptionMessage: etw.MakeUTF16("message " + strconv.Itoa(i))})
	}
}

// An object is one of a snapshot of a heap, with the addresses of those that it refers to.
type object struct {
	address uint64
	refers  []uint64
}

// snapshot writes objects, of which the first has a root.
func snapshot(p *pen, objects []object) {
	must := func(err error) { p.err = errors.Join(p.err, err) }
	types, err := clr.MakeBulkTypeValues(etw.Ptr64, clr.BulkTypeValue{TypeID: 5, Name: etw.MakeUTF16("Shape.T")})
	must(err)
	p.event(1000, 7, 1, &clr.BulkType{Count: 1, Values: types})
	p.event(1100, 7, 1, &clr.GCStartV2{Count: 1, Depth: 2, Reason: clr.GCReason(1)})
	const most = 1000 // of an event
	var edges []clr.GCBulkEdgeValue
	for i := 0; i < len(objects); i += most {
		var nodes []clr.GCBulkNodeValue
		for _, o := range objects[i:min(i+most, len(objects))] {
			nodes = append(nodes, clr.GCBulkNodeValue{Address: etw.Pointer(o.address), Size: 24, TypeID: 5, EdgeCount: uint64(len(o.refers))})
			for _, a := range o.refers {
				edges = append(edges, clr.GCBulkEdgeValue{Value: etw.Pointer(a)})
			}
		}
		values, err := clr.MakeGCBulkNodeValues(etw.Ptr64, nodes...)
		must(err)
		p.event(1200, 7, 1, &clr.GCBulkNode{Index: uint32(i / most), Count: uint32(len(nodes)), Values: values})
	}
	for i := 0; i < len(edges); i += most {
		part := edges[i:min(i+most, len(edges))]
		values, err := clr.MakeGCBulkEdgeValues(etw.Ptr64, part...)
		must(err)
		p.event(1300, 7, 1, &clr.GCBulkEdge{Index: uint32(i / most), Count: uint32(len(part)), Values: values})
	}
	roots, err := clr.MakeGCBulkRootEdgeValues(etw.Ptr64, clr.GCBulkRootEdgeValue{RootedNodeAddress: etw.Pointer(objects[0].address), GCRootKind: clr.GCBulkRootKindStack})
	must(err)
	p.event(1400, 7, 1, &clr.GCBulkRootEdge{Count: 1, Values: roots})
	p.event(1500, 7, 1, &clr.GCEndV1{Count: 1, Depth: 2})
}

// listOfObjects is a linked list, whose items an array holds too.
func listOfObjects(p *pen, n int) {
	item := func(i int) uint64 { return uint64(n+2+i) * 32 }
	node := func(i int) uint64 { return uint64(2+i) * 32 }
	objects := []object{{32, []uint64{node(0), item(n)}}}
	array := object{address: item(n)}
	for i := range n {
		refers := []uint64{item(i)}
		if i+1 < n {
			refers = append(refers, node(i+1))
		}
		objects, array.refers = append(objects, object{node(i), refers}), append(array.refers, item(i))
	}
	for i := range n {
		objects = append(objects, object{address: item(i)})
	}
	snapshot(p, append(objects, array))
}

// tableFlooded has addresses that a table with the usual multiplier puts into one place.
func tableFlooded(p *pen, n int) {
	const inverse = 0xf1de83e19937733d // of 0x9e3779b97f4a7c15, modulo 2^64
	objects := make([]object, n)
	for i := range objects {
		objects[i].address = uint64(i+1) * inverse
	}
	snapshot(p, objects)
}

func ringOfObjects(p *pen, n int) {
	objects := make([]object, n)
	for i := range objects {
		objects[i] = object{uint64(i+1) * 32, []uint64{uint64((i+1)%n+1) * 32, uint64((i+n-1)%n+1) * 32}}
	}
	snapshot(p, objects)
}

func processes(p *pen, n int) {
	for i := range n {
		p.event(int64(i+1)*1000, int64(i), 1, &kernel.ProcessStartV4{UniqueProcessKey: etw.Pointer(i + 1), ProcessID: uint32(4 * (i + 1)), ParentID: uint32(4 * i), ImageFileName: etw.ANSI(fmt.Sprintf("p%d.exe", i)), CommandLine: etw.MakeUTF16("p " + strconv.Itoa(i))})
	}
}

func images(p *pen, n int) {
	p.event(500, 8, 1, &kernel.ProcessStartV4{UniqueProcessKey: 1, ProcessID: 8, ImageFileName: etw.ANSI("p.exe")})
	for i := range n {
		at := int64(i+1) * 1000
		p.event(at, 8, 1, &kernel.ImageLoadV3{ImageBase: etw.Pointer(i+1) << 16, ImageSize: 1 << 16, ProcessID: 8, FileName: etw.MakeUTF16(`\Device\HarddiskVolume1\shape\` + strconv.Itoa(i) + ".dll")})
		p.event(at+1, 8, 4, &kernel.PerfInfoSampleV2{InstructionPointer: etw.Pointer(i+1)<<16 | 16, ThreadID: 4, Count: 1})
	}
}

func files(p *pen, n int) {
	for i := range n {
		at := int64(i+1) * 1000
		p.event(at, 8, 4, &kernel.FileIoNameV2{FileObject: etw.Pointer(i+1) << 4, FileName: etw.MakeUTF16(`\Device\HarddiskVolume1\shape\` + strconv.Itoa(i))})
		p.event(at+1, 8, 4, &kernel.DiskIoReadV3{TransferSize: 4096, FileObject: etw.Pointer(i+1) << 4, ByteOffset: uint64(i) << 12, HighResResponseTime: 100, IssuingThreadID: 4})
	}
}

func switches(p *pen, n int) {
	for i := range n {
		at := int64(i+1) * 1000
		p.event(at, 8, int64(4*(i+1)), &kernel.ThreadStartV4{ProcessID: 8, TThreadID: uint32(4 * (i + 1))})
		p.event(at+1, 8, int64(4*i), &kernel.ThreadCSwitchV4{NewThreadID: uint32(4 * (i + 1)), OldThreadID: uint32(4 * i), OldThreadState: kernel.ThreadState(5)})
	}
}

func samples(p *pen, n int) {
	p.event(500, 8, 1, &kernel.ProcessStartV4{UniqueProcessKey: 1, ProcessID: 8, ImageFileName: etw.ANSI("p.exe")})
	for i := range n {
		at := int64(i+1) * 1000
		p.event(at, 8, 4, &kernel.PerfInfoSampleV2{InstructionPointer: etw.Pointer(i+1) << 8, ThreadID: 4, Count: 1})
		walk := binary.LittleEndian.AppendUint64(nil, uint64(at))
		walk = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(walk, 8), 4)
		for j := range 32 {
			walk = binary.LittleEndian.AppendUint64(walk, uint64(i+1)<<8|uint64(j)<<40)
		}
		p.described(at+1, 8, 4, (&kernel.StackWalkStackV2{}).EventDesc(), walk)
	}
}
