package blocks

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// A failing file fails at one of its reads.
type failing struct {
	*bytes.Reader
	left int
}

var errFails = errors.New("it fails")

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFails
	}
	return f.Reader.ReadAt(p, at)
}

// traces returns small files of all formats.
func traces(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	made, err := mutate.Made()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		files[f.Name] = f.Data
	}
	return files
}

// TestFailingReads fails each read of a file, and each call for a block.
func TestFailingReads(t *testing.T) {
	for name, data := range traces(t) {
		for n := 0; ; n++ {
			f := &failing{bytes.NewReader(data), n}
			err := List(f, int64(len(data)), func(Block) error { return nil })
			if f.left >= 0 {
				if err != nil || n < 2 {
					t.Errorf("%s: %d reads, %v", name, n, err)
				}
				break
			}
			if !errors.Is(err, errFails) {
				t.Fatalf("%s: read %d failed: %v", name, n, err)
			}
		}
		blocks, _ := list(data)
		for n := range blocks {
			left, stop := n, errors.New("stop")
			err := List(bytes.NewReader(data), int64(len(data)), func(Block) error {
				if left--; left < 0 {
					return stop
				}
				return nil
			})
			if err != stop {
				t.Fatalf("%s: block %d was refused: %v", name, n, err)
			}
		}
	}
}

// TestDamagedObjects is about objects that do not begin or end as such.
func TestDamagedObjects(t *testing.T) {
	data := testio.Read(t, filepath.Join("..", "..", "tests", "recorded", "gc.nettrace"))
	blocks := 0
	var last Block
	List(bytes.NewReader(data), int64(len(data)), func(b Block) error {
		if b.Kind != "End" {
			blocks, last = blocks+1, b
		}
		return nil
	})
	for _, c := range []struct {
		at   int64
		want string
	}{
		{last.Offset, "0xee is not the begin of an object"},
		{last.Offset + last.Size - 1, "the object at"},
		{last.Offset + 11, "the type of the object cannot be read"},
	} {
		damaged := bytes.Clone(data)
		damaged[c.at] = 0xee
		if lines, err := list(damaged); err == nil || !strings.Contains(err.Error(), c.want) || len(lines) < blocks-1 {
			t.Errorf("byte %d: %d blocks of %d, %v, want %s", c.at, len(lines), blocks, err, c.want)
		}
	}
	// Without a frequency there are no times.
	clear(data[8+24+21+24 : 8+24+21+32])
	err := List(bytes.NewReader(data), int64(len(data)), func(b Block) error {
		if b.First != 0 || b.Last != 0 {
			t.Errorf("%s at %d: times %v to %v", b.Kind, b.Offset, b.First, b.Last)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
