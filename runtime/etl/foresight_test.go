package etl_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestForesight: a record asked for is shown once, in the order of time and with its schema,
// before those that follow the first records, and is delivered in its time; whatever else
// the pass over the file is for.
func TestForesight(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	var records []*etw.Record
	for i := range 200 {
		r := manifestEvent(&h, int64(200-i), uint16(1+i%4), 0, "\x00\x00")
		r.Processor = int32(i % 2)
		records = append(records, r)
	}
	records = append(records, etltest.ManifestRecords(event(&h, 1, 300, 0), []byte(testManifest), 300)...)
	data := file(t, h, records...)
	for _, opts := range [][]etl.Option{
		nil, {etl.WithoutAttribution()}, {etl.WithoutSchemas()}, {etl.WithoutAttribution(), etl.WithoutSchemas()},
	} {
		var shown, delivered []string
		describe := func(r *etw.Record) string { return fmt.Sprint(r.Timestamp, " ", r.ID, " ", r.Schema != nil) }
		var mu sync.Mutex
		asked := make(map[etw.Key]bool)
		r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)), append(opts, etl.WithForesight(
			func(k etw.Key) bool {
				mu.Lock()
				defer mu.Unlock()
				asked[k] = true
				return k.ID == 2
			},
			func(r *etw.Record) {
				if len(delivered) > 0 {
					t.Error("shown late")
				}
				shown = append(shown, describe(r))
			}))...)
		if err != nil {
			t.Fatal(err)
		}
		for rec := range testio.Records(t, r.Records()) {
			if rec.ID == 2 && rec.Kind == etw.KindManifest {
				delivered = append(delivered, describe(rec))
			}
		}
		if len(delivered) != 50 {
			t.Fatalf("%d records are delivered, want 50", len(delivered))
		}
		if d := cmp.Diff(delivered, shown); d != "" {
			t.Errorf("shown records (-want +got):\n%s", d)
		}
		if k := (etw.Key{Kind: etw.KindManifest, Provider: testProvider, ID: 3}); !asked[k] {
			t.Errorf("nobody asks for %v, only for %v", k, asked)
		}
	}
}

// TestForesightOfClasses: events of the kernel and of other classes are asked for by
// the key that they are delivered with.
func TestForesightOfClasses(t *testing.T) {
	h := etltest.DefaultHeader()
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	for i, form := range []etltest.Form{etltest.FormSystem, etltest.FormCompact, etltest.FormPerfInfo, etltest.FormFull} {
		class := threadClass
		if form == etltest.FormPerfInfo {
			class = perfInfoClass
		}
		err := w.WriteAs(form, &etw.Record{
			Kind: etw.KindClassic, Provider: class, Opcode: 50, Version: uint8(2 + i), PointerSize: etw.Ptr64,
			ProcessID: -1, ThreadID: -1, Timestamp: h.Clock.Origin + int64(1+i), Payload: make([]byte, 32),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	var mu sync.Mutex
	asked := make(map[etw.Key]bool)
	r, err := etl.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), etl.WithForesight(func(k etw.Key) bool {
		mu.Lock()
		defer mu.Unlock()
		asked[k] = true
		return false
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rec := range testio.Records(t, r.Records()) {
		if n++; n > 1 && !asked[rec.Key()] { // the header does not wait for the pass
			t.Errorf("nobody asks for %+v, only for %v", rec.Key(), asked)
		}
	}
	if n < 5 {
		t.Errorf("%d records, want those of four forms and the header", n)
	}
}
