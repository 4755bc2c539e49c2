package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// The code of the program in bakeryTrace.
const (
	codeMain = 0x10000 + 0x100*iota
	codeWork
	codeBake
	codeSell // an async method
	codeTaste
	codeDynamic // of two dynamic methods, the one after the other
	codeSleep
	codeNowhere // of which nothing is known
)

// bakeryTrace has samples of two threads, a collection, exceptions, contention and
// the methods of a program that is small enough to be checked by hand.
func bakeryTrace(tb testing.TB) []byte { return bake(tb, new(bakery)) }

// ovenTrace is bakeryTrace with the events that tell the lines that are in ovenPDB.
func ovenTrace(tb testing.TB) []byte { return bake(tb, &bakery{lines: true}) }

func bake(tb testing.TB, b *bakery) []byte {
	tb.Helper()
	data, err := b.write()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// ovenSource is the source code of some of the program.
const ovenSource = `// What the bakery does.
static void Main() {
    Work(1);
    Sleep(10);
}
void Work(int n) {
    Bake(n);
}
void Bake(int n) {
    Heat(n);
}
`

// ovenPDB has the lines of Main, Work and Bake, and their text, unless links say where that is.
func ovenPDB(links string) []byte {
	const to = 13 // the column behind the statements
	p := ecma335test.PDB{ID: [20]byte(bytes.Repeat([]byte{7}, 20)), Folder: "srv", Name: "Oven.cs", Text: ovenSource, Methods: [][]byte{
		{0, 0, 0, to - 5, 3, 5, 6, 0, to - 5, 2, 0}, {0, 0, 0, to - 5, 7, 5}, {0, 0, 0, to - 5, 10, 5},
	}}
	if links != "" {
		sum := sha256.Sum256([]byte(ovenSource))
		p.Text, p.Links, p.Hash = "", links, sum[:]
	}
	return p.Bytes()
}

// lineMaps says which code is of which IL.
func (b *bakery) lineMaps() {
	for i, natives := range [][]uint32{{0, 6}, {0}, {0}} {
		il := []uint32{0, 6}[:len(natives)]
		b.event(40.5, 401, 0, &rundown.MethodDCEndILToNativeMapV1{MethodID: uint64(i + 1), CountOfMapEntries: uint16(len(il)),
			ILOffsets: etw.MakeInts(il...), NativeOffsets: etw.MakeInts(natives...)})
	}
}

func (b *bakery) write() ([]byte, error) {
	*b = bakery{lines: b.lines, w: nettracetest.NewWriter(4, netHeader), rows: make(map[etw.Key]uint32)}
	b.stack(codeMain+5, codeWork+9, codeBake+3)             // 1
	b.stack(codeMain+5, codeWork+9)                         // 2
	b.stack(codeMain+5, codeSell+1, codeTaste+7)            // 3
	b.stack(codeMain+5, codeDynamic+2)                      // 4
	b.stack(codeMain+8, codeSleep+1)                        // 5
	b.stack(codeMain+5, codeWork+9, codeWork+9, codeBake+3) // 6: Work calls itself
	b.stack(codeMain+5, codeNowhere)                        // 7
	b.w.Stacks(1, b.stacks...)
	b.event(0, 401, 0, &clr.MethodLoadVerboseV2{MethodID: 60, ModuleID: 9, MethodStartAddress: codeDynamic, MethodSize: 0x40, MethodFlags: clr.MethodFlagsDynamic,
		MethodNamespace: etw.MakeUTF16("dynamicClass"), MethodName: etw.MakeUTF16("First"), MethodSignature: etw.MakeUTF16("void  ()")})
	for i, stack := range []uint32{1, 1, 2, 6, 4, 1, 3, 3} {
		b.sample(i+1, 401, stack, 2)
	}
	b.event(5.5, 401, 0, &clr.MethodUnloadVerboseV2{MethodID: 60, ModuleID: 9, MethodStartAddress: codeDynamic, MethodSize: 0x40,
		MethodNamespace: etw.MakeUTF16("dynamicClass"), MethodName: etw.MakeUTF16("First"), MethodSignature: etw.MakeUTF16("void  ()")})
	b.event(8.2, 403, 0, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC, Count: 1})
	b.event(8.7, 403, 0, &clr.GCRestartEEEndV1{})
	b.event(8.8, 401, 0, &clr.MethodLoadVerboseV2{MethodID: 61, ModuleID: 9, MethodStartAddress: codeDynamic, MethodSize: 0x40, MethodFlags: clr.MethodFlagsDynamic,
		MethodNamespace: etw.MakeUTF16("dynamicClass"), MethodName: etw.MakeUTF16("Second"), MethodSignature: etw.MakeUTF16("void  ()")})
	b.sample(9, 401, 4, 2)
	b.sample(10, 401, 7, 2)
	b.sample(30, 401, 1, 2) // after a gap
	b.sample(31, 401, 1, 2)
	for i := range 4 {
		b.sample(i+1, 402, 5, 1)
	}
	for i, t := range []string{"Burnt", "Burnt", "SoldOut"} {
		b.event(12+float64(i), 401, uint32(i+1), &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("Bakery." + t), ExceptionMessage: etw.MakeUTF16(t)})
	}
	b.event(20, 402, 5, &clr.ContentionStartV1{})
	b.event(22.5, 402, 5, &clr.ContentionStopV1{DurationNs: 2.5e6})
	b.event(23, 401, 1, &clr.GCAllocationTickV4{AllocationAmount64: 200_000, TypeName: etw.MakeUTF16("Bakery.Bread"), ObjectSize: 100})
	b.event(24, 401, 3, &clr.GCAllocationTickV4{AllocationAmount64: 100_000, TypeName: etw.MakeUTF16("Bakery.Cake"), ObjectSize: 100})
	b.rundown()
	b.w.Metadata(b.metadata...)
	b.w.Events(b.events...)
	b.w.End()
	return b.w.Bytes(), b.err
}

// A bakery collects the writes.
type bakery struct {
	lines    bool // of source code are told
	w        *nettracetest.Writer
	rows     map[etw.Key]uint32
	metadata []nettracetest.Row
	stacks   [][]uint64
	events   []nettracetest.Event
	err      error
}

// stack adds a stack, which is given from the outermost frame on.
func (b *bakery) stack(addresses ...uint64) {
	var s []uint64
	for i := len(addresses) - 1; i >= 0; i-- {
		s = append(s, addresses[i])
	}
	b.stacks = append(b.stacks, s)
}

// row returns the number of the description of an event.
func (b *bakery) row(provider string, id uint16, version uint8, name string) uint32 {
	key := etw.Key{Provider: etw.GUID{byte(len(provider))}, ID: id, Version: version}
	if n, ok := b.rows[key]; ok {
		return n
	}
	n := uint32(len(b.rows) + 1)
	b.rows[key] = n
	b.metadata = append(b.metadata, nettracetest.Row{ID: n, Provider: provider, EventID: uint32(id), Version: uint32(version), Name: name})
	return n
}

func (b *bakery) add(ms float64, thread uint64, stack, row uint32, payload []byte) {
	b.events = append(b.events, nettracetest.Event{Metadata: row, Time: int64(math.Round(ms*1e6)) + 77, Thread: thread, Capture: thread, Stack: stack, Payload: payload})
}

func (b *bakery) event(ms float64, thread uint64, stack uint32, e etw.Event) {
	p, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		b.err = err
	}
	d := e.EventDesc()
	b.add(ms, thread, stack, b.row(d.Provider.Name, d.ID, d.Version, ""), p)
}

func (b *bakery) sample(ms int, thread uint64, stack, state uint32) {
	b.add(float64(ms), thread, stack, b.row("Microsoft-DotNETCore-SampleProfiler", 0, 0, "ThreadSample"), binary.LittleEndian.AppendUint32(nil, state))
}

// rundown lists the code at the end.
func (b *bakery) rundown() {
	for i, m := range []struct {
		start       uint64
		space, name string
	}{
		{codeMain, "Bakery.Program", "Main"}, {codeWork, "Bakery.Oven", "Work"}, {codeBake, "Bakery.Oven", "Bake"},
		{codeSell, "Bakery.Shop+<SellAsync>d__3", "MoveNext"}, {codeTaste, "Bakery.Shop+<>c", "<SellAsync>b__3_0"}, {codeSleep, "System.Threading.Thread", "Sleep"},
	} {
		module := uint64(9)
		if m.start == codeSleep {
			module = 10
		}
		token := uint32(0)
		if b.lines {
			token = 0x06000001 + uint32(i)
		}
		b.event(40, 401, 0, &rundown.MethodDCEndVerboseV2{MethodID: uint64(i + 1), MethodToken: token, ModuleID: module, MethodStartAddress: m.start, MethodSize: 0x40,
			MethodNamespace: etw.MakeUTF16(m.space), MethodName: etw.MakeUTF16(m.name), MethodSignature: etw.MakeUTF16("void  (int32)")})
	}
	shop := rundown.ModuleDCEndV2{ModuleID: 9, ModuleILPath: etw.MakeUTF16("/srv/Shop.dll")}
	if b.lines {
		b.lineMaps()
		shop.ManagedPdbSignature, shop.ManagedPdbAge, shop.ManagedPdbBuildPath = etw.GUID(bytes.Repeat([]byte{7}, 16)), 1, etw.MakeUTF16("/build/Shop.pdb")
	}
	b.event(41, 401, 0, &shop)
	b.event(41, 401, 0, &rundown.ModuleDCEndV2{ModuleID: 10, ModuleILPath: etw.MakeUTF16("/net/System.Private.CoreLib.dll")})
}
