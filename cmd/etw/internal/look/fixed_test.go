package look

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestFixedNumbers holds numbers that are read from fixed places against those of
// decoded events, in every recorded trace and those of the corpus.
func TestFixedNumbers(t *testing.T) {
	recorded := testio.Glob(t, filepath.FromSlash("../../../../tests/recorded/*.nettrace"))
	checked := 0
	for _, path := range append(recorded, corpus.Glob(t, "etl/*.etl")...) {
		checked += checkFixedNumbers(t, path)
	}
	if checked < 1000 {
		t.Errorf("only %d numbers were checked", checked)
	}
}

func checkFixedNumbers(t *testing.T, path string) (checked int) {
	tr := testio.Open(t, trace.Open, path)
	defer tr.Close()
	decoder := builtin.NewDecoder()
	var rec etw.Record
	for n := 0; n < 20000; n++ {
		if err := tr.Next(&rec); err != nil {
			if err != io.EOF {
				t.Logf("%s: %v", path, err)
			}
			break
		}
		s := pick.Shot{Record: &rec, Event: decoder.Event(&rec)}
		if s.Values, s.Err = decoder.Decode(&rec); s.Values == nil {
			continue
		}
		desc := s.Values.EventDesc()
		for i, f := range frames.FixedNumbers(desc, rec.PointerSize) {
			got, ok := f.Load(&s)
			if !ok {
				continue
			}
			checked++
			if want := s.Values.FieldValue(i); want.Uint() != got {
				t.Fatalf("%s: %s.%s: %d is in the payload, want %v", path, s.Event.Name, desc.Fields[i].Name, got, want)
			}
		}
	}
	return checked
}

func TestAppendPlainUTF16(t *testing.T) {
	for _, text := range []string{"", "a", "abcd", "abcdefghijk", `abc"`, "abcd\\efg", "ab\x01d", "日本語文字", "abcd日", "abc\x7f", "aābc"} {
		want := etw.AppendJSONString(nil, text)
		want = want[1 : len(want)-1]
		got, ok := appendPlainUTF16(nil, etw.MakeUTF16(text))
		if plain := string(want) == text && !bytes.ContainsFunc(want, func(r rune) bool { return r >= 0x7f }); ok != plain {
			t.Errorf("%q: is plain: %v, want %v", text, ok, plain)
		}
		if ok && string(got) != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
