package msf

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/quota"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestBlocksThatAreShared reads a PDB with a stream of one block that is said to be in it again
// and again.
func TestBlocksThatAreShared(t *testing.T) {
	file := msftest.File([][]byte{nil, {1, 2, 3}})
	whole, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := whole.Stream(1); err != nil || !bytes.Equal(b, []byte{1, 2, 3}) {
		t.Errorf("the stream has %x, %v", b, err)
	}
	m := &File{r: bytes.NewReader(file), blockSize: 512, blocks: 1 << 30, left: quota.Of(int64(len(file)))}
	if _, err := m.read(nil, 1<<30); !errors.Is(err, quota.ErrShared) {
		t.Errorf("the error is %v", err)
	}
}

// pack writes streams as an MSFZ file has them: the first as it is, the second in two pieces, of
// which one is as it is, and all others in chunks of a size, that are packed in a way.
func pack(t testing.TB, streams [][]byte, size int, way uint32) []byte {
	le := binary.LittleEndian
	squeeze := func(b []byte) []byte {
		var out bytes.Buffer
		switch way {
		case wayZstd:
			w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			w.Write(b) // into memory
			w.Close()
		case wayDeflate:
			w, err := flate.NewWriter(&out, 9)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(b)
			w.Close()
		default:
			out.Write(b)
		}
		return out.Bytes()
	}
	file, all, dir := make([]byte, packedHead), []byte(nil), []byte(nil)
	put := func(b []byte, packed bool) {
		if len(b) == 0 {
			return
		}
		at := uint64(len(file))
		if packed {
			at = inChunk | uint64(len(all)/size)<<32 | uint64(len(all)%size)
			all = append(all, b...)
		} else {
			file = append(file, b...)
		}
		dir = le.AppendUint64(le.AppendUint32(dir, uint32(len(b))), at)
	}
	for i, s := range streams {
		half := len(s)
		switch i {
		case 0:
			half = 0
		case 1:
			half /= 2
		}
		if s == nil {
			dir = le.AppendUint32(dir, noStream)
			continue
		}
		put(s[:half], true)
		put(s[half:], false)
		dir = le.AppendUint32(dir, 0)
	}
	var table []byte
	for at := 0; at < len(all); at += size {
		plain := all[at:min(at+size, len(all))]
		packed := squeeze(plain)
		table = le.AppendUint64(table, uint64(len(file)))
		for _, n := range []int{int(way), len(packed), len(plain)} {
			table = le.AppendUint32(table, uint32(n))
		}
		file = append(file, packed...)
	}
	copy(file, packedMagic)
	packed := squeeze(dir)
	le.PutUint64(file[40:], uint64(len(file)))
	le.PutUint64(file[48:], uint64(len(file)+len(packed)))
	for i, n := range []int{len(streams), int(way), len(packed), len(dir), len(table) / chunkEntry, len(table)} {
		le.PutUint32(file[56+4*i:], uint32(n))
	}
	return append(append(file, packed...), table...)
}

// TestPacked reads MSFZ files, one of a real PDB among them: all streams are those that went in.
// Files that are cut or changed are refused.
func TestPacked(t *testing.T) {
	lists := [][][]byte{{{}, bytes.Repeat([]byte("dough"), 1000), nil, {1, 2, 3}, bytes.Repeat([]byte("oven "), 10_000)}}
	if b, err := os.ReadFile(filepath.Join(corpus.Dir(t), "symsrv", "ShowSSEConfig.pdb")); err == nil {
		m, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var streams [][]byte
		for i := range m.sizes {
			s, err := m.Stream(i)
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		lists = append(lists, streams)
	}
	for _, streams := range lists {
		for _, way := range []uint32{wayNone, wayZstd, wayDeflate} {
			for _, size := range []int{100, 4096, 1 << 20} {
				file := pack(t, streams, size, way)
				m, err := Open(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					t.Fatalf("way %d, chunks of %d: %v", way, size, err)
				}
				for i := range streams {
					if got, err := m.Stream(i); err != nil || !bytes.Equal(got, streams[i]) {
						t.Errorf("way %d, chunks of %d: stream %d has %d bytes, %v, not %d", way, size, i, len(got), err, len(streams[i]))
					}
				}
			}
		}
	}
	file := pack(t, lists[0], 4096, wayZstd)
	for at, want := range map[int]error{32: ErrVersion, 60: ErrVersion, 47: ErrPDB, 56: ErrPDB, 68: ErrPDB, 71: quota.ErrShared, 72: ErrPDB, 77: ErrPDB} {
		b := bytes.Clone(file)
		b[at] ^= 0x40
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, want) {
			t.Errorf("byte %d changed: %v, not %v", at, err, want)
		}
	}
	for n := range len(file) {
		if _, err := Open(bytes.NewReader(file[:n]), int64(n)); err == nil {
			t.Fatalf("one of %d bytes is read", n)
		}
	}
}

// FuzzPacked reads files that make no sense: streams are no longer than the bound of all.
func FuzzPacked(f *testing.F) {
	for _, way := range []uint32{wayNone, wayZstd, wayDeflate, 3} {
		f.Add(pack(f, [][]byte{nil, {1, 2, 3, 4}, bytes.Repeat([]byte("oven "), 1000)}, 1000, way))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte(packedMagic)) {
			return
		}
		m, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		all := 0
		for i := range min(len(m.packed.streams), 1000) {
			s, _ := m.Stream(i)
			all += len(s)
		}
		if most := maxUnpacked(int64(len(b))); all > int(most) {
			t.Errorf("%d bytes out of %d", all, len(b))
		}
	})
}
