package nettrace_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// benchmarkFiles are one trace with large payloads and one with small ones, many
// of them with stacks.
var benchmarkFiles = []struct{ name, file string }{
	{"HeartRateMonitor", "HeartRateMonitor.10068.nettrace"},
	{"NetCore3.0", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace"},
	{"NetCore2.1", "eventpipe-dotnetcore2.1-linux-x64-objver3.netperf"},
}

func BenchmarkFileOrder(b *testing.B) { benchmarkRead(b) }
func BenchmarkSorted(b *testing.B)    { benchmarkRead(b, nettrace.Sorted()) }

func benchmarkRead(b *testing.B, opts ...nettrace.Option) {
	for _, bm := range benchmarkFiles {
		b.Run(bm.name, func(b *testing.B) {
			data, err := os.ReadFile(corpus.File(b, "nettrace", bm.file))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			events := 0
			var rec etw.Record
			for b.Loop() {
				r, err := nettrace.NewReader(bytes.NewReader(data), opts...)
				if err != nil {
					b.Fatal(err)
				}
				for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
					events++
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
