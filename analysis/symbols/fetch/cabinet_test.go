package fetch

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCabinet packs bytes of which blocks refer to each other, and unpacks them.
func TestCabinet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, cabinetBlock - 1, cabinetBlock, cabinetBlock + 1, 5*cabinetBlock + 7} {
		plain := make([]byte, n)
		for i := range plain {
			plain[i] = byte(r.IntN(256))
			if i > 20000 && i%1000 > 100 {
				plain[i] = plain[i-20000]
			}
		}
		packed := makeCabinet(t, plain)
		if n > 4*cabinetBlock && len(packed) > n/2 {
			t.Fatalf("%d bytes are packed in %d: no block refers to another", n, len(packed))
		}
		var got bytes.Buffer
		if err := unpack(&got, bytes.NewReader(packed), 1<<20); err != nil || !bytes.Equal(got.Bytes(), plain) {
			t.Errorf("%d bytes: %d bytes, %v", n, got.Len(), err)
		}
		if err := unpack(io.Discard, bytes.NewReader(packed), int64(n)-1); err == nil {
			t.Errorf("%d bytes: unpacked beyond the limit", n)
		}
		for _, cut := range []int{1, len(packed) / 2} {
			if err := unpack(io.Discard, bytes.NewReader(packed[:len(packed)-cut]), 1<<20); err == nil {
				t.Errorf("%d bytes: no error without the last %d", n, cut)
			}
		}
		packed[len(packed)-1] ^= 1
		if err := unpack(io.Discard, bytes.NewReader(packed), 1<<20); err == nil || !strings.Contains(err.Error(), "check sum") {
			t.Errorf("%d bytes: a bit is another: %v", n, err)
		}
	}
}

// TestCabinetCorpus unpacks a program as a public symbol server has it: it is the file that
// lies beside it.
func TestCabinetCorpus(t *testing.T) {
	read := func(name string) []byte {
		return testio.Read(t, corpus.File(t, "symsrv", name))
	}
	var got bytes.Buffer
	if err := unpack(&got, bytes.NewReader(read("ShowSSEConfig.ex_")), 1<<20); err != nil {
		t.Fatal(err)
	}
	if want := read("ShowSSEConfig.exe"); !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%x, not %x", sha256.Sum256(got.Bytes()), sha256.Sum256(want))
	}
}

func FuzzCabinet(f *testing.F) {
	f.Add(makeCabinet(f, []byte("bread and rolls")))
	f.Add(makeCabinet(f, bytes.Repeat([]byte("bread"), cabinetBlock)))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 22
		w := &counter{}
		c, _ := openCabinet(bytes.NewReader(b))
		switch err := unpack(w, bytes.NewReader(b), limit); {
		case w.n > limit:
			t.Errorf("%d bytes, more than the limit", w.n)
		case err == nil && w.n != int64(c.size):
			t.Errorf("%d bytes without an error; the cabinet says %d", w.n, c.size)
		}
	})
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}
