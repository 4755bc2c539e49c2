package bench

import (
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
)

// BenchmarkGenerate generates the packages of the .NET runtime's four providers
// from their manifest.
func BenchmarkGenerate(b *testing.B) {
	path := filepath.Join("..", "..", "generated", "clr", "clr.man")
	events, size := 0, 0
	for b.Loop() {
		m := testio.ParseFile(b, manifest.ParseFile, path, manifest.Options{})
		for _, p := range m.Providers {
			files, err := gen.Generate(m, gen.Options{Package: "p", Provider: p.Name, Tests: true})
			if err != nil {
				b.Fatal(err)
			}
			events += len(p.Events)
			for _, f := range files {
				size += len(f.Content)
			}
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(size)/float64(b.N)/1e3, "kB-generated")
}
