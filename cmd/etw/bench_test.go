package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// BenchmarkCommands runs whole commands. Events per second are those of the
// trace.
func BenchmarkCommands(b *testing.B) {
	for _, command := range []string{"stat", "stat --by event --sum MethodSize", "dump --format jsonl", "dump --format text", "dump --format csv", "dump --event GCStart*", "dump --where Reason=Induced"} {
		for _, name := range []string{"nettrace/HeartRateMonitor.10068.nettrace", "etl/net.4.5.2.x64.etl"} {
			b.Run(command+"/"+filepath.Base(name), func(b *testing.B) {
				path := corpus.File(b, filepath.FromSlash(name))
				events := countEvents(b, path)
				info, err := os.Stat(path)
				if err != nil {
					b.Fatal(err)
				}
				args := append(strings.Fields(command), path)
				b.SetBytes(info.Size())
				b.ReportAllocs()
				for b.Loop() {
					if code := run(args, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
						b.Fatalf("exit code %d", code)
					}
				}
				b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// countEvents returns how many events the reader delivers.
func countEvents(tb testing.TB, path string) (n int64) {
	tb.Helper()
	sources, err := trace.OpenFiles(path)
	if err != nil {
		tb.Fatal(err)
	}
	var rec etw.Record
	for _, s := range sources {
		for {
			err := s.Next(&rec)
			if err == io.EOF {
				break
			}
			if err == nil {
				n++
			}
		}
		s.Close()
	}
	return n
}
