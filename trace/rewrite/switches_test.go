package rewrite

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestKeeperSwitches: of a chosen thread stays also when it stopped and when it could run again,
// but nothing of a thread that has its number later.
func TestKeeperSwitches(t *testing.T) {
	about := func(e etw.AnyVersion, numbers ...uint32) *etw.Record {
		r := recordOf(e)
		for _, n := range numbers {
			r.Payload = binary.LittleEndian.AppendUint32(r.Payload, n)
		}
		return r
	}
	to := func(thread, from uint32) *etw.Record { return about(new(kernel.AnyThreadCSwitch), thread, from) }
	ready := func(thread uint32) *etw.Record { return about(new(kernel.AnyThreadReadyThread), thread, 0) }
	k, answer := new(Keeper), &Keeper{Answer: true}
	for i, step := range []struct {
		r             *etw.Record
		chosen, needs bool
	}{
		{r: ready(8)}, // nothing is known of it
		{r: about(new(kernel.AnyThreadDCStart), 7, 8), chosen: true},
		{r: ready(8), needs: true},
		{r: to(8, 1), chosen: true},
		{r: to(1, 8), needs: true},
		{r: to(2, 1)},
		{r: to(9, 2), chosen: true},
		{r: ready(9), needs: true},
		{r: to(8, 9), needs: true}, // 8 is another process's now
		{r: to(1, 8)},
		{r: ready(8)},
		{r: about(new(kernel.AnyThreadCSwitch))}, // damaged
	} {
		if step.chosen {
			k.Chose(step.r)
			answer.Chose(step.r)
			continue
		}
		if got := k.Needs(step.r); got != step.needs || answer.Needs(step.r) {
			t.Errorf("step %d: needed is %v", i, got)
		}
	}
}

// TestKeeperWakers: of all threads stays when they ran and who woke them, where the trace tells both.
func TestKeeperWakers(t *testing.T) {
	for _, told := range []bool{false, true} {
		k, kept, others := &Keeper{Others: true}, 0, 0
		ready, to := recordOf(new(kernel.AnyThreadReadyThread)), recordOf(new(kernel.AnyThreadCSwitch))
		ready.Payload, to.Payload = make([]byte, 8), make([]byte, 8)
		opens, end := recordOf(new(kernel.AnyFileIoCreate)), recordOf(new(kernel.AnyFileIoOperationEnd))
		opens.Payload, end.Payload = make([]byte, 16), make([]byte, 16)
		if k.Needs(end) || !k.Needs(opens) || !k.Needs(end) {
			t.Error("the open of a file, or its end, does not stay")
		}
		if told && !k.Needs(ready) {
			t.Error("who wakes a thread does not stay")
		}
		for range 2 * maxUnwoken {
			if others++; k.Needs(to) {
				kept++
			}
		}
		if kept == others != told || (&Keeper{}).Needs(to) {
			t.Errorf("%v: %d of %d switches stay", told, kept, others)
		}
	}
}

// TestKeeperRequests: the ends of the requests of chosen records stay, and no others.
func TestKeeperRequests(t *testing.T) {
	about := func(e etw.AnyVersion, irp uint64) *etw.Record {
		r := recordOf(e)
		r.PointerSize = etw.Ptr64
		r.Payload = binary.LittleEndian.AppendUint64(r.Payload, irp)
		return r
	}
	pool := func(opcode etw.Opcode, address uint64) *etw.Record {
		r := &etw.Record{Kind: etw.KindClassic, Provider: poolClass, Opcode: opcode, PointerSize: etw.Ptr64, Payload: make([]byte, 16)}
		r.Payload = binary.LittleEndian.AppendUint64(r.Payload, address)
		return r
	}
	k := new(Keeper)
	k.Chose(pool(32, 1))
	k.Chose(about(new(kernel.AnyFileIoCleanup), 1))
	k.Chose(about(new(kernel.AnyFileIoFlush), 2))
	for i, step := range []struct {
		r    *etw.Record
		want bool
	}{
		{pool(34, 3), false},
		{pool(34, 1), true},
		{pool(34, 1), false},
		{about(new(kernel.AnyFileIoOperationEnd), 3), false},
		{about(new(kernel.AnyFileIoOperationEnd), 1), true},
		{about(new(kernel.AnyFileIoOperationEnd), 1), false},
		{about(new(kernel.AnyFileIoFlush), 2), false}, // of another one
		{about(new(kernel.AnyFileIoOperationEnd), 2), false},
	} {
		if got := k.Needs(step.r); got != step.want {
			t.Errorf("step %d: needed is %v", i, got)
		}
	}
}

// TestEdges: records stay that tell the state at the ends of a part of the time.
func TestEdges(t *testing.T) {
	at := func(time int64, e etw.AnyVersion, words ...any) *etw.Record {
		r := recordOf(e)
		r.Timestamp = time
		for _, w := range words {
			r.Payload, _ = binary.Append(r.Payload, binary.LittleEndian, w)
		}
		return r
	}
	to := func(time int64, thread, from uint32, processor int32) *etw.Record {
		r := at(time, new(kernel.AnyThreadCSwitch), thread, from)
		r.Processor = processor
		return r
	}
	ready := func(time int64, thread uint32) *etw.Record {
		return at(time, new(kernel.AnyThreadReadyThread), thread, uint32(0))
	}
	asks := func(time int64, irp uint64) *etw.Record { return at(time, new(kernel.AnyDiskIoReadInit), irp) }
	answers := func(time int64, irp, took uint64) *etw.Record {
		return at(time, new(kernel.AnyDiskIoRead), uint32(0), uint32(0), uint32(512), uint32(0), uint64(0), uint64(0xa), irp, took)
	}
	fault := func(time, began int64) *etw.Record {
		return at(time, new(kernel.AnyPageFaultHardFault), began, uint64(0))
	}
	steps := []struct {
		r     *etw.Record
		stays bool // of those from 100 on, up to 200, all do
	}{
		{to(10, 1, 0, 0), false},
		{to(20, 2, 1, 0), true}, // the last that 2 came by
		{to(30, 1, 2, 0), true}, // the last that 1 came by, and 2 went
		{ready(31, 1), false},   // it runs
		{to(40, 3, 1, 0), true}, // the last that 1 went by, and that 3 came by
		{ready(41, 1), true},
		{ready(42, 1), false}, // it was ready before
		{to(43, 5, 0, 1), true},
		{at(44, new(kernel.AnyFileIoCreate), uint64(0x21), uint64(0xfa)), false}, // is closed
		{at(45, new(kernel.AnyFileIoOperationEnd), uint64(0x21)), false},
		{at(46, new(kernel.AnyFileIoClose), uint64(0x22), uint64(0xfa)), false},
		{at(47, new(kernel.AnyFileIoOperationEnd), uint64(0x22)), false},
		{at(48, new(kernel.AnyFileIoCreate), uint64(0x23), uint64(0xfb)), true},
		{at(49, new(kernel.AnyFileIoOperationEnd), uint64(0x23)), true},
		{asks(50, 0x10), false},
		{answers(60, 0x10, 10), false},
		{asks(70, 0x11), true},
		{at(71, new(kernel.AnyFileIoRead), uint64(0), uint64(0x11)), true},
		{fault(80, 75), false},
		{to(110, 1, 3, 0), true},
		{asks(120, 0x12), true},
		{answers(130, 0x11, 60), true},
		{fault(210, 190), true},
		{fault(211, 205), false},
		{ready(212, 2), true},
		{ready(213, 2), false},
		{to(220, 2, 1, 0), true},  // the first that 2 comes by, and 1 goes
		{to(230, 1, 2, 0), false}, // both are known
		{to(240, 6, 5, 1), true},
		{ready(241, 6), false},
		{answers(250, 0x12, 130), true},
		{answers(260, 0x13, 20), false},
		{answers(270, 0x14, 80), true}, // nothing told that it was asked, before the end
		{at(280, new(kernel.AnyFileIoOperationEnd), uint64(0x11)), true},
		{at(281, new(kernel.AnyFileIoOperationEnd), uint64(0x11)), false},
		{at(282, new(kernel.AnyPageFaultVirtualAlloc), uint64(0x10000)), true}, // may take the place of one within
		{at(283, new(kernel.AnyHeapReAlloc), uint64(0xa), uint64(0x20), uint64(0x30)), true},
		{at(284, new(kernel.AnyHeapAlloc), uint64(0xa), uint64(8), uint64(0x30)), false},
		{at(285, new(kernel.AnyHeapFree), uint64(0xa), uint64(0x30)), false},
		{at(286, new(kernel.AnyObjectCloseHandle), uint64(1), uint64(2)), true},
		{at(290, new(kernel.AnyThreadCSwitch)), false}, // damaged
	}
	edges := &Edges{Place: func(r *etw.Record) int {
		switch {
		case r.Timestamp < 100:
			return -1
		case r.Timestamp >= 200:
			return 1
		}
		return 0
	}}
	for _, s := range steps {
		if edges.Look(s.r, true) != (s.r.Timestamp < 100) {
			t.Fatalf("at %d: there is more to look at, or no more", s.r.Timestamp)
		}
	}
	k := &Keeper{Edges: edges}
	for _, s := range steps {
		if edges.Place(s.r) == 0 {
			k.Chose(s.r)
		} else if got := k.NeedsBeyond(s.r); got != s.stays {
			t.Errorf("at %d: stays is %v", s.r.Timestamp, got)
		}
	}
}
