package wevt_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// inUTF16 returns the bytes of a text as resources have them.
func inUTF16(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// TestBadNames damages names: no manifest can have the results.
func TestBadNames(t *testing.T) {
	_, res := compiled(t, 5)
	for _, tt := range []struct{ from, to, says string }{
		{"Where", "Whe\u0000e", "does not end where its size says"},
		{"Where", "Wh re", "no name of an element or attribute"},
		{"kind", "k\"nd", "no name of an element or attribute"},
		{"about ", "ab\u0001ut ", "has characters that no XML has"},
		{"Money", "M\u0002ney", "which is none"},
		{"Article", "\uffffrticle", "which is none"},
		{"Return", strings.Repeat("\u0000", 6), `a name is ""`},
	} {
		b := bytes.ReplaceAll(res.Templates, inUTF16(tt.from), inUTF16(tt.to))
		damaged := wevt.Resources{Templates: b, Messages: res.Messages}
		_, _, err := wevt.Decode("x", damaged, wevt.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "offset 0x") {
			t.Errorf("%q for %q: error %v, want one that says %s", tt.to, tt.from, err, tt.says)
		}
		m, faults, err := wevt.Decode("x", damaged, wevt.Options{Lenient: true})
		if err != nil || len(faults) == 0 {
			t.Errorf("%q for %q: leniently %v, faults %v", tt.to, tt.from, err, faults)
			continue
		}
		if _, _, err := manifest.Parse("x.man", m.AppendXML(nil, ""), manifest.Options{Lenient: true}); err != nil {
			t.Errorf("%q for %q: the manifest of what is left: %v", tt.to, tt.from, err)
		}
	}
}

// TestSizeZero damages the length of a field and the count of another.
func TestSizeZero(t *testing.T) {
	m, _ := compiled(t, 5)
	for _, size := range []*manifest.Size{&m.Providers[0].Templates[0].Fields[3].Length, &m.Providers[0].Templates[0].Fields[6].Count} {
		was := size.Const
		size.Const = 0
		res, err := wevt.Encode(m, wevt.EncodeOptions{})
		size.Const = was
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := wevt.Decode("x", res, wevt.Options{}); err == nil || !strings.Contains(err.Error(), "has the size 0") {
			t.Errorf("error %v", err)
		}
	}
}
