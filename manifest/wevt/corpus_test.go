package wevt_test

import (
	"bytes"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/tests/corpus"
)

// clrResources returns the output of Windows' compiler for the CLR's manifest.
func clrResources(tb testing.TB) wevt.Resources {
	tb.Helper()
	res, err := wevt.ReadPE(bytes.NewReader(testio.Read(tb, corpus.File(tb, "wevt", "clretwrc.dll"))))
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// withoutGUIDs returns a resource without the GUIDs of its templates, which the
// compiler makes in a way that is not known.
func withoutGUIDs(b []byte) []byte {
	b = bytes.Clone(b)
	for i := 0; i+40 <= len(b); i += 4 {
		if string(b[i:i+4]) == "TEMP" {
			clear(b[i+24 : i+40])
		}
	}
	return b
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestCLR compiles the CLR's manifest, and compares the bytes with those that the
// compiler of Windows made of it.
func TestCLR(t *testing.T) {
	m := testio.ParseFile(t, manifest.ParseFile, corpus.File(t, "wevt", "ClrEtwAll-3.1.2.man"), manifest.Options{})
	got, err := wevt.Encode(m, wevt.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, clrResources(t), got)
}

func checkSame(t *testing.T, want, got wevt.Resources) {
	t.Helper()
	a, b := withoutGUIDs(want.Templates), withoutGUIDs(got.Templates)
	if !bytes.Equal(a, b) {
		t.Errorf("the resource has %d bytes, want %d; the first difference is at %#x", len(b), len(a), firstDifference(a, b))
	}
	if len(want.Messages) != len(got.Messages) {
		t.Errorf("%d message tables, want %d", len(got.Messages), len(want.Messages))
	}
	for l, a := range want.Messages {
		if b := got.Messages[l]; !bytes.Equal(a, b) {
			t.Errorf("the messages in %v have %d bytes, want %d; the first difference is at %#x", l, len(b), len(a), firstDifference(a, b))
		}
	}
	t.Logf("%d bytes of the resource and %d message tables are equal", len(a), len(got.Messages))
}

// TestImported decodes the output of Windows' compiler, and compiles that again.
func TestImported(t *testing.T) {
	node := wevt.Resources{
		Templates: testio.Read(t, corpus.File(t, "wevt", "node-16.20.2.wevt.bin")),
		Messages:  map[wevt.Language][]byte{wevt.English: testio.Read(t, corpus.File(t, "wevt", "node-16.20.2.msg.bin"))},
	}
	for name, res := range map[string]wevt.Resources{"node": node, "clr": clrResources(t)} {
		t.Run(name, func(t *testing.T) {
			m, _, err := wevt.Decode(name, res, wevt.Options{})
			if err != nil {
				for _, e := range err.(wevt.ErrorList) {
					t.Log(e)
				}
				t.Fatal(err)
			}
			got, err := wevt.Encode(m, wevt.EncodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkSame(t, res, got)
			text := m.AppendXML(nil, "")
			again, warnings, err := manifest.Parse(name, text, manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d warnings", len(warnings))
			if got, err = wevt.Encode(again, wevt.EncodeOptions{}); err != nil {
				t.Fatal(err)
			}
			checkSame(t, res, got)
		})
	}
}
