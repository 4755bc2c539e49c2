package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestWantedKinds asks for events by their names, for which readers leave out all others,
// and again with an end far behind the trace, for which they leave out none: what is
// printed, what is said of losses and the exit code are the same.
func TestWantedKinds(t *testing.T) {
	files := testio.Glob(t, "../../tests/recorded/*.nettrace")
	for _, path := range append(files, corpus.Share(corpus.Glob(t, "dotnet10/*.nettrace"), 5)...) {
		data := testio.Read(t, path)
		cut := filepath.Join(t.TempDir(), filepath.Base(path))
		testio.Write(t, cut, data[:len(data)*2/3])
		for _, line := range []string{
			"stat -e GC*",
			"stat -e MethodLoadVerbose -w MethodSize>100 --by thread,process",
			"stat -p clr --by event,process --from 100ms",
			"stat -e NoSuchEvent",
			"dump -e GCStart --format jsonl",
			"dump -e *Start* --limit 50",
			"dump -p Microsoft-* -e *Stop --format csv",
		} {
			for _, file := range []string{path, cut} {
				args := append(strings.Fields(line), file)
				out, said, code := output(args...)
				all, saidOfAll, codeOfAll := output(append(args, "--to", "1000h")...)
				if out != all || said != saidOfAll || code != codeOfAll {
					t.Errorf("etw %v: exit code %d\n%s%s\nand if none is left out %d\n%s%s", args, code, out, said, codeOfAll, all, saidOfAll)
				}
			}
		}
	}
}
