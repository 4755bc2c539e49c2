package trace_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// TestZerosAtTheEnd reads the trace of a machine that stops while one is written: no event is
// made of the zeros, at whatever place they begin, and the trace is said to be cut off.
func TestZerosAtTheEnd(t *testing.T) {
	whole := testio.Read(t, "../tests/recorded/jit.nettrace")
	path := filepath.Join(t.TempDir(), "a.nettrace")
	count := func(data []byte) (n int, err error) {
		testio.Write(t, path, data)
		tr, err := trace.Open(path)
		if err != nil {
			return 0, err
		}
		defer tr.Close()
		for _, err = range tr.Records() {
			if err == nil {
				n++
			}
		}
		return n, err
	}
	for i := 1; i < 40; i++ {
		cut := len(whole) * i / 40
		want, _ := count(whole[:cut])
		for _, zeros := range []int{511, 512, 65 << 10, 1 << 20} {
			n, err := count(append(whole[:cut:cut], make([]byte, zeros)...))
			if n > want && zeros > 511 || err == nil || zeros > 511 && !errors.Is(err, etw.ErrIncomplete) {
				t.Errorf("cut at %d, %d zeros: %d records of %d, %v", cut, zeros, n, want, err)
			}
		}
	}
	if n, err := count(make([]byte, 4096)); n != 0 || !errors.Is(err, trace.ErrFormat) {
		t.Error(n, err)
	}
	want, err := count(whole)
	n, zeroed := count(append(whole[:len(whole):len(whole)], make([]byte, 4096)...))
	if n != want || err != nil || zeroed != nil {
		t.Error("the whole trace with zeros behind it:", n, want, err, zeroed)
	}
}
