package manifest_test

import (
	"bytes"
	"encoding/xml"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// BenchmarkParse reads and checks the newest manifest of the CLR, and the dumps
// of a whole Windows. Each run also walks over the tokens of the same bytes
// with encoding/xml alone; x-tokens is the ratio of the two times.
func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct {
		name    string
		files   []string
		lenient bool
	}{
		{"clr", []string{corpus.File(b, "manifests", "clr", "ClrEtwAll.latest-partial.man")}, false},
		{"win10", corpus.Glob(b, "manifests", "win10-17134", "*"), true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var sources [][]byte
			total := 0
			for _, file := range bb.files {
				data := testio.Read(b, file)
				sources = append(sources, data)
				total += len(data)
			}
			b.SetBytes(int64(total))
			b.ReportAllocs()
			events := 0
			var walking time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				for _, src := range sources {
					walkTokens(src)
				}
				walking += time.Since(start)
				b.StartTimer()
				for _, src := range sources {
					m, _, err := manifest.Parse("b.man", src, manifest.Options{Lenient: bb.lenient})
					if err != nil {
						continue // the corpus has some that are not well-formed
					}
					for _, p := range m.Providers {
						events += len(p.Events)
					}
				}
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(b.Elapsed().Seconds()/walking.Seconds(), "x-tokens")
		})
	}
}

// walkTokens reads all tokens of a document.
func walkTokens(src []byte) {
	d := xml.NewDecoder(bytes.NewReader(src))
	for {
		if _, err := d.Token(); err != nil {
			return
		}
	}
}
