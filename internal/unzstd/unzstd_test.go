package unzstd

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/etwgen/etwgen/internal/testio"
)

// packed packs texts as one stream that is flushed behind each.
func packed(t testing.TB, level zstd.EncoderLevel, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	return b.Bytes()
}

// A stream unpacks to its source, in whichever parts it comes, and as far as it has come.
func TestUnpack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	texts := []string{"a", strings.Repeat("all the same ", 100_000), string(noise), strings.Repeat("\x00", 70_000), string(noise[:1000]), strings.Repeat("all the same ", 10)}
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedBetterCompression} {
		all := append(packed(t, level, texts...), packed(t, level, "another frame")...)
		want := strings.Join(texts, "") + "another frame"
		for _, most := range []int{1 << 20, 60_000, 7} {
			u, err := New()
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for rest := all; len(rest) > 0; {
				n := min(len(rest), 1+rnd.IntN(most))
				if err := u.Unpack(rest[:n], func(b []byte) { got = append(got, b...) }); err != nil {
					t.Fatalf("level %v, parts of %d: after %d bytes: %v", level, most, len(got), err)
				}
				rest = rest[n:]
			}
			if string(got) != want {
				t.Errorf("level %v, parts of %d: %d bytes differ from %d", level, most, len(got), len(want))
			}
		}
	}
}

// Other data than a stream is an error, and never more than its blocks can have.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, zstd.SpeedFastest, "one", strings.Repeat("two", 1000)), 7)
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x00\x01\x00\x00"), 3)
	f.Fuzz(func(t *testing.T, b []byte, part int) {
		u, err := New()
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for rest := b; len(rest) > 0; {
			n := min(len(rest), max(part, 1))
			if u.Unpack(rest[:n], func(b []byte) { total += len(b) }) != nil {
				break
			}
			rest = rest[n:]
		}
		if total > len(b)*maxBlock/3 {
			t.Errorf("%d bytes of %d", total, len(b))
		}
	})
}
