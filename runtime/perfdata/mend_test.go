package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// TestMend: whatever stands in the header of one record, those behind it are found again, and a
// file that is cut off between two records says so.
func TestMend(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	const records, broken = 20, 7
	var list [][]byte
	for i := range records {
		list = append(list, m.sample(testClock, int64(1_000_000_300+i), nil, 0x401000))
	}
	file := m.file(list...)
	start, size := int(binary.LittleEndian.Uint64(file[40:])), len(list[0])
	for name, head := range map[string][]byte{
		"no size":       {9, 0, 0, 0, 0, 0, 3, 0},
		"no type":       {9, 0, 0, 9, 0, 0, byte(size), 0},
		"too large":     {9, 0, 0, 0, 0, 0, 0xf8, 0xff},
		"over the next": {9, 0, 0, 0, 0, 0, byte(2 * size), 0},
		"short":         {9, 0, 0, 0, 0, 0, byte(size - 8), 0},
	} {
		bad := bytes.Clone(file)
		copy(bad[start+broken*size:], head)
		r, err := NewReader(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := told(r)
		if len(got) < records-1 || len(got) > records || !errors.Is(err, etw.ErrIncomplete) {
			t.Errorf("%s: %d of %d records, %v", name, len(got), records, err)
		}
	}
	cut := file[:start+broken*size]
	r := testio.ReaderAt(t, NewReader, cut)
	if got, err := told(r); len(got) != broken || err == nil || !strings.Contains(err.Error(), "bytes of data") {
		t.Errorf("cut off: %d records, %v", len(got), err)
	}
}

// TestType: a wrong bit in the type of a record makes another one of it, or one that counts as
// damaged: it is never passed over without a word.
func TestType(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	list := [][]byte{m.side(1_000_000_200, perfevent.TypeComm, 0, uint32(7), uint32(8), "baker")}
	for i := range 9 {
		list = append(list, m.sample(testClock, int64(1_000_000_300+i), nil, 0x401000, 0x402000))
	}
	for kind, row := range map[string]int{"comm": 0, "sample": 4} {
		file := m.file(list...)
		at := int(binary.LittleEndian.Uint64(file[40:])) + row*len(list[1])
		if row > 0 {
			at += len(list[0]) - len(list[1])
		}
		want := readAll(t, file)
		for bit := range 32 {
			bad := bytes.Clone(file)
			bad[at+bit/8] ^= 1 << (bit % 8)
			if got := readAll(t, bad); got.records < want.records && got.err == nil && got.stats.Undecodable == 0 {
				t.Errorf("%s, bit %d: %d of %d records, and no word of it", kind, bit, got.records, want.records)
			}
		}
	}
}

// An all has the contents of a file.
type all struct {
	records int
	first   int64 // the time of the first
	stats   Stats
	err     error
}

func readAll(t *testing.T, file []byte) (a all) {
	t.Helper()
	r := testio.ReaderAt(t, NewReader, file)
	for rec, err := range r.Records() {
		if err != nil {
			a.err = err
			continue
		}
		if a.records++; a.records == 1 {
			a.first = rec.Timestamp
		}
	}
	a.stats = r.Stats()
	return a
}

// TestDoubt: where bytes came between two records, those at the end of the one before are no time of
// it: they neither begin the recording, nor do they make later ones as late.
func TestDoubt(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	var list [][]byte
	for i := range 20 {
		list = append(list, m.sample(testClock, int64(1_000_000_300+i), nil, 0x401000))
	}
	for _, wrong := range []int64{3, 1 << 60} {
		comm := m.side(1_000_000_305, perfevent.TypeComm, 0, uint32(7), uint32(8), "baker")
		bad := m.side(wrong, perfevent.TypeComm, 0, uint32(7), uint32(8), "baker")
		file := m.file(slices.Concat(list[:6], [][]byte{comm}, list[6:])...)
		want := readAll(t, file)
		file = m.file(slices.Concat(list[:6], [][]byte{bad, []byte("somebody")}, list[6:])...)
		got := readAll(t, file)
		if got.first != want.first || got.records < want.records-2 || got.err == nil {
			t.Errorf("a time of %d: %d of %d records, the first at %d, not %d, %v", wrong, got.records, want.records, got.first, want.first, got.err)
		}
	}
}
