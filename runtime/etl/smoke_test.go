package etl

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

func TestSmoke(t *testing.T) {
	for _, p := range corpus.Glob(t, "etl", "*.etl") {
		r, err := Open(p)
		if err != nil {
			t.Error(err)
			continue
		}
		var rec etw.Record
		for {
			err := r.Next(&rec)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Error(err)
			}
		}
		s := r.Stats()
		t.Logf("%s %+v", filepath.Base(p), s)
		t.Logf("%+v", r.Header())
		r.Close()
	}
}
func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"net.4.5.2.x64.etl", "diaghub.user_paged.1.etl", "diaghub.etl"} {
		p := corpus.File(b, "etl", name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				r, err := Open(p)
				if err != nil {
					b.Fatal(err)
				}
				var rec etw.Record
				for r.Next(&rec) == nil {
					n++
				}
				r.Close()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rec/s")
		})
	}
}
