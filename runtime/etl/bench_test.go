package etl_test

import (
	"io"
	"strconv"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// BenchmarkFile opens real traces and reads all of their records, as it is usually done, and
// without the features that take a pass over the file before. Bytes are those of the buffers
// without compression.
func BenchmarkFile(b *testing.B) {
	for _, trace := range []string{
		"net.4.5.2.x64.etl",        // compressed
		"diaghub.user_paged.1.etl", // not compressed
		"diaghub.etl",              // not compressed
	} {
		path := corpus.File(b, "etl", trace)
		for _, mode := range []struct {
			name string
			opts []etl.Option
		}{
			{"default", nil},
			{"WithoutAttribution", []etl.Option{etl.WithoutAttribution()}},
			{"Without both", []etl.Option{etl.WithoutAttribution(), etl.WithoutSchemas()}},
		} {
			b.Run(trace+"/"+mode.name, func(b *testing.B) {
				b.ReportAllocs()
				records := int64(0)
				for b.Loop() {
					r := testio.Open(b, etl.Open, path, mode.opts...)
					var rec etw.Record
					for {
						err := r.Next(&rec)
						if err == io.EOF {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
						records++
					}
					b.SetBytes(r.Stats().Bytes)
					r.Close()
				}
				b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkNext reads one record after the other from a synthetic trace.
func BenchmarkNext(b *testing.B) {
	for _, cpus := range []uint32{1, 8, 64} {
		f, _ := newLargeFile(b, 64<<10, cpus, 0, 1<<30)
		b.Run(strconv.Itoa(int(cpus))+" processors", func(b *testing.B) {
			open := func() *etl.Reader {
				r, err := etl.NewReader(f, f.size(), etl.WithoutSchemas(), etl.WithoutAttribution())
				if err != nil {
					b.Fatal(err)
				}
				return r
			}
			r := open()
			b.SetBytes(largeRecord)
			b.ReportAllocs()
			var rec etw.Record
			for b.Loop() {
				err := r.Next(&rec)
				if err == io.EOF {
					r.Close()
					r = open()
				} else if err != nil {
					b.Fatal(err)
				}
			}
			r.Close()
		})
	}
}

// TestAllocations: a record allocates, once the reader has its buffers and has seen the
// schemas, is nothing.
func TestAllocations(t *testing.T) {
	h := etltest.DefaultHeader()
	var records []*etw.Record
	for i := range 20000 {
		r := traceLogging(&h, int64(i), "\x00Event\x00a\x00\x04b\x00\x01", "My.Provider\x00", []byte("\x01a\x00\x00\x00"))
		r.Processor = int32(i % 4)
		if i%2 == 0 {
			r = manifestEvent(&h, int64(i), 3, 0, "")
			r.Stack = etw.Stack{Addresses: make([]byte, 80), PtrSize: etw.Ptr64}
		}
		records = append(records, r)
	}
	records = append(records, etltest.ManifestRecords(event(&h, 0, 30000, 0), []byte(testManifest), 60000)...)
	for _, c := range compressions {
		h.Compression = c
		r := newReader(t, file(t, h, records...))
		var rec etw.Record
		read := func() {
			for range 100 {
				if err := r.Next(&rec); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 50 {
			read()
		}
		// The average is rounded down, so that a pool that the collector emptied does
		// not count.
		if n := testing.AllocsPerRun(100, read); n != 0 {
			t.Errorf("%v: %v allocations for 100 records", c, n)
		}
	}
}
