package heap_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/gcdump"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

func snapshots(tb testing.TB, src etw.Source) []*heap.Snapshot {
	tb.Helper()
	var mux etw.Mux
	a := heap.New(&mux)
	if err := mux.Run(context.Background(), src); err != nil {
		tb.Fatal(err)
	}
	return a.Result().Snapshots
}

// The dumps of others have the bytes that they say, in as many objects as there are nodes
// that stand for no roots.
func TestDumps(t *testing.T) {
	want := map[string]int{"test1": 6482 - 1, "gcdump-analyze.leakypage": 0, "heapview.sample-monovm": 0}
	for _, path := range corpus.Glob(t, "recordings", "gcdump", "*.gcdump.gz") {
		f := testio.Open(t, trace.Open, path)
		d := f.Files()[0].Reader().(*gcdump.Reader).Dump()
		_, groups := d.Roots()
		s := snapshots(t, f)
		if len(s) != 1 || s[0].Bytes != uint64(d.TotalSize) || s[0].Objects != d.Nodes()-len(groups) || !s[0].Complete || s[0].Dangling != 0 {
			t.Errorf("%s: %+v", path, s)
			continue
		}
		if !s[0].AtMS.IsZero() {
			t.Errorf("%s: a snapshot at %v ms, and the file does not tell", path, s[0].AtMS)
		}
		if n := want[strings.TrimSuffix(filepath.Base(path), ".gcdump.gz")]; n != 0 && n != s[0].Objects {
			t.Errorf("%s: %d objects, want %d", path, s[0].Objects, n)
		}
		for _, typ := range s[0].Types {
			if strings.HasPrefix(typ.Type, "[static var") || strings.HasPrefix(typ.Type, "type 0x") {
				t.Errorf("%s: %v is a type of objects", path, typ)
			}
		}
	}
}

// A dump is a snapshot: roots have their kinds and names, and objects that nothing keeps are not
// alive.
func TestDumpOfParts(t *testing.T) {
	b := gcdump.NewBuilder(12)
	text, list := b.Type("Text", ""), b.Type("List", "a.dll")
	b.Set(0, b.Type(gcdump.RootType, ""), 0, 0, []int{1, 3, 5})
	b.Set(1, b.Type("[static vars]", ""), 0, 0, []int{2, 4})
	b.Set(2, b.Type("[static var Shop.all]", ""), 0, 0, []int{6})
	b.Set(4, b.Type("[thread static var Shop.mine]", ""), 0, 0, []int{7})
	b.Set(3, b.Type("[local vars]", ""), 0, 0, []int{7, 7})
	b.Set(5, b.Type("[strong Handles]", ""), 0, 0, []int{8, 0})
	b.Set(6, list, 0x100, 24, []int{7, 8, 6, 11}) // of which 11 is not walked
	b.Set(7, text, 0x200, 40, nil)
	b.Set(8, text, 0x200, 50, nil) // an address that is given twice
	b.Set(9, text, 0, 60, []int{10})
	b.Set(10, text, 0x300, 70, nil)
	d, err := b.Dump(0)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshots(t, gcdump.NewReader(d))[0]
	got := fmt.Sprint(s.PID, s.Objects, s.Bytes, s.ReachableObjects, s.ReachableBytes, s.References, s.Dangling, s.Roots, s.Complete)
	if want := "-1 5 244 3 114 4 1 [{static 1} {thread static 1} {handle 1} {stack 2}] true"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := fmt.Sprint(s.Path(0), s.Path(1), s.Path(2)); got != "[static Shop.all List] [thread static Shop.mine Text] [handle Text]" {
		t.Error(got)
	}
}
