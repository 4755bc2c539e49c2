package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// same returns how many records of a damaged file are the same as those of the whole one, and its error.
func same(t *testing.T, whole []byte) (want int, of func(b []byte) (int, error)) {
	read := func(b []byte) (sums map[uint64]int, n int, err error) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return nil, 0, err
		}
		sums = make(map[uint64]int)
		for rec, e := range r.Records() {
			if err = errors.Join(err, e); rec != nil && e == nil {
				n++
				sums[maphash.Bytes(seed, rec.Payload)^uint64(rec.Timestamp)*3^uint64(rec.ID)<<32]++
			}
		}
		return sums, n, err
	}
	all, want, err := read(whole)
	if err != nil || want < 50 {
		t.Fatal(want, err)
	}
	return want, func(b []byte) (n int, err error) {
		sums, _, err := read(b)
		for sum, times := range sums {
			n += min(times, all[sum])
		}
		return n, err
	}
}

// TestRepairBitmap flips each bit that says which features there are, in a file of several events:
// all records are as they were.
func TestRepairBitmap(t *testing.T) {
	whole := testio.Read(t, corpus.File(t, "eventheader", "perf.data"))
	want, of := same(t, whole)
	for bit := 8 * bitmapAt; bit < 8*headerSize; bit++ {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if n, err := of(b); n != want || !errors.Is(err, etw.ErrIncomplete) {
			t.Errorf("bit %d of byte %d: %d of %d records, %v", bit%8, bit/8, n, want, err)
		}
	}
}

// TestFeatureless: a file may have nothing behind its data.
func TestFeatureless(t *testing.T) {
	whole := testio.Read(t, corpus.File(t, "recordings", "perfdata", "perf-6.1-cpu-clock-fp.data"))
	whole = whole[:264+binary.LittleEndian.Uint64(whole[48:])] // the header, and the data
	clear(whole[bitmapAt:headerSize])
	r := testio.ReaderAt(t, NewReader, whole)
	n := 0
	for _, e := range r.Records() {
		if n++; e != nil {
			t.Error(e)
		}
	}
	if n < 100 || r.Stats().Samples == 0 {
		t.Errorf("%d records, %+v", n, r.Stats())
	}
}

// TestCopies flips bits of the table of events, of which a second copy is behind the data, and bits of
// that: all records are as they were, as it tells which of the two is right that records are laid out
// by it, or the name of the event.
func TestCopies(t *testing.T) {
	for _, path := range corpus.Glob(t, "recordings", "perfdata", "*.data") {
		whole := testio.Read(t, path)
		r := testio.ReaderAt(t, NewReader, whole)
		table := r.sections(whole).attrs
		second := bytes.LastIndex(whole, whole[table.offset:table.offset+attrLeast])
		if int64(second) <= table.offset {
			t.Fatalf("%s: there is one copy", path)
		}
		want, of := same(t, whole)
		for _, at := range []int{int(table.offset), second} {
			for bit := 8 * at; bit < 8*(at+attrLeast); bit++ {
				b := bytes.Clone(whole)
				b[bit/8] ^= 1 << (bit % 8)
				if n, err := of(b); n != want || err != nil && !errors.Is(err, etw.ErrIncomplete) {
					t.Errorf("%s: bit %d of byte %d: %d of %d records, %v", path, bit%8, bit/8, n, want, err)
				}
			}
		}
	}
}

var seed = maphash.MakeSeed()

// TestRepair flips bits of the header of a real file, and lets bytes come into its data and go
// from them: all records come, but those of the place itself, and the damage is said.
func TestRepair(t *testing.T) {
	whole := testio.Read(t, corpus.File(t, "recordings", "perfdata", "perf-6.1-cpu-clock-fp.data"))
	count := func(b []byte) (n int, err error) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return 0, err
		}
		for rec, e := range r.Records() {
			if err = errors.Join(err, e); rec != nil && e == nil {
				n++
			}
		}
		return n, err
	}
	want, err := count(whole)
	if err != nil || want < 400 {
		t.Fatal(want, err)
	}
	for bit := 0; bit < 8*headerSize; bit += 3 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		n, err := count(b)
		quiet := bit/8 >= 56 && bit/8 < bitmapAt // where old versions had something
		if n != want || errors.Is(err, etw.ErrIncomplete) == quiet {
			t.Errorf("bit %d of byte %d: %d of %d records, %v", bit%8, bit/8, n, want, err)
		}
	}
	for at := 400; at < len(whole); at += len(whole) / 20 {
		for name, b := range map[string][]byte{
			"more": slices.Concat(whole[:at], []byte("something"), whole[at:]),
			"32":   slices.Concat(whole[:at], make([]byte, 32), whole[at:]), // which look like a bit of the size
			"less": slices.Concat(whole[:at], whole[min(len(whole), at+9):]),
		} {
			if n, err := count(b); n < want-20 || !errors.Is(err, etw.ErrIncomplete) {
				t.Errorf("%s bytes at %d: %d of %d records, %v", name, at, n, want, err)
			}
		}
	}
}
