package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
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
	r, err := NewReader(bytes.NewReader(cut), int64(len(cut)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := told(r); len(got) != broken || err == nil || !strings.Contains(err.Error(), "bytes of data") {
		t.Errorf("cut off: %d records, %v", len(got), err)
	}
}
