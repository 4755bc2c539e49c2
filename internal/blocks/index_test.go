package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// indexed writes a file of some megabytes with places to begin at: of several threads, that are
// not in order between two places, kinds and stacks that come late, and payloads of all lengths.
func indexed(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.nettrace")
	f := testio.Create(t, path)
	defer f.Close()
	clock := etw.Clock{Frequency: 1e9, Start: 133e15}
	w, err := nettrace.NewWriter(f, nettrace.Header{Version: version, PointerSize: etw.Ptr64, Clock: clock, ProcessID: 7}, nettrace.WithoutOrder())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 40 {
		for thread := range 3 {
			for i := range 100 {
				r := etw.Record{
					Kind: etw.KindManifest, Provider: nettrace.ProviderGUID("Made"), ProviderName: "Made", ID: uint16(1 + round/7 + i%2), PointerSize: etw.Ptr64, ProcessID: 7, ThreadID: int64(thread),
					Timestamp: int64(round)*1e9 + int64(i)*1e6 + int64(thread), Clock: &clock, Payload: make([]byte, random.IntN(500)),
					Stack: etw.Stack{Addresses: etw.MakeInts[uint64](uint64(round), uint64(i%9)), PtrSize: etw.Ptr64},
				}
				testio.Add(t, w, &r)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	return path
}

// recordsFrom returns the records of a stream from a time on, as texts, and how many there were in all.
func recordsFrom(t *testing.T, src io.Reader, from time.Duration) (list []string, all int, err error) {
	t.Helper()
	r, err := nettrace.NewReader(src)
	if err != nil {
		return nil, 0, err
	}
	clock := r.Header().Clock
	for rec, err := range r.Records() {
		if err != nil {
			return nil, all, err
		}
		all++
		if at := clock.Elapsed(rec.Timestamp); at >= from {
			list = append(list, fmt.Sprint(at, rec.ThreadID, rec.ID, rec.Version, rec.ProviderName, len(rec.Payload), rec.Stack.Addresses))
		}
	}
	return list, all, nil
}

// TestIndex reads a file from many times on, with its index and without.
func TestIndex(t *testing.T) {
	path := indexed(t, 4)
	x, err := NewIndex(path)
	if err != nil || x == nil || len(x.points) < 10 {
		t.Fatalf("%+v, %v", x, err)
	}
	data := testio.Read(t, path)
	most := 0
	for from := time.Duration(0); from < 42*time.Second; from += 333 * time.Millisecond {
		want, all, err := recordsFrom(t, bytes.NewReader(data), from)
		if err != nil {
			t.Fatal(err)
		}
		later, err := x.Later(bytes.NewReader(data), int64(len(data)), from)
		if err != nil {
			t.Fatal(err)
		} else if later == nil {
			continue
		}
		got, read, err := recordsFrom(t, later, from)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("from %v: %d records, not %d, %v", from, len(got), len(want), err)
		}
		most = max(most, all-read)
	}
	if most < 7000 {
		t.Errorf("%d records are left out", most)
	}
}

// TestIndexNone has files in which one can begin at the begin alone.
func TestIndexNone(t *testing.T) {
	small := filepath.Join("..", "..", "tests", "recorded", "gc.nettrace")
	etl := filepath.Join("..", "..", "tests", "recorded", "service.etl")
	for _, path := range []string{small, etl, indexed(t, 6), "index.go"} {
		if x, err := NewIndex(path); x != nil || err != nil {
			t.Errorf("%s: %+v, %v", path, x, err)
		}
	}
	if _, err := NewIndex("nowhere"); err == nil {
		t.Error("a file that is not there has an index")
	}
	path := indexed(t, 4)
	x, err := NewIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	data := testio.Read(t, path)
	data = data[:x.points[5].at+100] // it became shorter
	later, err := x.Later(bytes.NewReader(data), int64(len(data)), time.Hour)
	if err != nil || later == nil {
		t.Fatalf("%v, %v", later, err)
	}
	if _, _, err := recordsFrom(t, later, 0); !errors.Is(err, etw.ErrIncomplete) {
		t.Errorf("of a file that was cut off: %v", err)
	}
	if _, err := x.Later(bytes.NewReader(data[:1000]), int64(len(data)), time.Hour); err == nil {
		t.Error("a begin that is not there was read")
	}
}
