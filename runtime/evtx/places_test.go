package evtx

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShifted inserts and deletes bytes anywhere behind the header of a log: chunks behind them are
// found where they are, their records and those of the damaged chunk but one or two are as they
// were, and the damage is said.
func TestShifted(t *testing.T) {
	chunk := func(first int) []byte {
		w := newLog()
		for i := range 20 {
			w.event(uint16(i), w.order, text("tea"), number(byte(i)))
		}
		return w.chunk(first)
	}
	whole := log(chunk(1), chunk(21), chunk(41))
	lines := read(t, whole).lines
	random := rand.New(rand.NewPCG(1, 2))
	all, tries := 0, 200
	for range tries {
		at, n := headerBlock+random.IntN(len(whole)-headerBlock), 1+random.IntN(128)
		data := slices.Concat(whole[:at], bytes.Repeat([]byte{'x'}, n), whole[at:])
		if random.IntN(2) == 0 {
			data = slices.Concat(whole[:at], whole[min(at+n, len(whole)):])
		}
		is := read(t, data)
		if is.err == nil {
			t.Errorf("%d bytes more at byte %d: no word of it", len(data)-len(whole), at)
		}
		lost := len(lines)
		for _, line := range is.lines {
			if slices.Contains(lines, line) {
				lost--
			}
		}
		if all += lost; lost > 21 {
			t.Errorf("%d bytes more at byte %d: %d of %d records are lost", len(data)-len(whole), at, lost, len(lines))
		}
	}
	if all > 2*tries {
		t.Errorf("%d records are lost of %d logs, %d each", all, tries, len(lines))
	}
}
