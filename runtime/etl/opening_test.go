package etl_test

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A countingReader counts the bytes that are read.
type countingReader struct {
	*bytes.Reader
	n atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.n.Add(int64(n))
	return n, err
}

// TestOpening: records of the session come before the pass over the file, and all else after
// it, complete and once.
func TestOpening(t *testing.T) {
	for _, compression := range []etl.Compression{etl.CompressionNone, etl.CompressionXpress} {
		h := etltest.DefaultHeader()
		h.Compression = compression
		const events, size = 3000, 4000
		var records []*etw.Record
		for i := range events {
			e := event(&h, i%4, int64(i)*1000, uint32(i))
			e.Payload = append(e.Payload, bytes.Repeat([]byte{byte(i)}, size)...)
			records = append(records, e)
		}
		data := file(t, h, records...)
		src := &countingReader{Reader: bytes.NewReader(data)}
		r, err := etl.NewReader(src, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var rec etw.Record
		if err := r.Next(&rec); err != nil || rec.Provider != eventTrace {
			t.Fatalf("%v, %v", rec.Provider, err)
		}
		// Some blocks are read ahead, whoever asks.
		if read := src.n.Load(); compression == etl.CompressionNone && read > int64(len(data))*3/4 {
			t.Errorf("%d of %d bytes were read for the first record", read, len(data))
		}
		rest, err := readAll(r)
		if err != nil || len(rest) != events {
			t.Fatalf("%d records, %v", len(rest), err)
		}
		if read := src.n.Load(); compression == etl.CompressionNone && read < int64(len(data))*3/2 {
			t.Errorf("%d of %d bytes were read in two passes", read, len(data))
		}
		for i, rec := range rest {
			if number(rec) != uint32(i) || len(rec.Payload) != 4+size || rec.Payload[4] != byte(i) {
				t.Fatalf("record %d is %d", i, number(rec))
			}
		}
		r.Close()
	}
}
