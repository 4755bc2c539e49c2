package etltest_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

var provider = etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")

func TestFileOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.etl")
	out := testio.Create(t, path)
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	w := testio.Writer(t, etltest.NewWriter, out, h)
	for i := range int64(100) {
		r := &etw.Record{Provider: provider, PointerSize: etw.Ptr64, Processor: int32(i % 3), Timestamp: h.Clock.Origin + i}
		testio.Add(t, w, r)
	}
	testio.Close(t, w)
	testio.Close(t, out)
	r := testio.Open(t, etl.Open, path)
	defer r.Close()
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
	}
	s := r.Stats()
	if err != io.EOF || s.Records != 101 {
		t.Errorf("%d records, %v, want 101 and io.EOF", s.Records, err)
	}
	if got := int64(r.Header().BuffersWritten); got != s.Buffers {
		t.Errorf("the header says %d buffers, want %d", got, s.Buffers)
	}
}

func TestErrors(t *testing.T) {
	h := etltest.DefaultHeader()
	for _, test := range []struct {
		name string
		run  func(w *etltest.Writer) error
		want string
	}{
		{"too large", func(w *etltest.Writer) error {
			return w.Write(&etw.Record{Payload: make([]byte, 0x10000)})
		}, "a record of 65616 bytes"},
		{"larger than a buffer", func(w *etltest.Writer) error { return w.Raw(0, make([]byte, 2000)) }, "does not fit a buffer of 1024"},
		{"no class of the kernel", func(w *etltest.Writer) error {
			return w.WriteAs(etltest.FormSystem, &etw.Record{Provider: provider})
		}, "is not a class of kernel events"},
		{"no instance", func(w *etltest.Writer) error {
			return w.WriteAs(etltest.FormInstance, &etw.Record{Provider: provider})
		}, "an instance of 0 bytes"},
		{"no form", func(w *etltest.Writer) error { return w.WriteAs(99, &etw.Record{}) }, "unknown form"},
	} {
		h.BufferSize = 1024
		w := testio.Writer(t, etltest.NewWriter, new(bytes.Buffer), h)
		if err := test.run(w); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
	h.BufferSize = 100
	if _, err := etltest.NewWriter(new(bytes.Buffer), h); err == nil {
		t.Error("a buffer of 100 bytes")
	}
	h.BufferSize, h.SessionName = 1024, strings.Repeat("long", 200)
	if _, err := etltest.NewWriter(new(bytes.Buffer), h); err == nil {
		t.Error("a name that does not fit")
	}
	if _, err := etltest.NewWriter(fullDisk{}, etltest.DefaultHeader()); !errors.Is(err, errFull) {
		t.Errorf("error %v, want that of the disk", err)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
