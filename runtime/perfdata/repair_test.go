package perfdata

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestRepair flips bits of the header of a real file, and lets bytes come into its data and go
// from them: all records come, but those of the place itself, and the damage is said.
func TestRepair(t *testing.T) {
	whole, err := os.ReadFile(corpus.File(t, "recordings", "perfdata", "perf-6.1-cpu-clock-fp.data"))
	if err != nil {
		t.Fatal(err)
	}
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
	for bit := 0; bit < 8*bitmapAt; bit += 3 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		n, err := count(b)
		quiet := bit/8 >= 56 // where old versions had something
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
