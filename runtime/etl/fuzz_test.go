package etl_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzReader reads damaged files with everything on: it neither panics nor hangs, ends with
// io.EOF, and its records are consistent, and the same in memory and elsewhere.
func FuzzReader(f *testing.F) {
	for _, c := range compressions {
		h := etltest.DefaultHeader()
		h.Compression, h.BufferSize = c, 1024
		records := []*etw.Record{traceLogging(&h, 3, "\x00E\x00a\x00\x04", "P\x00", []byte("\x01"))}
		for form, r := range formRecords(etw.Ptr64) {
			if form != etltest.FormMessage {
				records = append(records, r)
			}
		}
		records = append(records, etltest.ManifestRecords(event(&h, 1, 4, 0), []byte(testManifest[:600]), 300)...)
		data := testio.Encoded(f, etltest.File, h, records...)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer r.Close()
		if len(data) < 1<<20 {
			sameInMemory(t, data)
		}
		var rec etw.Record
		var d etw.Dynamic
		for n := 0; ; n++ {
			err := r.Next(&rec)
			if err == io.EOF {
				break
			}
			if err != nil {
				var damage *etw.IncompleteError
				if !errors.As(err, &damage) {
					t.Fatal(err)
				}
				if err := r.Next(&rec); err != io.EOF {
					t.Fatalf("after the damage: %v", err)
				}
				break
			}
			if rec.PointerSize != etw.Ptr32 && rec.PointerSize != etw.Ptr64 {
				t.Fatalf("pointers of %d bytes", rec.PointerSize)
			}
			if rec.Schema != nil {
				d.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize)
			}
			// A record takes 8 bytes, of which compressed buffers may unpack to 128 for
			// each byte of the file, and 4 MiB.
			if n > (4<<20+129*len(data))/8 {
				t.Fatalf("%d records of %d bytes", n, len(data))
			}
		}
		s := r.Stats()
		if s.UnreadBytes < 0 || s.UnwrittenBytes < 0 {
			t.Fatalf("statistics %+v", s)
		}
	})
}
