package nettrace_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

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

// unpacked returns the content of a file, which may be a .gz file.
func unpacked(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func BenchmarkFileOrder(b *testing.B) { benchmarkRead(b, nettrace.WithFileOrder()) }
func BenchmarkSorted(b *testing.B)    { benchmarkRead(b) }

func benchmarkRead(b *testing.B, opts ...nettrace.Option) {
	for _, bm := range benchmarkFiles {
		b.Run(bm.name, func(b *testing.B) {
			data := unpacked(b, corpus.File(b, bm.folder, bm.file))
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
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
