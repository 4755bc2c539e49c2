package fetch

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	testGUID = etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")
	testCode = symbols.Native{Module: `C:\shop\oven.dll`, PDB: symbols.PDB{GUID: testGUID, Age: 1, Path: `C:\build\oven.pdb`}}
)

const testKey = "oven.pdb/00112233445566778899AABBCCDDEEFF1/oven.pdb"

// makePDB makes a PDB file that has an identity, and nothing else: the head, the list of
// blocks of the directory, the directory, and two streams, a block each. Its own age is 2,
// and that of its image 1.
func makePDB(guid etw.GUID) []byte {
	const block = 512
	b := make([]byte, 5*block)
	copy(b, "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00")
	put := func(at int, words ...uint32) {
		for i, w := range words {
			binary.LittleEndian.PutUint32(b[at+4*i:], w)
		}
	}
	put(32, block, 0, 5, 28, 0, 1)
	put(block, 2)
	put(2*block, 4, 0, 28, 0xffffffff, 64, 3, 4)
	put(3*block+8, 2)
	copy(b[3*block+12:], guid[:])
	put(4*block+8, 1)
	return b
}

// makeELF makes an ELF file that has a build id, and nothing else.
func makeELF(id []byte) []byte {
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint16(b, 3)
	b = le.AppendUint16(b, 62)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, 64) // the segments
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, 0)
	for _, n := range []uint16{64, 56, 1, 64, 0, 0} {
		b = le.AppendUint16(b, n)
	}
	size := uint64(16 + len(id))
	b = le.AppendUint32(b, 4) // a note
	b = le.AppendUint32(b, 4)
	for _, n := range []uint64{120, 0, 0, size, size, 4} {
		b = le.AppendUint64(b, n)
	}
	for _, n := range []uint32{4, uint32(len(id)), 3} {
		b = le.AppendUint32(b, n)
	}
	return append(append(b, "GNU\x00"...), id...)
}

// makeCabinet packs a file as symbol servers do. Each block refers to those before it.
func makeCabinet(t testing.TB, plain []byte) []byte {
	le := binary.LittleEndian
	var blocks []byte
	n := 0
	for at := 0; at < len(plain); at += cabinetBlock {
		part := plain[at:min(at+cabinetBlock, len(plain))]
		packed := bytes.NewBufferString("CK")
		w, err := flate.NewWriterDict(packed, flate.BestCompression, plain[max(0, at-cabinetBlock):at])
		if err == nil {
			_, err = w.Write(part)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes := le.AppendUint16(le.AppendUint16(nil, uint16(packed.Len())), uint16(len(part)))
		blocks = le.AppendUint32(blocks, sum(sizes, sum(packed.Bytes(), 0)))
		blocks = append(append(blocks, sizes...), packed.Bytes()...)
		n++
	}
	name := "a\x00"
	data := cabinetHead + 8 + 16 + len(name)
	b := append([]byte(cabinetMagic), make([]byte, 4)...)
	b = le.AppendUint32(b, uint32(data+len(blocks)))
	b = append(b, make([]byte, 4)...)
	b = le.AppendUint32(b, cabinetHead+8)
	b = append(b, 0, 0, 0, 0, 3, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint32(b, uint32(data))
	b = le.AppendUint16(b, uint16(n))
	b = le.AppendUint16(b, 1)
	b = le.AppendUint32(b, uint32(len(plain)))
	b = append(b, make([]byte, 12)...)
	return append(append(b, name...), blocks...)
}
