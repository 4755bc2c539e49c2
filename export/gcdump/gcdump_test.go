package gcdump_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/export/gcdump"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	dumps "github.com/etwgen/etwgen/runtime/gcdump"
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

func recorded(tb testing.TB) *heap.Snapshot {
	tb.Helper()
	t := testio.Open(tb, trace.Open, "../../tests/recorded/heapdump.nettrace")
	defer t.Close()
	all := snapshots(tb, t)
	if len(all) != 1 {
		tb.Fatalf("%d snapshots", len(all))
	}
	return all[0]
}

// A file written of a trace, read again, is the heap of the trace: objects, types, roots,
// retained bytes, and by which paths.
func TestSameHeap(t *testing.T) {
	want := recorded(t)
	var file bytes.Buffer
	if err := gcdump.Write(&file, want); err != nil {
		t.Fatal(err)
	}
	d, err := dumps.Read(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if uint64(d.TotalSize) != want.Bytes {
		t.Errorf("%d bytes, want %d", d.TotalSize, want.Bytes)
	}
	got := snapshots(t, dumps.NewReader(d))[0]
	of := func(s *heap.Snapshot) string {
		text, err := json.MarshalIndent([]any{s.PID, s.Objects, s.Bytes, s.References, s.Complete, s.ReachableObjects, s.ReachableBytes, s.UnreachableBytes, s.Roots, s.Types, s.Largest, s.Held, s.EachRoot()}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if diff := cmp.Diff(of(want), of(got)); diff != "" {
		t.Error(diff)
	}
	var again bytes.Buffer
	if err := gcdump.Write(&again, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("what is read is written to other bytes")
	}
}

func Example() {
	t, err := trace.Open("../../tests/recorded/heapdump.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	a := heap.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := gcdump.Write(&file, a.Result().Snapshots[0]); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dumps.Recognizes(file.Bytes()))
	// Output: true
}
