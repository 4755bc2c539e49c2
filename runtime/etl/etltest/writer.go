package etltest

import (
	"bytes"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// DefaultHeader is the header of a session like those that tools record: 64 KiB
// buffers, a performance counter of 10 MHz, 4 processors, Windows 10.
func DefaultHeader() etl.Header {
	const start = etw.FileTime(133000000000000000) // in 2022
	return etl.Header{
		SessionName:   "etltest",
		WindowsMajor:  10,
		WindowsBuild:  19045,
		Processors:    4,
		ProcessorMHz:  3000,
		PointerSize:   etw.Ptr64,
		Clock:         etw.Clock{Start: start, Origin: 36e9, Frequency: 1e7},
		ClockType:     etl.ClockQPC,
		End:           start + 10e7,
		Boot:          start - 36e9,
		Mode:          etl.ModeSequential,
		BufferSize:    64 << 10,
		FormatVersion: [2]uint8{1, 5},
	}
}

// A Writer writes one .etl file. It is an [etl.Writer] that also writes unsound data.
type Writer struct{ *etl.Writer }

// NewWriter begins a file of the session h: see [etl.NewWriter].
func NewWriter(out io.Writer, h etl.Header) (*Writer, error) {
	w, err := etl.NewWriter(out, h)
	if err != nil {
		return nil, fmt.Errorf("etltest: %w", err)
	}
	return &Writer{w}, nil
}

// File returns a file of the session h with the given records.
func File(h etl.Header, records ...*etw.Record) ([]byte, error) {
	var out memory
	w, err := NewWriter(&out, h)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// A memory is a file in memory, whose header can be completed.
type memory struct{ bytes.Buffer }

func (m *memory) WriteAt(p []byte, at int64) (int, error) { return copy(m.Bytes()[at:], p), nil }

// Raw appends a record as it is to the buffer of a processor. It need not be a
// sound one.
func (w *Writer) Raw(processor int, record []byte) error {
	return w.WriteRaw(int32(processor), record)
}

// ManifestRecords returns the records by which an EventSource writes its manifest
// into a trace: see [etl.ManifestRecords].
func ManifestRecords(base *etw.Record, manifest []byte, size int) []*etw.Record {
	return etl.ManifestRecords(base, manifest, size)
}
