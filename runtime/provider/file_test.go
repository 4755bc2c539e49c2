package provider_test

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/provider"
)

// TestFiles: the writers of files are sinks, and readers find the written events, also of a
// provider whose GUID is not made of its name.
func TestFiles(t *testing.T) {
	var out bytes.Buffer
	for name, c := range map[string]struct {
		create func() (provider.Sink, io.Closer, error)
		open   func() (etw.Source, error)
	}{
		"etl": {
			func() (provider.Sink, io.Closer, error) {
				w, err := etl.NewWriter(&out, etl.Header{})
				return w, w, err
			},
			func() (etw.Source, error) { return etl.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())) },
		},
		"nettrace": {
			func() (provider.Sink, io.Closer, error) {
				w, err := nettrace.NewWriter(&out, nettrace.Header{ProcessID: int64(os.Getpid()), PointerSize: etw.PtrSize(strconv.IntSize / 8)})
				return w, w, err
			},
			func() (etw.Source, error) { return nettrace.NewReader(bytes.NewReader(out.Bytes())) },
		},
	} {
		out.Reset()
		before := time.Now().Add(-time.Millisecond)
		w, closer, err := c.create()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := provider.New(process.Provider.Desc, provider.To(provider.NewLocal(w)))
		if err := p.Register(); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := p.Write(t.Context(), &process.StartV2{ProcessID: uint32(i)}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if err := closer.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		src, err := c.open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := uint32(0)
		var mux etw.Mux
		etw.Handle(&mux, func(r *etw.Record, e *process.StartV2) error {
			if e.ProcessID != n || r.Time().Before(before) || r.Time().After(time.Now()) {
				t.Errorf("%s: event %d of %v is %v", name, n, r.Time(), e)
			}
			n++
			return nil
		})
		if err := mux.Run(t.Context(), src); err != nil || n != 10 {
			t.Errorf("%s: %d events: %v", name, n, err)
		}
	}
}
