package provider_test

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/provider"
)

// A later is a sink that is there once the session is, of which a file has the clock.
type later struct{ provider.Sink }

// TestFiles: the writers of files are sinks, and readers find the written events.
func TestFiles(t *testing.T) {
	var out bytes.Buffer
	for name, c := range map[string]struct {
		create func(*etw.Clock) (provider.Sink, io.Closer, error)
		open   func() (etw.Source, error)
	}{
		"etl": {
			func(clock *etw.Clock) (provider.Sink, io.Closer, error) {
				w, err := etl.NewWriter(&out, etl.Header{Clock: *clock})
				return w, w, err
			},
			func() (etw.Source, error) { return etl.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())) },
		},
		"nettrace": {
			func(clock *etw.Clock) (provider.Sink, io.Closer, error) {
				w, err := nettrace.NewWriter(&out, nettrace.Header{Clock: *clock, ProcessID: int64(os.Getpid()), PointerSize: etw.PtrSize(strconv.IntSize / 8)})
				return w, w, err
			},
			func() (etw.Source, error) { return nettrace.NewReader(bytes.NewReader(out.Bytes())) },
		},
	} {
		out.Reset()
		sink := new(later)
		l := provider.NewLocal(sink)
		w, closer, err := c.create(l.Clock())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sink.Sink = w
		p := provider.New(clr.Provider.Desc, provider.To(l))
		if err := p.Register(); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := p.Write(t.Context(), &clr.GCStartV1{Count: uint32(i)}); err != nil {
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
		etw.Handle(&mux, func(_ *etw.Record, e *clr.GCStartV1) error {
			if e.Count != n {
				t.Errorf("%s: event %d is %v", name, n, e)
			}
			n++
			return nil
		})
		if err := mux.Run(t.Context(), src); err != nil || n != 10 {
			t.Errorf("%s: %d events: %v", name, n, err)
		}
	}
}
