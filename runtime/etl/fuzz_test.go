package etl_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzReader reads damaged files with everything on: it neither panics nor hangs,
// ends with io.EOF, and what it delivers is consistent.
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
		data, err := etltest.File(h, records...)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.WithAttribution())
		if err != nil {
			return
		}
		defer r.Close()
		var rec etw.Record
		var d etw.Dynamic
		for n := 0; ; n++ {
			err := r.Next(&rec)
			if err == io.EOF {
				break
			}
			if err != nil {
				var damage *etl.DamageError
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
			// Compressed buffers may hold many more records than bytes, but a record
			// takes 8 bytes of a buffer of at most 64 MiB.
			if n > 1<<23*(1+len(data)/0x48) {
				t.Fatalf("%d records of %d bytes", n, len(data))
			}
		}
		s := r.Stats()
		if s.UnreadBytes < 0 || s.UnwrittenBytes < 0 {
			t.Fatalf("statistics %+v", s)
		}
	})
}

// FuzzSchemas puts hostile schemas of all kinds into a trace.
func FuzzSchemas(f *testing.F) {
	f.Add([]byte("\x00Event\x00s\x00\xd8\x02k\x00\x02v\x00\x04"), []byte("\x02\x00a\x00\x01b\x00\x02"))
	f.Add([]byte(testManifest[600:1200]), []byte{})
	f.Add(eventInfo(testProvider, etw.GUID{}, 0, 1, 1, 1, tdhProperty{name: "S", flags: 1, in: 1, out: 1, count: 2}, tdhProperty{name: "A", in: 1, count: 1}), []byte("a\x00\x00\x00"))
	f.Add(mapInfo(testProvider, "M", 1, map[uint32]string{1: "One"}), []byte{})
	f.Fuzz(func(t *testing.T, schema, payload []byte) {
		if len(schema)+len(payload) > 30000 {
			return
		}
		h := etltest.DefaultHeader()
		records := []*etw.Record{
			traceLogging(&h, 1, string(schema), "P\x00", payload),
			traceLogging(&h, 2, "\x00E\x00", string(schema), payload),
			manifestEvent(&h, 3, 1, 0, string(payload)),
			stored(&h, 4, 32, schema),
			stored(&h, 5, 33, schema),
		}
		manifest := `<m><provider name="P"><events><event value="1" template="T"/></events><templates><template tid="T">` + string(schema)
		records = append(records, etltest.ManifestRecords(event(&h, 0, 6, 0), []byte(manifest), 20000)...)
		records = append(records, etltest.ManifestRecords(event(&h, 0, 7, 0), schema, 20000)...)
		data, err := etltest.File(h, records...)
		if err != nil {
			return // too large for a record
		}
		r := newReader(t, data)
		defer r.Close()
		var d etw.Dynamic
		for rec, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Schema == nil {
				continue
			}
			if n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize); err == nil && n > len(rec.Payload) {
				t.Fatalf("%d bytes of %d", n, len(rec.Payload))
			}
			etw.AppendText(nil, &d)
		}
	})
}
