package nettrace_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// TestFlippedStart flips every bit of the bytes before the first block. All events come, but
// where the trace looks like one of a version to come.
func TestFlippedStart(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		data := smallTrace(version)
		whole, _ := mustRead(t, data)
		start := sections(t, data)[0].start
		refused := 0
		for bit := range 8 * start {
			data[bit/8] ^= 1 << (bit % 8)
			if bit < 8*24 && !nettrace.Recognizes(data[:32]) {
				t.Errorf("version %d, bit %d: not recognized", version, bit)
			}
			recs, r, err := readStream(t, data)
			data[bit/8] ^= 1 << (bit % 8)
			switch {
			case r == nil && errors.Is(err, nettrace.ErrVersion):
				refused++
			case r == nil:
				t.Errorf("version %d, bit %d of byte %d: %v", version, bit%8, bit/8, err)
			case !slices.EqualFunc(recs, whole, func(a, b *etw.Record) bool { return a.Timestamp == b.Timestamp && bytes.Equal(a.Payload, b.Payload) }):
				t.Errorf("version %d, bit %d of byte %d: %d of %d events (%v)", version, bit%8, bit/8, len(recs), len(whole), err)
			case bit < 8*12 && err == nil:
				t.Errorf("version %d, bit %d of byte %d: nothing was said of it", version, bit%8, bit/8)
			}
		}
		if refused > 8*start/100 {
			t.Errorf("version %d: %d of %d flips make another version", version, refused, 8*start)
		}
	}
}

// TestRecognizes is about other files than traces.
func TestRecognizes(t *testing.T) {
	for _, text := range []string{"", "Nettrace", "Nettrace is a format, and this is a text", "PK\x03\x04                              "} {
		if nettrace.Recognizes([]byte(text)) {
			t.Errorf("%q is recognized", text)
		}
	}
	if nettrace.Recognizes(make([]byte, 100)) {
		t.Error("zeros are recognized")
	}
}
