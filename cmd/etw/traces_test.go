package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// traces are the files that the command trace of scripts writes, by name.
var traces = map[string]func() ([]byte, error){
	"oven": (&bakery{lines: true}).write, "oven.pdb": func() ([]byte, error) { return ovenPDB(""), nil },
	"kernel":      func() ([]byte, error) { return kernelTrace(header()) },
	"compressed":  compressedTrace,
	"lossy":       lossyTrace,
	"cut":         cutTrace,
	"acme":        acmeTrace,
	"later":       laterTrace,
	"newer":       newerTrace,
	"six":         sixTrace,
	"activity":    activityTrace,
	"disorder":    disorderTrace,
	"samples":     samplesTrace,
	"bakery":      new(bakery).write,
	"keyed":       keyedTrace,
	"machine":     machineTrace,
	"switches":    switchesTrace,
	"outstanding": outstandingTrace,
	"classic":     func() ([]byte, error) { return classicTrace(header()) },
}

func header() etl.Header {
	h := etltest.DefaultHeader()
	h.Clock.Start = etw.FileTimeOf(time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC))
	h.End = h.Clock.Start + 2e7
	h.Boot = h.Clock.Start - 3600e7
	h.Clock.Origin = 1e9
	h.Processors = 2
	h.BufferSize = 4096
	h.SessionName, h.LogFileName = "Test Session", `C:\traces\test.etl`
	return h
}

// at returns a record that was logged some milliseconds after the start.
func at(ms float64, r etw.Record) *etw.Record {
	h := header()
	r.Timestamp = h.Clock.Origin + int64(ms*1e4)
	r.PointerSize = etw.Ptr64
	return &r
}

// classicTrace has classic events of a class that nothing describes.
func classicTrace(h etl.Header) ([]byte, error) {
	class := etw.MustParseGUID("3d6fa8d0-1111-2222-3333-00c04fd7ba7c")
	return etltest.File(h,
		at(1, etw.Record{Kind: etw.KindClassic, Provider: class, Opcode: 1, Version: 4, ProcessID: 4, ThreadID: 8, Payload: []byte{1, 2, 0xab}}),
		at(4, etw.Record{Kind: etw.KindClassic, Provider: class, Opcode: 2, Version: 4, ProcessID: 4, ThreadID: 8, Payload: []byte{3}}),
	)
}

// kernelTrace has events of the kernel, some of which are cut off, and others.
func kernelTrace(h etl.Header) ([]byte, error) {
	process := etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	thread := etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	unknown := etw.MustParseGUID("deadbeef-0000-0000-0000-000000000001")
	long := make([]byte, 100)
	for i := range long {
		long[i] = byte(i)
	}
	return etltest.File(h,
		at(1, etw.Record{Kind: etw.KindClassic, Provider: process, Opcode: 1, Version: 4, ProcessID: 4, ThreadID: 8, Payload: []byte{1, 2, 0xab}}),
		at(2.5, etw.Record{Kind: etw.KindClassic, Provider: thread, Opcode: 36, Version: 2, ProcessID: 4, ThreadID: 8, Processor: 1, Payload: long}),
		at(3, etw.Record{Kind: etw.KindClassic, Provider: unknown, Opcode: 7, ProcessID: -1, ThreadID: -1}),
		at(4, etw.Record{Kind: etw.KindClassic, Provider: process, Opcode: 2, Version: 4, ProcessID: 4, ThreadID: 8, Payload: []byte{3}}),
		at(5, etw.Record{Kind: etw.KindMessage, Provider: unknown, ID: 12, ProcessID: 4, ThreadID: 8, Payload: []byte("hi")}),
	)
}

// samplesTrace has a sample of the processor, which says only in its payload which thread
// ran, and the start of that thread.
func samplesTrace() ([]byte, error) {
	thread := etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	perfInfo := etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")
	start := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 100), 200)
	sample := binary.LittleEndian.AppendUint64(nil, 0x7ff600001000)
	sample = binary.LittleEndian.AppendUint32(sample, 200)
	sample = binary.LittleEndian.AppendUint32(sample, 1)
	var out bytes.Buffer
	w, err := etltest.NewWriter(&out, header())
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		w.WriteAs(etltest.FormSystem, at(1, etw.Record{Kind: etw.KindClassic, Provider: thread, Opcode: 1, Version: 3, Payload: append(start, make([]byte, 64)...)})),
		w.WriteAs(etltest.FormPerfInfo, at(2, etw.Record{Kind: etw.KindClassic, Provider: perfInfo, Opcode: 46, Version: 2, Payload: sample})),
		w.Close(),
	)
	return out.Bytes(), err
}

func compressedTrace() ([]byte, error) {
	h := header()
	h.Compression = etl.CompressionXpress
	h.Mode |= etl.ModeCompressed
	return kernelTrace(h)
}

func lossyTrace() ([]byte, error) {
	h := header()
	h.EventsLost, h.BuffersLost = 12, 3
	data, err := kernelTrace(h)
	if err != nil {
		return nil, err
	}
	at, err := headerPayload(data)
	if err != nil {
		return nil, err
	}
	clear(data[at+16 : at+24]) // no end: the session was not stopped
	return data, nil
}

// headerPayload returns where the payload of the file's header begins.
func headerPayload(data []byte) (int, error) {
	at := bytes.Index(data, []byte{0, 0x10, 0, 0, 0xa, 0, 1, 5})
	if at < 0 {
		return 0, errors.New("the header was not found")
	}
	return at, nil
}

// cutTrace was cut off between two buffers: only the number in its header tells.
func cutTrace() ([]byte, error) {
	data, err := kernelTrace(header())
	if err != nil {
		return nil, err
	}
	at, err := headerPayload(data)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(data[at+36:], 4)
	return data, nil
}

// acmeGUID is the provider of the manifest in script dump_manifest.
var acmeGUID = etw.MustParseGUID("11111111-2222-3333-4444-555555555555")

// acmePayload is the payload of the event WidgetMade.
func acmePayload(size uint32, reason uint8, name string) []byte {
	p := binary.LittleEndian.AppendUint32(nil, size)
	p = append(p, reason)
	return append(etw.AppendUTF16(p, name), 0, 0)
}

// acmeTrace has events of a provider that only a manifest describes, and one of
// the .NET runtime.
func acmeTrace() ([]byte, error) {
	event := func(ms float64, id uint16, version uint8, level etw.Level, keywords uint64, payload []byte) *etw.Record {
		return at(ms, etw.Record{
			Provider: acmeGUID, ID: id, Version: version, Level: level, Keywords: keywords, Opcode: 1, Task: 3,
			ProcessID: 100, ThreadID: 101, Payload: payload,
		})
	}
	gc, err := (&clr.GCStartV2{Count: 1, Reason: clr.GCReasonInduced, ClrInstanceID: 9}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		return nil, err
	}
	stack := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x7ff612340000), 0xfffff80012345678)
	withStack := event(20, 1, 0, 4, 1, acmePayload(10, 1, "first"))
	withStack.Stack = etw.Stack{Addresses: stack, PtrSize: etw.Ptr64}
	withStack.ActivityID = etw.MustParseGUID("00000000-0000-0000-0000-0000000000a1")
	withStack.RelatedActivityID = etw.MustParseGUID("00000000-0000-0000-0000-0000000000b2")
	cut := acmePayload(13, 1, "cut")
	return etltest.File(header(),
		at(10, etw.Record{Provider: clr.Provider.Desc.GUID, ID: 1, Version: 2, Level: 4, Keywords: 1, Opcode: 1, Task: 1, ProcessID: 200, ThreadID: 201, Payload: gc}),
		withStack,
		event(30, 1, 0, 4, 2, acmePayload(11, 2, `with "quotes", commas and a
line break`)),
		event(40, 1, 0, 2, 2, acmePayload(12, 77, "")),
		event(50, 1, 0, 2, 1, cut[:len(cut)-3]),
		event(60, 1, 5, 5, 1, acmePayload(14, 1, "newer")),
		event(70, 2, 0, 5, 4, nil),
		event(80, 99, 0, 5, 4, []byte{0xff}),
	)
}

// laterTrace is of a session that started a second after the others.
func laterTrace() ([]byte, error) {
	h := header()
	h.Clock.Start += 1e7
	h.End += 1e7
	return etltest.File(h,
		&etw.Record{Provider: acmeGUID, ID: 2, Timestamp: h.Clock.Origin + 5e4, PointerSize: etw.Ptr64, ProcessID: 300, ThreadID: 301, Processor: 1})
}

// netHeader is the header of traces of EventPipe.
var netHeader = nettracetest.Trace{
	Start: time.Date(2024, 5, 1, 10, 0, 0, 500e6, time.UTC), Origin: 77, Frequency: 1e9, Pointer: etw.Ptr64, ProcessID: 400, Processors: 2, Sampling: 1e6,
}

// newerTrace has an event of the .NET runtime of a version to come, with a field
// that nobody knows yet.
func newerTrace() ([]byte, error) {
	gc, err := (&clr.GCStartV2{Count: 1, Reason: clr.GCReasonInduced, ClrInstanceID: 9}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		return nil, err
	}
	w := nettracetest.NewWriter(4, netHeader)
	w.Metadata(nettracetest.Row{ID: 1, Provider: clr.Provider.Desc.Name, EventID: 1, Version: 9, Level: 4, Keywords: 1})
	w.Events(nettracetest.Event{Metadata: 1, Time: 1e6 + 77, Thread: 401, SortPoint: true, Payload: append(gc, 0xee)})
	w.End()
	return w.Bytes(), nil
}

// sixTrace is of version 6, in which several processes may share a trace. Each has
// described the event.
func sixTrace() ([]byte, error) {
	h := netHeader
	h.Keys = [][2]string{{"ProcessId", "400"}, {"HardwareThreadCount", "2"}, {"Product", "a\tb"}}
	w := nettracetest.NewWriter(6, h)
	w.Metadata(
		nettracetest.Row{ID: 1, Provider: "Acme", EventID: 1, Name: "Made"},
		nettracetest.Row{ID: 2, Provider: "Acme", EventID: 1, Name: "Made"},
	)
	w.Threads(nettracetest.Thread{Index: 1, ProcessID: 400, ThreadID: 401}, nettracetest.Thread{Index: 2, ProcessID: 500, ThreadID: 501})
	w.Events(
		nettracetest.Event{Metadata: 1, Time: 1e6 + 77, Thread: 1, Capture: 1, SortPoint: true},
		nettracetest.Event{Metadata: 2, Time: 2e6 + 77, Thread: 2, Capture: 2, SortPoint: true},
	)
	w.End()
	return w.Bytes(), nil
}

// activityTrace has described events with activities and stacks, out of order.
func activityTrace() ([]byte, error) {
	w := nettracetest.NewWriter(4, netHeader)
	int32Field, stringField := uint32(9), uint32(18)
	w.Metadata(
		nettracetest.Row{ID: 1, Provider: "Acme-Web", EventID: 1, Name: "RequestStart", Level: 4, Keywords: 0xf00000000000, Fields: []nettracetest.Field{{Name: "Number", Type: int32Field}, {Name: "Path", Type: stringField}}},
		nettracetest.Row{ID: 2, Provider: "Acme-Web", EventID: 2, Name: "RequestStop", Level: 4, Fields: []nettracetest.Field{{Name: "Number", Type: int32Field}}},
	)
	a, b := etw.GUID{1}, etw.GUID{2}
	payload := func(n uint32, path string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, n), nettracetest.UTF16(path)...)
	}
	w.Events(
		nettracetest.Event{Metadata: 1, Time: 3e6 + 77, Thread: 401, Capture: 401, Activity: a, Payload: payload(1, "/index.html")},
		nettracetest.Event{Metadata: 2, Time: 9e6 + 77, Thread: 401, Capture: 401, Activity: a, Payload: payload(1, "")[:4]},
		nettracetest.Event{Metadata: 1, Time: 5e6 + 77, Thread: 402, Capture: 402, Processor: 2, Activity: b, Related: a, Payload: payload(2, "/a b")},
		nettracetest.Event{Metadata: 2, Time: 5e6 + 123 + 77, Thread: 402, Capture: 402, Lost: 3, Activity: b, Payload: []byte{2}},
	)
	w.End()
	return w.Bytes(), nil
}

// disorderTrace promises that no event is older than the first, and breaks it
// in the next block.
func disorderTrace() ([]byte, error) {
	w := nettracetest.NewWriter(4, netHeader)
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Acme-Web", EventID: 1, Name: "Tick"})
	w.Events(nettracetest.Event{Metadata: 1, Time: 5e6 + 77, Thread: 401, Capture: 401, SortPoint: true})
	w.Events(nettracetest.Event{Metadata: 1, Time: 3e6 + 77, Thread: 402, Capture: 402, SortPoint: true})
	w.End()
	return w.Bytes(), nil
}

// asyncTrace has a buffer of what .NET 11 tells of async methods: one goes on twice, and awaits.
func asyncTrace() ([]byte, error) {
	b := &bakery{w: nettracetest.NewWriter(4, netHeader), rows: make(map[etw.Key]uint32)}
	events := []byte{20, 0, // the thread begins to tell
		1, 1, 2, 0, 5} // task 5 suspends
	for range 2 {
		stack := binary.AppendUvarint([]byte{0, 0, 1, 5}, codeSell+1)
		events = append(events, 7, 100, byte(len(stack)), 0) // task 5 goes on in a method
		events = append(append(events, stack...), 3, 20)     // and suspends
	}
	p := binary.LittleEndian.AppendUint32([]byte{1}, uint32(37+len(events)))
	p = binary.LittleEndian.AppendUint64(append(p, 1, 0, 0, 0), 401)
	p = binary.LittleEndian.AppendUint64(append(p, 6, 0, 0, 0), 1000)
	p = append(binary.LittleEndian.AppendUint64(p, 1241), events...)
	b.add(1, 401, 0, b.row(asyncs.Provider, 1, 1, "AsyncEvents"), append(binary.LittleEndian.AppendUint32(nil, uint32(len(p))), p...))
	b.rundown()
	b.w.Metadata(b.metadata...)
	b.w.Events(b.events...)
	b.w.End()
	return b.w.Bytes(), b.err
}
