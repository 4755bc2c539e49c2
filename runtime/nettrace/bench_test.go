package nettrace_test

import (
	"io"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// benchmarkFiles are traces with large payloads and with small ones, with many
// stacks and with few, and with as many events of several threads as of one.
var benchmarkFiles = []struct{ name, folder, file string }{
	{"HeartRateMonitor", "nettrace", "HeartRateMonitor.10068.nettrace"},
	{"NetCore3.0", "nettrace", "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace"},
	{"NetCore2.1", "nettrace", "eventpipe-dotnetcore2.1-linux-x64-objver3.netperf"},
	{"Web", "dotnet10", "eventsource-web.nettrace.gz"},
	{"Inlining", "dotnet10", "jit-inlining.nettrace"},
	{"GC", "dotnet10", "gc-many.nettrace"},
}

func BenchmarkFileOrder(b *testing.B) { benchmarkRead(b, nettrace.WithFileOrder()) }
func BenchmarkSorted(b *testing.B)    { benchmarkRead(b) }

func benchmarkRead(b *testing.B, opts ...nettrace.Option) {
	for _, bm := range benchmarkFiles {
		b.Run(bm.name, func(b *testing.B) {
			data := testio.Unpacked(b, corpus.File(b, bm.folder, bm.file))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			events := 0
			var rec etw.Record
			for b.Loop() {
				r := testio.Reader(b, nettrace.NewReader, data, opts...)
				err := r.Next(&rec)
				for ; err == nil; err = r.Next(&rec) {
					events++
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
