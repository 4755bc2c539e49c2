package etl_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Classes of kernel events.
var (
	threadClass   = etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	perfInfoClass = etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")
	stackClass    = etw.MustParseGUID("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3")
)

// TestThreadReuse: a thread id belongs to one process after the other.
func TestThreadReuse(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	write := func(processor int32, after int64, form etltest.Form, class etw.GUID, opcode etw.Opcode, p []byte) {
		err := w.WriteAs(form, &etw.Record{
			Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: 3, PointerSize: etw.Ptr64,
			Processor: processor, ProcessID: -1, ThreadID: -1, Timestamp: h.Clock.Origin + after, Payload: p,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	thread := func(after int64, opcode etw.Opcode, process uint32) {
		write(0, after, etltest.FormSystem, threadClass, opcode, testio.Numbers(etw.Ptr64, process, uint32(10)))
	}
	thread(500, 2, 100) // it ran since before the trace
	thread(1000, 1, 200)
	thread(1500, 2, 200)
	thread(2000, 1, 300)
	for after := int64(250); after < 3000; after += 500 {
		write(1, after, etltest.FormPerfInfo, perfInfoClass, 46, testio.Numbers(etw.Ptr64, 99, uint32(10), uint32(1)))
	}
	testio.Close(t, w)
	want := map[int64]int64{250: 100, 750: 100, 1250: 200, 1750: 200, 2250: 300, 2750: 300}
	for _, r := range mustReadAll(t, newReader(t, out.Bytes())) {
		if after := r.Timestamp - h.Clock.Origin; r.Provider == perfInfoClass && r.ProcessID != want[after] {
			t.Errorf("at %d: process %d, want %d", after, r.ProcessID, want[after])
		}
	}
}

// TestLateStacks: of stacks in later buffers than their events so many are looked at, and of more it is said.
func TestLateStacks(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	const n = 100 // in many buffers
	for i := range int64(2 * n) {
		r := etw.Record{Kind: etw.KindClassic, Provider: threadClass, Opcode: 50, Version: 2, PointerSize: etw.Ptr64, Timestamp: h.Clock.Origin + i}
		if i >= n {
			r.Provider, r.Opcode, r.Payload = stackClass, 32, testio.Numbers(etw.Ptr64, r.Timestamp-n, uint32(5), uint32(6), 99)
		}
		if err := w.WriteAs(etltest.FormPerfInfo, &r); err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	for _, most := range []int64{40, n} {
		r := newReader(t, out.Bytes(), etl.WithLate(most))
		owned, said, rec := int64(0), error(nil), etw.Record{}
		for said == nil {
			if said = r.Next(&rec); said == nil && rec.Provider == threadClass && rec.ProcessID == 5 {
				owned++
			}
		}
		if owned < most || most < n && owned > n-20 || errors.Is(said, etl.ErrLimit) != (most < n) {
			t.Errorf("of %d stacks with room for %d, %d are owners: %v", n, most, owned, said)
		}
	}
}

// TestStackOwner: the stack of an event comes after it and says whose it is.
func TestStackOwner(t *testing.T) {
	h := etltest.DefaultHeader()
	for _, opcode := range []etw.Opcode{32, 37, 38} {
		var out bytes.Buffer
		w := testio.Writer(t, etltest.NewWriter, &out, h)
		write := func(processor int32, after int64, class etw.GUID, opcode etw.Opcode, p []byte) {
			err := w.WriteAs(etltest.FormPerfInfo, &etw.Record{
				Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: 2, PointerSize: etw.Ptr64,
				Processor: processor, Timestamp: h.Clock.Origin + after, Payload: p,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		write(1, 100, threadClass, 50, nil) // this one
		write(2, 100, threadClass, 50, nil) // at the same time, on another processor
		write(1, 200, stackClass, opcode, testio.Numbers(etw.Ptr64, h.Clock.Origin+100, uint32(5), uint32(6), 99))
		testio.Close(t, w)
		all := mustReadAll(t, newReader(t, out.Bytes()))
		if a, b := all[0], all[1]; a.ProcessID != 5 || a.ThreadID != 6 || b.ProcessID != -1 || b.ThreadID != -1 {
			t.Errorf("opcode %d: %d/%d and %d/%d, want 5/6 and -1/-1", opcode, a.ProcessID, a.ThreadID, b.ProcessID, b.ThreadID)
		}
	}
}

// TestManyStacks: the owners of call stacks take no memory in proportion to the file, also where
// stacks are in a later buffer than their event.
func TestManyStacks(t *testing.T) {
	const events, cpus, buffer = 60_000, 3, 16 << 10
	h := etltest.DefaultHeader()
	h.BufferSize, h.Processors = buffer, cpus
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	write := func(at int, class etw.GUID, opcode etw.Opcode, p []byte) {
		err := w.WriteAs(etltest.FormPerfInfo, &etw.Record{
			Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: 2, PointerSize: etw.Ptr64,
			Processor: int32(at % cpus), Timestamp: h.Clock.Origin + 100*int64(1+at), Payload: p,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const behind = 5 * cpus
	for at := range events + behind {
		write(at, threadClass, 50, nil)
		if of := at - behind; of >= 0 {
			write(at, stackClass, 32, testio.Numbers(etw.Ptr64, h.Clock.Origin+100*int64(1+of), uint32(of%100), uint32(of%1000), 99))
		}
	}
	testio.Close(t, w)
	read := func(options ...etl.Option) (allocated uint64, owned int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := etl.NewReader(struct{ io.ReaderAt }{bytes.NewReader(out.Bytes())}, int64(out.Len()), options...)
		if err != nil {
			t.Fatal(err)
		}
		for rec := range testio.Records(t, r.Records()) {
			if at := int(rec.Timestamp-h.Clock.Origin)/100 - 1; rec.Provider == threadClass && rec.ProcessID == int64(at%100) && rec.ThreadID == int64(at%1000) {
				owned++
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, owned
	}
	without, _ := read(etl.WithoutAttribution())
	with, owned := read()
	if owned != events {
		t.Errorf("%d of %d events belong to the thread of their stack", owned, events)
	}
	if more := int64(with) - int64(without); more > events*8 {
		t.Errorf("the owners of %d stacks take %d bytes", events, more)
	}
}
