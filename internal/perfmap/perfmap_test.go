package perfmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestRead reads lines of runtimes, and others.
func TestRead(t *testing.T) {
	got := ""
	err := Read(strings.NewReader("7f00 10 void [Shop] Oven::Bake()[Tier0]\r\n0x7f10 0x20 stub\n\n7f20 0 empty\n7f30 8\nnonsense here too\n7f40 8 last"), func(start, size uint64, name string) {
		got += fmt.Sprintf("%x %x %s; ", start, size, name)
	})
	if want := "7f00 10 void [Shop] Oven::Bake()[Tier0]; 7f10 20 stub; 7f40 8 last; "; got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// dump makes a jitdump: of two functions, of which one is moved, and of other records.
func dump(order binary.AppendByteOrder) []byte {
	b := order.AppendUint32(nil, 0x4a695444)
	for _, n := range []uint32{1, 48, 62, 0, 42, 0, 0, 0, 0, 7, 7} { // a head of 8 bytes more
		b = order.AppendUint32(b, n)
	}
	record := func(kind uint32, words []uint64, text string) {
		b = order.AppendUint32(order.AppendUint32(b, kind), uint32(16+8*len(words)+len(text)))
		b = order.AppendUint64(b, 1)
		for _, w := range words {
			b = order.AppendUint64(b, w)
		}
		b = append(b, text...)
	}
	record(2, []uint64{1, 2, 3}, "lines")
	record(0, []uint64{42, 0x7f00, 0x7f00, 0x10, 1}, "void [Shop] Oven::Bake()[Tier0]\x00code")
	record(0, []uint64{42, 0x7f10, 0x7f10, 8, 2}, "stub\x00\xc3")
	record(1, []uint64{42, 0x8f00, 0x7f00, 0x8f00, 0x10, 1}, "")
	record(1, []uint64{42, 0x8f00, 0x7f00, 0x9f00, 0x10, 9}, "") // of no code
	record(0, []uint64{42, 1, 1, 1, 3}, "a name without an end")
	record(3, nil, "")
	return b
}

// TestReadDump reads jitdumps of both orders of bytes, and such as are cut and damaged: the
// functions before the fault are known.
func TestReadDump(t *testing.T) {
	const first, all = "7f00 10 void [Shop] Oven::Bake()[Tier0]; ", "7f00 10 void [Shop] Oven::Bake()[Tier0]; 7f10 8 stub; 8f00 10 void [Shop] Oven::Bake()[Tier0]; "
	read := func(b []byte) (got string, err error) {
		err = ReadDump(bytes.NewReader(b), func(start, size uint64, name string) { got += fmt.Sprintf("%x %x %s; ", start, size, name) })
		return got, err
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		if got, err := read(dump(order)); got != all || err != nil {
			t.Errorf("%s, %v, want %s", got, err, all)
		}
	}
	whole := dump(binary.LittleEndian)
	for n := range len(whole) {
		got, err := read(whole[:n])
		if !strings.HasPrefix(all, got) || n < 48 && err == nil || n > 200 && !strings.HasPrefix(got, first) {
			t.Errorf("%d bytes: %s, %v", n, got, err)
		}
	}
	short := bytes.Clone(whole)
	copy(short[52:], []byte{15, 0, 0, 0})
	if got, err := read(short); got != "" || err == nil || !strings.Contains(err.Error(), "byte 48") {
		t.Errorf("a record of 15 bytes: %s, %v", got, err)
	}
}

// FuzzReadDump reads dumps that make no sense.
func FuzzReadDump(f *testing.F) {
	f.Add(dump(binary.LittleEndian))
	f.Add(dump(binary.BigEndian))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		_ = ReadDump(bytes.NewReader(b), func(uint64, uint64, string) { n++ })
		if n > len(b)/(dumpRecord+dumpPlace) {
			t.Errorf("%d functions out of %d bytes", n, len(b))
		}
	})
}
