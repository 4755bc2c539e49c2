package parquet_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// contents returns all that an export with so many processors writes: files by their names, without
// that of the run, and the facts of the manifest.
func contents(t *testing.T, path string, processors int, o parquet.Options) map[string]string {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	o.Dir, o.Trace, o.ID = t.TempDir(), "a", "content"
	src := testio.Open(t, trace.Open, path)
	defer src.Close()
	o.Decoder = builtin.NewDecoder()
	m, err := parquet.Export(context.Background(), src, o, func() parquet.Losses { return parquet.Losses{Lost: src.Stats().Lost} })
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"manifest": fmt.Sprint(m.Events, m.PayloadBytes, m.Undescribed, m.Undecodable, m.Bytes, m.Complete, m.Losses)}
	for _, f := range m.Files {
		b := testio.Read(t, filepath.Join(o.Dir, filepath.FromSlash(f.Path)))
		name := strings.Replace(f.Path, m.Run, "", 1)
		all[name] = string(b)
		all["facts of "+name] = fmt.Sprint(f.Table, f.Provider, f.Event, f.Rows, f.Bytes, f.IDs, f.Versions, f.First, f.Last)
	}
	return all
}

// TestAnyProcessors says that an export writes the same bytes with any number of processors, also
// where rows do not fit into the memory and files are ended early, of files that are whole and cut.
func TestAnyProcessors(t *testing.T) {
	for _, path := range parallelTraces(t) {
		for processors, memory := range map[int]int{2: 0, 5: 10_000} {
			o := parquet.Options{MaxMemory: memory, RowGroup: 1000}
			want, got := contents(t, path, 1, o), contents(t, path, processors, o)
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if got[name] != want[name] {
					t.Errorf("%s, %d processors: %s differs", filepath.Base(path), processors, name)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s, %d processors: %d files, not %d", filepath.Base(path), processors, len(got)/2, len(want)/2)
			}
		}
	}
}

// parallelTraces returns traces, and one that is cut.
func parallelTraces(t *testing.T) []string {
	list := testio.Glob(t, "../../tests/recorded/*.nettrace")
	if corpus.All() {
		list = append(list, corpus.Some(t, corpus.Traces(t))...)
	}
	b := testio.Read(t, list[0])
	cut := filepath.Join(t.TempDir(), "cut.nettrace")
	testio.Write(t, cut, b[:len(b)*2/3])
	return append(list, cut)
}
