package etl_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
)

func TestStrings(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{(etl.ModeCircular | etl.ModeCompressed).String(), "circular|compressed"},
		{etl.LogFileMode(0).String(), "none"},
		{etl.ClockRaw.String(), "raw"},
		{etl.ClockQPC.String(), "performance counter"},
		{etl.ClockSystemTime.String(), "system time"},
		{etl.ClockCycles.String(), "processor cycles"},
		{etl.ClockType(9).String(), "unknown"},
		{etl.CompressionLZNT1.String(), "LZNT1"},
		{etl.CompressionXpressHuffman.String(), "XPRESS Huffman"},
		{etl.Compression(9).String(), "unknown"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
