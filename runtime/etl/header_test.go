package etl_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
)

func TestStrings(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{(etl.ModeCircular | etl.ModeCompressed).String(), "circular|compressed"},
		{etl.LogFileMode(0).String(), "none"},
		{etl.ClockQPC.String(), "performance counter"},
		{etl.ClockType(9).String(), "unknown"},
		{etl.CompressionXpressHuffman.String(), "XPRESS Huffman"},
		{etl.Compression(9).String(), "unknown"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
