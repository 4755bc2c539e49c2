package system_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// busyTrace returns an uncompressed trace of a busy machine: of each thousand
// events 480 are samples, 500 context switches, 12 are of images, 4 of threads and 4
// of processes.
func busyTrace(tb testing.TB, events int) []byte {
	var out bytes.Buffer
	h := etltest.DefaultHeader()
	h.BufferSize, h.Processors = 1<<16, 4
	w := testio.Writer(tb, etltest.NewWriter, &out, h)
	path := etw.MakeUTF16(`\Device\HarddiskVolume2\Windows\System32\ntdll.dll`)
	write := func(i int, form etltest.Form, e etw.Event) {
		p := testio.Payload(tb, e, etw.Ptr64)
		d := e.EventDesc()
		r := &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, PointerSize: etw.Ptr64,
			ProcessID: 4, ThreadID: 8, Processor: int32(i % 4), Timestamp: h.Clock.Origin + int64(i)*100, Payload: p}
		if err := w.WriteAs(form, r); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range events {
		n := i % 1000
		tid, pid := uint32(i/7%500+1)*4, uint32(i/1000%100+1)*4
		switch {
		case n < 4:
			write(i, etltest.FormSystem, []etw.Event{
				&kernel.ProcessStartV4{UniqueProcessKey: etw.Pointer(pid), ProcessID: pid, ParentID: 4, ImageFileName: etw.ANSI("app.exe"), CommandLine: path},
				&kernel.ProcessStopV4{UniqueProcessKey: etw.Pointer(pid), ProcessID: pid, ImageFileName: etw.ANSI("app.exe"), CommandLine: path},
			}[n%2])
		case n < 16:
			base := etw.Pointer(0x7ff000000000 + uint64(i/2%64)<<20)
			write(i, etltest.FormSystem, []etw.Event{
				&kernel.ImageLoadV3{ImageBase: base, ImageSize: 0x10000, ProcessID: pid, FileName: path},
				&kernel.ImageUnloadV3{ImageBase: base, ImageSize: 0x10000, ProcessID: pid, FileName: path},
			}[n%2])
		case n < 20:
			write(i, etltest.FormSystem, []etw.Event{
				&kernel.ThreadStartV3{ProcessID: pid, TThreadID: tid},
				&kernel.ThreadStopV3{ProcessID: pid, TThreadID: tid},
			}[n%2])
		case n < 500:
			write(i, etltest.FormPerfInfo, &kernel.PerfInfoSampleV2{ThreadID: tid, InstructionPointer: 0x7ff000001000, Count: 1})
		default:
			write(i, etltest.FormPerfInfo, &kernel.ThreadCSwitchV2{NewThreadID: tid, OldThreadID: tid + 4})
		}
	}
	testio.Close(tb, w)
	return out.Bytes()
}

// Reading alone, with handlers of the four kinds, and with tables of everything.
func BenchmarkBusyTrace(b *testing.B) {
	const events = 200_000
	data := busyTrace(b, events)
	handlers := func(mux *etw.Mux) {
		var sum uint64
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoSample) error {
			sum += uint64(e.InstructionPointer)
			return nil
		})
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyThreadCSwitch) error { sum += uint64(e.NewThreadID); return nil })
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyImageLoad) error { sum += uint64(e.ImageBase); return nil })
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyImageUnload) error { sum += uint64(e.ImageBase); return nil })
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyProcessStart) error { sum += uint64(e.ProcessID); return nil })
		etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyProcessStop) error { sum += uint64(e.ProcessID); return nil })
	}
	for _, c := range []struct {
		name string
		opts []etl.Option
		set  func(*etw.Mux)
	}{
		{"read", nil, func(*etw.Mux) {}},
		{"read unattributed", []etl.Option{etl.WithoutAttribution()}, func(*etw.Mux) {}},
		{"handlers", []etl.Option{etl.WithoutAttribution()}, handlers},
		{"handlers attributed", nil, handlers},
		{"handlers and tables", []etl.Option{etl.WithoutAttribution()}, func(mux *etw.Mux) { system.Of(mux); handlers(mux) }},
		{"handlers, tables and usage", []etl.Option{etl.WithoutAttribution()}, func(mux *etw.Mux) { system.NewUsage(mux); handlers(mux) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r := testio.ReaderAt(b, etl.NewReader, data, c.opts...)
				var mux etw.Mux
				c.set(&mux)
				if err := mux.Run(context.Background(), r); err != nil && err != io.EOF {
					b.Fatal(err)
				}
				if n := mux.Stats().Records; n < events {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
