package blocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// list lists a file as text, a line for each block.
func list(data []byte) (lines []string, err error) {
	err = List(bytes.NewReader(data), int64(len(data)), func(b Block) error {
		lines = append(lines, fmt.Sprintf("%d %d %s %v %.3f %.3f %s", b.Offset, b.Size, b.Kind, b.Times, b.First, b.Last, b.Detail))
		return nil
	})
	return lines, err
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	return testio.Read(t, filepath.Join("..", "..", "tests", "recorded", name))
}

// TestCover checks that the blocks of a file are all of it, also where one is cut off.
func TestCover(t *testing.T) {
	for _, c := range []struct {
		name  string
		first int64
		kinds []string
	}{
		{"gc.nettrace", 8 + 4 + 20, []string{"Trace", "MetadataBlock", "EventBlock", "StackBlock", "SPBlock", "End"}},
		{"eventsource.netperf", 4 + 20, []string{"Trace", "EventBlock", "End"}},
	} {
		data := recorded(t, c.name)
		at := c.first
		seen := make(map[string]int)
		err := List(bytes.NewReader(data), int64(len(data)), func(b Block) error {
			if b.Offset != at {
				t.Errorf("%s: a block at %d, want %d", c.name, b.Offset, at)
			}
			at += b.Size
			seen[b.Kind]++
			if b.Times && (b.First < -1e4 || b.Last < b.First || b.Last > 1e4) {
				t.Errorf("%s: times %v to %v", c.name, b.First, b.Last)
			}
			return nil
		})
		if err != nil || at != int64(len(data)) {
			t.Errorf("%s: the blocks end at %d of %d, %v", c.name, at, len(data), err)
		}
		for _, kind := range c.kinds {
			if seen[kind] == 0 {
				t.Errorf("%s: no %s among %v", c.name, kind, seen)
			}
		}
		for n := range data { // no prefix is whole, and none does harm
			if lines, err := list(data[:n]); err == nil || n > 100 && len(lines) == 0 {
				t.Fatalf("%s: %d of %d bytes are %d blocks, %v", c.name, n, len(data), len(lines), err)
			}
		}
		if _, err := list(append(data, 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow the end") {
			t.Errorf("%s: with a byte more: %v", c.name, err)
		}
	}
}

func TestCorpus(t *testing.T) {
	files := append(corpus.Glob(t, "etl", "*.etl"), corpus.Glob(t, "nettrace", "*.net*[ef]")...)
	for _, path := range append(files, corpus.Glob(t, "universal", "*.nettrace")...) {
		f := testio.File(t, path)
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		end := int64(0)
		err = List(f, info.Size(), func(b Block) error {
			if strings.HasPrefix(b.Kind, "kind ") || strings.HasPrefix(b.Kind, "type ") {
				t.Errorf("%s: %s at %d", path, b.Kind, b.Offset)
			}
			end = b.Offset + b.Size
			return nil
		})
		if f.Close(); err == nil && end != info.Size() || end == 0 {
			t.Errorf("%s: the blocks end at %d of %d, %v", path, end, info.Size(), err)
		}
	}
}

func TestVersion6(t *testing.T) {
	word := func(kind, size uint32) []byte { return binary.LittleEndian.AppendUint32(nil, kind<<24|size) }
	trace := make([]byte, 40)
	binary.LittleEndian.PutUint64(trace[16:], 1000)
	binary.LittleEndian.PutUint64(trace[24:], 1000)
	event := make([]byte, 20)
	binary.LittleEndian.PutUint64(event[4:], 1500)
	binary.LittleEndian.PutUint64(event[12:], 2500)
	point := binary.LittleEndian.AppendUint64(nil, 3000)
	head := append([]byte("Nettrace"), 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0)
	data := bytes.Join([][]byte{head, word(1, 40), trace, word(2, 20), event, word(4, 16), point, {0, 0, 0, 0, 2, 0, 0, 0}, word(77, 0), word(0, 0)}, nil)
	lines, err := list(data)
	want := "20 44 Trace false 0.000 0.000 version=6 origin=1000 frequency=1000 pointer=0\n" +
		"64 24 Event true 500.000 1500.000 version=6 flags=0x0\n" +
		"88 20 SequencePoint true 2000.000 2000.000 version=6 threads=0\n" +
		"108 4 kind 77 false 0.000 0.000 version=6\n" +
		"112 4 End false 0.000 0.000 version=6"
	if got := strings.Join(lines, "\n"); err != nil || got != want {
		t.Errorf("error %v, got\n%s\nwant\n%s", err, got, want)
	}
	for n := 20; n < len(data); n++ {
		if _, err := list(data[:n]); err == nil {
			t.Errorf("%d of %d bytes are whole", n, len(data))
		}
	}
	if _, err := list(append(data, 7)); err == nil {
		t.Error("a byte after the end")
	}
}

func TestBuffers(t *testing.T) {
	buffer := func(size uint32, kind uint16) []byte {
		p := make([]byte, size)
		binary.LittleEndian.PutUint32(p, size)
		binary.LittleEndian.PutUint64(p[0x18:], 3)
		binary.LittleEndian.PutUint16(p[0x28:], 0x1005)
		binary.LittleEndian.PutUint16(p[0x34:], 0x21)
		binary.LittleEndian.PutUint16(p[0x36:], kind)
		return p
	}
	data := append(buffer(100, 4), buffer(80, 99)...)
	lines, err := list(data)
	want := "0 100 Header false 0.000 0.000 number=3 cpu=5 logger=0 state=0 filled=0 flushed=0 flags=flush-marker,cpu-index\n" +
		"100 80 type 99 false 0.000 0.000 number=3 cpu=5 logger=0 state=0 filled=0 flushed=0 flags=flush-marker,cpu-index"
	if got := strings.Join(lines, "\n"); err != nil || got != want {
		t.Errorf("error %v, got\n%s\nwant\n%s", err, got, want)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{data[:150], "offset 100: the file is cut off in the header of a buffer"},
		{data[:175], "offset 100: the buffer of 80 bytes is cut off"},
		{append(data, make([]byte, 80)...), "offset 180: 80 bytes are not written yet"},
		{append(append([]byte{}, data...), append([]byte{9, 0, 0, 0}, make([]byte, 80)...)...), "offset 180: a buffer of 9 bytes is smaller than its header"},
	} {
		if _, err := list(c.data); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if _, err := list([]byte("no trace")); err == nil {
		t.Error("a text is a trace")
	}
	if _, err := list([]byte{1, 0, 0, 0, 0, 0, 0, 0}); !errors.Is(err, ErrFormat) {
		t.Errorf("error %v", err)
	}
	stop := errors.New("stop")
	if err := List(bytes.NewReader(data), int64(len(data)), func(Block) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
}
