package etl_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Classes of kernel events.
var (
	diskClass     = etw.MustParseGUID("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c")
	faultClass    = etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c")
	processClass  = etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	threadClass   = etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	tcpClass      = etw.MustParseGUID("9a280ac0-c8e0-11d1-84e2-00c04fb998a2")
	perfInfoClass = etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")
	imageClass    = etw.MustParseGUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518")
	configClass   = etw.MustParseGUID("01853a65-418f-4f36-aefc-dc0f1d2fd235")
	stackClass    = etw.MustParseGUID("def2fe46-7bd6-4b80-bd94-f57fe20d0ce3")
)

// payload lays out numbers: those of int are pointers.
func payload(ptr etw.PtrSize, values ...any) (p []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case uint32:
			p = binary.LittleEndian.AppendUint32(p, v)
		case uint64:
			p = binary.LittleEndian.AppendUint64(p, v)
		case int64:
			p = binary.LittleEndian.AppendUint64(p, uint64(v))
		case int:
			if ptr == etw.Ptr32 {
				p = binary.LittleEndian.AppendUint32(p, uint32(v))
			} else {
				p = binary.LittleEndian.AppendUint64(p, uint64(v))
			}
		}
	}
	return p
}

func TestAttribution(t *testing.T) {
	h := etltest.DefaultHeader()
	type who struct{ process, thread int64 }
	const at = 1000 // when the events happen, after the session's start
	u32 := func(v uint32) uint32 { return v }
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		tests := []struct {
			name            string
			class           etw.GUID
			opcode, version uint8
			form            etltest.Form
			header          who
			payload         []byte
			want            who
		}{
			{"process start", processClass, 1, 4, etltest.FormSystem, who{1, 2}, payload(ptr, 99, u32(300), u32(1)), who{300, -1}},
			{"process without a version", processClass, 1, 0, etltest.FormSystem, who{1, 2}, payload(ptr, u32(301), 99), who{301, -1}},
			{"process cut off", processClass, 1, 4, etltest.FormSystem, who{1, 2}, []byte{1}, who{1, 2}},
			{"counters", processClass, 32, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, u32(302)), who{302, -1}},
			{"defunct", processClass, 39, 3, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(303)), who{303, -1}},
			{"thread start", threadClass, 1, 3, etltest.FormSystem, who{1, 2}, payload(ptr, u32(304), u32(305)), who{304, 305}},
			{"thread stop", threadClass, 2, 3, etltest.FormSystem, who{304, 305}, payload(ptr, u32(7), u32(8)), who{304, 305}},
			{"context switch", threadClass, 36, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, u32(10), u32(20)), who{100, 10}},
			{"image start", imageClass, 3, 3, etltest.FormSystem, who{1, 2}, payload(ptr, 99, 99, u32(306)), who{306, -1}},
			{"image load", imageClass, 10, 3, etltest.FormSystem, who{1, 2}, payload(ptr, 99, 99, u32(306)), who{1, 2}},
			{"image load without a header", imageClass, 10, 3, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, 99, u32(306)), who{306, -1}},
			{"packet", tcpClass, 26, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, u32(307), u32(0)), who{307, -1}},
			{"service", configClass, 15, 2, etltest.FormSystem, who{1, 2}, payload(ptr, u32(308)), who{308, 2}},
			{"service of old", configClass, 15, 1, etltest.FormSystem, who{1, 2}, payload(ptr, u32(308)), who{1, 2}},
			{"sample", perfInfoClass, 46, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(10), u32(1)), who{100, 10}},
			{"sample of the idle thread", perfInfoClass, 46, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(0), u32(1)), who{0, 0}},
			{"sample of an unknown thread", perfInfoClass, 46, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(77), u32(1)), who{-1, 77}},
			{"read", diskClass, 10, 3, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, u32(1), u32(2), u32(3), u32(4), int64(5), 6, 7, int64(8), u32(10)), who{100, 10}},
			{"read of old", diskClass, 10, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, u32(1), u32(2), u32(3), u32(4), int64(5), 6, 7, int64(8)), who{-1, -1}},
			{"read begins", diskClass, 12, 3, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(10)), who{100, 10}},
			{"read begins, of old", diskClass, 12, 2, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, 99, u32(10)), who{-1, -1}},
			{"hard fault", faultClass, 32, 0, etltest.FormPerfInfo, who{-1, -1}, payload(ptr, int64(1), int64(2), 3, 4, u32(10)), who{100, 10}},
			{"allocation", faultClass, 98, 3, etltest.FormSystem, who{1, 2}, payload(ptr, 99, 99, u32(309)), who{309, 2}},
			{"nothing is known", tcpClass, 26, 2, etltest.FormPerfInfo, who{-1, -1}, nil, who{-1, -1}},
		}
		for _, test := range tests {
			var out bytes.Buffer
			w, err := etltest.NewWriter(&out, h)
			if err != nil {
				t.Fatal(err)
			}
			write := func(form etltest.Form, r etw.Record) {
				r.Kind, r.PointerSize, r.Timestamp = etw.Classic, ptr, r.Timestamp+h.Origin
				if err := w.WriteAs(form, &r); err != nil {
					t.Fatal(err)
				}
			}
			// Thread 10 belongs to process 100, which is known from its end only.
			write(test.form, etw.Record{
				Provider: test.class, Opcode: test.opcode, Version: test.version, Timestamp: at,
				ProcessID: test.header.process, ThreadID: test.header.thread, Payload: test.payload,
			})
			write(etltest.FormSystem, etw.Record{
				Provider: threadClass, Opcode: 4, Version: 3, Timestamp: 2 * at, Payload: payload(ptr, u32(100), u32(10)),
			})
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			plain := mustReadAll(t, newReader(t, out.Bytes()))[0]
			if got := (who{plain.ProcessID, plain.ThreadID}); got != test.header {
				t.Errorf("%s, pointers of %d: without attribution %v, want %v", test.name, ptr, got, test.header)
			}
			r := mustReadAll(t, newReader(t, out.Bytes(), etl.WithAttribution()))[0]
			if got := (who{r.ProcessID, r.ThreadID}); got != test.want {
				t.Errorf("%s, pointers of %d: %v, want %v", test.name, ptr, got, test.want)
			}
		}
	}
}

// TestThreadReuse: a thread id belongs to one process after the other.
func TestThreadReuse(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	var out bytes.Buffer
	w, err := etltest.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	write := func(processor int32, after int64, form etltest.Form, class etw.GUID, opcode uint8, p []byte) {
		err := w.WriteAs(form, &etw.Record{
			Kind: etw.Classic, Provider: class, Opcode: opcode, Version: 3, PointerSize: etw.Ptr64,
			Processor: processor, ProcessID: -1, ThreadID: -1, Timestamp: h.Origin + after, Payload: p,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	thread := func(after int64, opcode uint8, process uint32) {
		write(0, after, etltest.FormSystem, threadClass, opcode, payload(etw.Ptr64, process, uint32(10)))
	}
	thread(500, 2, 100) // it ran since before the trace
	thread(1000, 1, 200)
	thread(1500, 2, 200)
	thread(2000, 1, 300)
	for after := int64(250); after < 3000; after += 500 {
		write(1, after, etltest.FormPerfInfo, perfInfoClass, 46, payload(etw.Ptr64, 99, uint32(10), uint32(1)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[int64]int64{250: 100, 750: 100, 1250: 200, 1750: 200, 2250: 300, 2750: 300}
	for _, r := range mustReadAll(t, newReader(t, out.Bytes(), etl.WithAttribution())) {
		if after := r.Timestamp - h.Origin; r.Provider == perfInfoClass && r.ProcessID != want[after] {
			t.Errorf("at %d: process %d, want %d", after, r.ProcessID, want[after])
		}
	}
}

// TestStackOwner: the stack of an event comes after it and says whose it is.
func TestStackOwner(t *testing.T) {
	h := etltest.DefaultHeader()
	for _, opcode := range []uint8{32, 37, 38} {
		var out bytes.Buffer
		w, err := etltest.NewWriter(&out, h)
		if err != nil {
			t.Fatal(err)
		}
		write := func(processor int32, after int64, class etw.GUID, opcode uint8, p []byte) {
			err := w.WriteAs(etltest.FormPerfInfo, &etw.Record{
				Kind: etw.Classic, Provider: class, Opcode: opcode, Version: 2, PointerSize: etw.Ptr64,
				Processor: processor, Timestamp: h.Origin + after, Payload: p,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		write(1, 100, threadClass, 50, nil) // this one
		write(2, 100, threadClass, 50, nil) // at the same time, on another processor
		write(1, 200, stackClass, opcode, payload(etw.Ptr64, h.Origin+100, uint32(5), uint32(6), 99))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		all := mustReadAll(t, newReader(t, out.Bytes(), etl.WithAttribution()))
		if a, b := all[0], all[1]; a.ProcessID != 5 || a.ThreadID != 6 || b.ProcessID != -1 || b.ThreadID != -1 {
			t.Errorf("opcode %d: %d/%d and %d/%d, want 5/6 and -1/-1", opcode, a.ProcessID, a.ThreadID, b.ProcessID, b.ThreadID)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		class  etw.GUID
		opcode uint8
		want   string
	}{
		{processClass, 3, "Process/DCStart"},
		{imageClass, 10, "Image/Load"},
		{stackClass, 32, "StackWalk/Stack"},
		{tcpClass, 26, "TcpIp/SendIPV6"},
		{metadata, 32, "MetaData/EventInfo"},
		{processClass, 200, "Process/"},
		{testProvider, 1, "/"},
	} {
		if got := etl.ClassName(test.class) + "/" + etl.OpcodeName(test.class, test.opcode); got != test.want {
			t.Errorf("%v %d: %s, want %s", test.class, test.opcode, got, test.want)
		}
	}
}
