package etl_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An unseen file is one in memory that the Reader does not know to be there.
type unseen struct{ io.ReaderAt }

// sameInMemory fails unless a file says the same where it lies in memory as it does when
// it is copied.
func sameInMemory(t *testing.T, data []byte) {
	t.Helper()
	inPlace, err := etl.NewReader(bytes.NewReader(data), int64(len(data)))
	copied, errCopied := etl.NewReader(unseen{bytes.NewReader(data)}, int64(len(data)))
	if (err == nil) != (errCopied == nil) || err != nil && err.Error() != errCopied.Error() {
		t.Fatalf("error %v, copied %v", err, errCopied)
	}
	if err != nil {
		return
	}
	defer inPlace.Close()
	defer copied.Close()
	before := bytes.Clone(data)
	a, err := readAll(inPlace)
	b, errCopied := readAll(copied)
	if (err == nil) != (errCopied == nil) || err != nil && err.Error() != errCopied.Error() {
		t.Fatalf("error %v, copied %v", err, errCopied)
	}
	same := func(a, b *etw.Record) bool {
		return a.Key() == b.Key() && a.Timestamp == b.Timestamp && a.Processor == b.Processor && a.ProcessID == b.ProcessID &&
			a.ThreadID == b.ThreadID && a.ProviderName == b.ProviderName && (a.Schema == nil) == (b.Schema == nil) &&
			bytes.Equal(a.Payload, b.Payload) && bytes.Equal(a.Stack.Addresses, b.Stack.Addresses) && len(a.Extended) == len(b.Extended)
	}
	if !slices.EqualFunc(a, b, same) {
		t.Fatalf("%d records, copied %d, or they differ", len(a), len(b))
	}
	if diff := cmp.Diff(counts(copied.Stats()), counts(inPlace.Stats())); diff != "" {
		t.Fatalf("(-copied +in place)\n%s", diff)
	}
	if !bytes.Equal(before, data) {
		t.Fatal("the memory of the file was written to")
	}
}

// counts returns statistics whose damages are counted, not shown.
func counts(s etl.Stats) etl.Stats {
	s.Damage = etw.DamageLog{Count: s.Damage.Count}
	return s
}

// TestInMemory reads a sound file, and the same with each of many faults.
func TestInMemory(t *testing.T) {
	for _, c := range compressions {
		data, _ := damagedTrace(t, c)
		sameInMemory(t, data)
		for at := 0; at < len(data); at += 1 + len(data)/41 {
			broken := bytes.Clone(data)
			broken[at] ^= 0x55
			sameInMemory(t, broken)
			sameInMemory(t, data[:at])
		}
	}
}

// TestInMemoryMoved: the place in a bytes.Reader that was read from before does not matter,
// and stays, and bytes behind the given size are no part of the file.
func TestInMemoryMoved(t *testing.T) {
	data, _ := damagedTrace(t, etl.CompressionNone)
	want := len(mustReadAll(t, newReader(t, data)))
	src := bytes.NewReader(append(bytes.Clone(data), data...))
	src.Seek(100, io.SeekStart)
	r, err := etl.NewReader(src, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(mustReadAll(t, r)); n != want {
		t.Errorf("%d records, want %d", n, want)
	}
	if at, _ := src.Seek(0, io.SeekCurrent); at != 100 {
		t.Errorf("the place is %d, want 100", at)
	}
}
