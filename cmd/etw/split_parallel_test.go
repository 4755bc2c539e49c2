package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestExportOnProcessors says that the files of events have the same bytes with any number of
// processors, of traces that are whole and cut.
func TestExportOnProcessors(t *testing.T) {
	dir := t.TempDir()
	b := testio.Read(t, "../../tests/recorded/jit.nettrace")
	cut := filepath.Join(dir, "cut.nettrace")
	testio.Write(t, cut, b[:len(b)*2/3])
	for _, format := range []string{"jsonl", "csv"} {
		for code, traces := range [][]string{{"../../tests/recorded/jit.nettrace", "../../tests/recorded/eventsource.netperf"}, {cut}} {
			written := func(processors int) (string, map[string]string) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				out := filepath.Join(dir, fmt.Sprint(format, code, processors))
				stdout, stderr, got := output(append([]string{"export", "--format", format, "-o", out}, traces...)...)
				if got != code {
					t.Fatalf("%s: exit code %d: %s", format, got, stderr)
				}
				all := make(map[string]string)
				entries, err := os.ReadDir(out)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					text := testio.Read(t, filepath.Join(out, e.Name()))
					all[e.Name()] = string(text)
				}
				return stdout, all
			}
			said, want := written(1)
			for _, n := range []int{2, 5} {
				also, got := written(n)
				if said != also || len(got) != len(want) || len(want) < 5 {
					t.Errorf("%s, %d processors: %d files, %s; with one %d, %s", format, n, len(got), also, len(want), said)
				}
				for name, text := range want {
					if got[name] != text {
						t.Errorf("%s, %d processors: %s differs", format, n, name)
					}
				}
			}
		}
	}
}
