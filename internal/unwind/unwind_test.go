package unwind

import (
	"encoding/binary"
	"slices"
	"testing"
)

// made is a section with three functions: one that keeps a register and then makes a frame with
// a pointer, a stub whose frame an expression tells, and the outermost.
func made() *Section {
	le := binary.LittleEndian
	var b []byte
	record := func(id uint32, body []byte) int {
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		at := len(b)
		b = le.AppendUint32(b, uint32(4+len(body)))
		if id != 0 {
			id = uint32(at+4) - (id - 1)
		}
		b = append(le.AppendUint32(b, id), body...)
		return at
	}
	// The frame is behind the address of the caller, which is in memory before it.
	common := record(0, []byte{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1})
	function := func(begin, size uint64, program ...byte) {
		body := le.AppendUint64(le.AppendUint64(nil, begin), size)
		record(uint32(common+1), append(append(body, 0), program...))
	}
	function(0x1000, 0x100, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x02, 0x80, 0x0c, 7, 8, 0x42, 0x0b)
	function(0x2000, 0x20, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)
	function(0x3000, 0x100, 0x07, 16)
	return &Section{Bytes: b, Order: le, Wide: true}
}

func (s *Section) file() *File {
	return &File{entries: s.Entries()}
}

// stackOf returns the stack of x86-64 with registers, in a copy of words from 0x7000 on.
func stackOf(f *File, pc, fp uint64, words ...uint64) ([]uint64, bool) {
	var memory []byte
	for _, w := range words {
		memory = binary.LittleEndian.AppendUint64(memory, w)
	}
	m := Machines["x86_64"]
	values := make([]byte, 9*8)
	for n, v := range map[int]uint64{6: fp, 7: 0x7000, 8: pc} {
		binary.LittleEndian.PutUint64(values[8*n:], v)
	}
	r, ok := m.Registers(0x1ff, values)
	if !ok {
		return nil, false
	}
	return m.Stack(nil, r, memory, func(pc uint64) (*File, uint64) {
		if pc < 0x9000 {
			return f, pc
		}
		return nil, 0
	})
}

func TestStack(t *testing.T) {
	f := made().file()
	if len(f.entries) != 3 {
		t.Fatalf("%d entries", len(f.entries))
	}
	for name, x := range map[string]struct {
		pc, fp uint64
		words  []uint64
		want   []uint64
		cut    bool
	}{
		"at a function's begin":         {pc: 0x1000, words: []uint64{0x3010}, want: []uint64{0x1000, 0x3010}},
		"a register is kept":            {pc: 0x1001, words: []uint64{0x77, 0x3010}, want: []uint64{0x1001, 0x3010}},
		"a frame with a pointer":        {pc: 0x1010, fp: 0x7010, words: []uint64{1, 2, 0x7030, 0x1041, 3, 4, 0x77, 0x3010}, want: []uint64{0x1010, 0x1041, 0x3010}},
		"after it was left":             {pc: 0x1084, words: []uint64{0x3010}, want: []uint64{0x1084, 0x3010}},
		"back in it":                    {pc: 0x1086, fp: 0x7010, words: []uint64{1, 2, 0x77, 0x3010}, want: []uint64{0x1086, 0x3010}},
		"a stub, before it pushes":      {pc: 0x200a, words: []uint64{0x3010}, want: []uint64{0x200a, 0x3010}},
		"a stub, when it has pushed":    {pc: 0x200b, words: []uint64{5, 0x3010}, want: []uint64{0x200b, 0x3010}},
		"code that nothing tells of":    {pc: 0x9100, fp: 0x7008, words: []uint64{1, 0x77, 0x3010}, want: []uint64{0x9100, 0x3010}},
		"the copy ends":                 {pc: 0x1010, fp: 0x7010, words: []uint64{1, 2, 0x7030, 0x1041, 3, 4}, want: []uint64{0x1010, 0x1041}, cut: true},
		"frames go back":                {pc: 0x1010, fp: 0x7008, words: []uint64{1, 0x7000, 0x1041, 0x7000}, want: []uint64{0x1010, 0x1041}},
		"a call at a function's end":    {pc: 0x1000, words: []uint64{0x3100}, want: []uint64{0x1000, 0x3100}},
		"the outermost, without memory": {pc: 0x3000, want: []uint64{0x3000}},
	} {
		got, whole := stackOf(f, x.pc, x.fp, x.words...)
		if !slices.Equal(got, x.want) || whole == x.cut {
			t.Errorf("%s: %#x, whole %v; want %#x", name, got, whole, x.want)
		}
	}
}

// TestARM64 unwinds a leaf, whose caller is in a register.
func TestARM64(t *testing.T) {
	m := Machines["aarch64"]
	values := make([]byte, 33*8)
	for n, v := range map[int]uint64{29: 0x7010, 30: 1<<55 | 0x1234, 31: 0x7000, 32: 0x1000} {
		binary.LittleEndian.PutUint64(values[8*n:], v)
	}
	r, ok := m.Registers(m.Mask(), values)
	if !ok {
		t.Fatal("no registers")
	}
	leaf := &File{entries: []Entry{{Begin: 0x1000, Size: 16, common: &common{code: 4, data: -8, ret: 30, program: []byte{0x0c, 31, 0}}}}}
	memory := make([]byte, 0x40)
	binary.LittleEndian.PutUint64(memory[0x10:], 0)
	binary.LittleEndian.PutUint64(memory[0x18:], 0x5678)
	got, _ := m.Stack(nil, r, memory, func(pc uint64) (*File, uint64) { return leaf, pc })
	if want := []uint64{0x1000, 0x1234, 0x5678}; !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func FuzzUnwind(f *testing.F) {
	s := made()
	f.Add(s.Bytes, false)
	f.Add(s.Bytes[:len(s.Bytes)-7], true)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, true) // no room for an identity of 8 bytes
	f.Fuzz(func(t *testing.T, b []byte, debug bool) {
		s := Section{Bytes: b, Order: binary.LittleEndian, Wide: true, Debug: debug}
		s.Starts()
		x := s.file()
		for _, e := range x.entries {
			if e.Size == 0 || e.Begin+e.Size < e.Begin {
				t.Fatalf("%#x, %d bytes", e.Begin, e.Size)
			}
		}
		for _, e := range x.entries[:min(len(x.entries), 8)] {
			if list, _ := stackOf(x, e.Begin+e.Size/2, 0x7008, 1, 0x7018, e.Begin, 3, 0x7020, 5, 6, 7); len(list) > maxFrames {
				t.Fatalf("%d frames", len(list))
			}
		}
	})
}
