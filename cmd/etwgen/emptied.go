package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/gen"
)

// emptied is the text that go generate finds in place of a file that it has listed and that is
// no longer needed: it would fail without. It is not listed again, so that the next run removes
// it.
var emptied = []byte(gen.Header + `

//go:build ignore

// Nothing is left here. The next run of etwgen gen removes this file.
package empty
`)

// withEmptied returns files, and under go generate also the replacements of the old ones that
// are no longer needed.
func withEmptied(old map[string][]byte, files []gen.File, stderr io.Writer) []gen.File {
	if os.Getenv("GOFILE") == "" {
		return files
	}
	for _, name := range slices.Sorted(maps.Keys(unneeded(old, files))) {
		if strings.HasSuffix(name, ".go") {
			fmt.Fprintf(stderr, "etwgen: %s is empty now, since go generate still reads it; delete it, or generate again\n", name)
			files = append(files, gen.File{Name: name, Content: emptied})
		}
	}
	return files
}

// unneeded returns the old files that are not among files, but for those that are empty already.
func unneeded(old map[string][]byte, files []gen.File) map[string][]byte {
	rest := maps.Clone(old)
	for _, f := range files {
		delete(rest, f.Name)
	}
	maps.DeleteFunc(rest, func(_ string, content []byte) bool { return bytes.Equal(content, emptied) })
	return rest
}
