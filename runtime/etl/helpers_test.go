package etl_test

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

var testProvider = etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")

// event returns a manifest event whose payload is its number.
func event(h *etl.Header, processor int, after int64, number uint32) *etw.Record {
	return &etw.Record{
		Provider: testProvider, ID: 1, PointerSize: etw.Ptr64,
		Processor: int32(processor), ProcessID: 100, ThreadID: 200,
		Timestamp: h.Clock.Origin + after,
		Payload:   binary.LittleEndian.AppendUint32(nil, number),
	}
}

func number(r *etw.Record) uint32 { return binary.LittleEndian.Uint32(r.Payload) }

// file returns a file with the given records.
func file(tb testing.TB, h etl.Header, records ...*etw.Record) []byte {
	tb.Helper()
	return testio.Encoded(tb, etltest.File, h, records...)
}

func newReader(tb testing.TB, data []byte, opts ...etl.Option) *etl.Reader {
	tb.Helper()
	r := testio.ReaderAt(tb, etl.NewReader, data, opts...)
	tb.Cleanup(func() { r.Close() })
	return r
}

// readAll returns copies of the records that follow the header, and the error
// that ended them if it is not io.EOF.
func readAll(r *etl.Reader) ([]*etw.Record, error) {
	var all []*etw.Record
	var rec etw.Record
	for {
		switch err := r.Next(&rec); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return all, err
		case rec.Provider != eventTrace:
			all = append(all, rec.Clone())
		}
	}
}

var eventTrace = etw.MustParseGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3")

// mustReadAll is readAll for intact files.
func mustReadAll(tb testing.TB, r *etl.Reader) []*etw.Record {
	tb.Helper()
	all, err := readAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func numbers(records []*etw.Record) []uint32 {
	out := make([]uint32, len(records))
	for i, r := range records {
		out[i] = number(r)
	}
	return out
}

// randomTrace returns n records on several processors, in the order in which a
// reader has to deliver them. Times tie often.
func randomTrace(h *etl.Header, n int) (ordered, written []*etw.Record) {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	now := int64(0)
	perProcessor := make([][]*etw.Record, h.Processors)
	for i := range n {
		now += int64(r.IntN(3))
		e := event(h, r.IntN(int(h.Processors)), now, uint32(i))
		e.Payload = append(e.Payload, make([]byte, r.IntN(200))...)
		ordered = append(ordered, e)
	}
	// At the same time, records come by processor.
	for from := 0; from < n; {
		to := from
		for to < n && ordered[to].Timestamp == ordered[from].Timestamp {
			to++
		}
		stableByProcessor(ordered[from:to])
		from = to
	}
	for _, e := range ordered {
		perProcessor[e.Processor] = append(perProcessor[e.Processor], e)
	}
	// Processors get ahead of each other, as full buffers do.
	for left := n; left > 0; {
		p := r.IntN(len(perProcessor))
		k := min(len(perProcessor[p]), 1+r.IntN(50))
		written = append(written, perProcessor[p][:k]...)
		perProcessor[p] = perProcessor[p][k:]
		left -= k
	}
	return ordered, written
}

func stableByProcessor(records []*etw.Record) {
	for i := 1; i < len(records); i++ {
		for j := i; j > 0 && records[j].Processor < records[j-1].Processor; j-- {
			records[j], records[j-1] = records[j-1], records[j]
		}
	}
}

// compressions are all ways to store a file.
var compressions = []etl.Compression{
	etl.CompressionNone, etl.CompressionXpress, etl.CompressionLZNT1, etl.CompressionXpressHuffman,
}

// setBuffersWritten sets how many buffers a file says that it has.
func setBuffersWritten(file []byte, n int) {
	const at = 0x48 + 0x20 + 0x24 // behind the headers of the buffer and of the record
	binary.LittleEndian.PutUint32(file[at:], uint32(n))
}
