package mutate

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// Made returns small traces of every format, some with few buffers or blocks and
// some with many. Each of their events has a time and a payload of its own.
func Made() ([]*Trace, error) {
	var traces []*Trace
	for _, events := range []int{12, 120} {
		for _, c := range []etl.Compression{etl.CompressionNone, etl.CompressionLZNT1, etl.CompressionXpress, etl.CompressionXpressHuffman} {
			data, err := madeETL(c, events)
			if err != nil {
				return nil, err
			}
			traces = append(traces, New(fmt.Sprintf("made %d of %v.etl", events, c), data))
		}
		for _, version := range []int{3, 4, 6} {
			traces = append(traces, New(fmt.Sprintf("made %d.nettrace%d", events, version), madeNettrace(version, events)))
		}
	}
	for _, t := range traces {
		if t == nil {
			return nil, fmt.Errorf("a trace that was made cannot be mapped")
		}
	}
	return traces, nil
}

// madePayload is that of event i.
func madePayload(i int) []byte {
	p := binary.LittleEndian.AppendUint32(nil, uint32(i))
	return append(p, bytes.Repeat([]byte{byte(i), 'x'}, i%23)...)
}

// A memory is a file that is written to.
type memory struct{ bytes.Buffer }

// WriteAt overwrites written bytes.
func (m *memory) WriteAt(p []byte, at int64) (int, error) { return copy(m.Bytes()[at:], p), nil }

func madeETL(c etl.Compression, events int) ([]byte, error) {
	h := etltest.DefaultHeader()
	h.BufferSize, h.Compression = 1024, c
	var out memory
	w, err := etltest.NewWriter(&out, h)
	if err != nil {
		return nil, err
	}
	for i := range events {
		err := w.Write(&etw.Record{
			Provider: etw.GUID{1, 2, 3}, ID: uint16(i % 7), Timestamp: 36e9 + int64(i)*1000, PointerSize: etw.Ptr64,
			ProcessID: 4, ThreadID: 8, Processor: int32(i / 5 % 3), Payload: madePayload(i),
		})
		if err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

func madeNettrace(version, events int) []byte {
	w := nettracetest.NewWriter(version, nettracetest.Trace{ProcessID: 7, Processors: 2, Frequency: 1e7, Pointer: etw.Ptr64})
	w.Metadata(
		nettracetest.Row{ID: 1, Provider: "Microsoft-Windows-DotNETRuntime", EventID: 10, Version: 2, Level: 4, Keywords: 1},
		nettracetest.Row{ID: 2, Provider: "Made", EventID: 7, Name: "Hello", Fields: []nettracetest.Field{{Name: "n", Type: 9}}},
	)
	if version != 3 {
		w.Stacks(1, []uint64{0x1000, 0x2000}, []uint64{0x3000})
	}
	if version == 6 {
		w.Threads(nettracetest.Thread{Index: 1, Name: "one", ThreadID: 11}, nettracetest.Thread{Index: 2, Name: "two", ThreadID: 12})
	}
	for i := 0; i < events; {
		var list []nettracetest.Event
		for end := min(i+1+i%9, events); i < end; i++ {
			list = append(list, nettracetest.Event{
				Metadata: uint32(1 + i%2), Thread: uint64(1 + i%2), Time: int64(1000 + 10*i),
				Stack: uint32(i % 3), Addresses: []uint64{0x1000}, Payload: madePayload(i),
			})
		}
		w.Events(list...)
		if version != 3 {
			w.SequencePoint(int64(1000+10*i), 0, nil)
		}
	}
	w.End()
	return w.Bytes()
}
