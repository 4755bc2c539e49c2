package conformance

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
)

// FuzzGenerate checks that manifests that the parser accepts in lenient mode can be
// generated and compiled. In strict mode names may clash; nothing else may go wrong there
// either.
func FuzzGenerate(f *testing.F) {
	seeds := testio.Glob(f, filepath.Join("..", "golden", "*", "in.man"))
	for _, path := range seeds {
		text := testio.Read(f, path)
		f.Add(text)
	}
	check := newChecker(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, lenient := range []bool{false, true} {
			m, _, err := manifest.Parse("fuzz.man", text, manifest.Options{Lenient: lenient})
			if err != nil {
				continue
			}
			for i := range m.Providers {
				files, err := gen.Generate(m, gen.Options{Package: "p", Provider: fmt.Sprintf("#%d", i+1), Lenient: lenient, Tests: true})
				if err != nil && !lenient {
					continue
				}
				if err == nil {
					err = check.files(files)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
}
