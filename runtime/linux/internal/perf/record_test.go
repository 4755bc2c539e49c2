package perf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// record makes a record as the kernel writes it.
func record(kind uint32, misc uint16, body ...any) []byte {
	var b bytes.Buffer
	for _, v := range body {
		if s, ok := v.(string); ok {
			b.WriteString(s)
			b.Write(make([]byte, 8-len(s)%8)) // a NUL at least
			continue
		}
		binary.Write(&b, binary.LittleEndian, v)
	}
	head := binary.LittleEndian.AppendUint32(nil, kind)
	head = binary.LittleEndian.AppendUint16(head, misc)
	head = binary.LittleEndian.AppendUint16(head, uint16(perfevent.HeaderSize+b.Len()))
	return append(head, b.Bytes()...)
}

// trailer is the end of records.
var trailer = []any{uint32(7), uint32(8), uint64(1000), uint32(3), uint32(0), uint64(55)}

func side(kind uint32, misc uint16, body ...any) []byte {
	return record(kind, misc, append(body, trailer...)...)
}

func addresses(list ...uint64) (b []byte) {
	for _, a := range list {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// The marks of kernel and user space in a stack.
const (
	markKernel = ^uint64(128) + 1
	markUser   = ^uint64(512) + 1
)

// examples are records, each with its contents.
func examples() (list []struct {
	raw  []byte
	want Record
}) {
	add := func(raw []byte, want Record) {
		list = append(list, struct {
			raw  []byte
			want Record
		}{raw, want})
	}
	base := Record{PID: 7, TID: 8, Time: 1000, Processor: 3, ID: 55}
	with := func(change func(*Record)) Record {
		r := base
		change(&r)
		return r
	}
	stack := []any{uint32(7), uint32(8), uint64(1000), uint32(3), uint32(0), uint64(4), markKernel, uint64(0xffffffff81000000), markUser, uint64(0x401000)}
	add(record(perfevent.TypeSample, 2, append([]any{uint64(55)}, stack...)...),
		with(func(r *Record) { r.Kind, r.Stack = perfevent.Sample, addresses(0xffffffff81000000, 0x401000) }))
	add(record(perfevent.TypeSample, 2, append([]any{uint64(56)}, stack...)...),
		with(func(r *Record) {
			r.ID, r.Kind, r.Stack = 56, perfevent.Blocked, addresses(0xffffffff81000000, 0x401000)
		}))
	add(record(perfevent.TypeSample, 2, append(append([]any{uint64(57)}, stack...), uint32(16), "12345678901")...),
		with(func(r *Record) {
			r.ID, r.Kind, r.Stack, r.Raw = 57, perfevent.Traced, addresses(0xffffffff81000000, 0x401000), []byte("12345678901\x00\x00\x00\x00\x00")
		}))
	add(side(perfevent.TypeSwitch, 0), with(func(r *Record) { r.Kind = perfevent.Resumed }))
	add(side(perfevent.TypeSwitch, perfevent.MiscOut), base)
	add(side(perfevent.TypeSwitchWide, 0, uint32(1), uint32(1)), with(func(r *Record) { r.Kind = perfevent.Resumed }))
	add(side(perfevent.TypeComm, perfevent.MiscExec, uint32(9), uint32(10), "program"), with(func(r *Record) { r.Kind, r.Exec, r.PID, r.TID, r.Name = perfevent.Comm, true, 9, 10, "program" }))
	add(side(perfevent.TypeFork, 0, uint32(9), uint32(7), uint32(10), uint32(8), uint64(1)), with(func(r *Record) { r.Kind, r.PID, r.Parent, r.TID = perfevent.Fork, 9, 7, 10 }))
	add(side(perfevent.TypeExit, 0, uint32(9), uint32(7), uint32(10), uint32(8), uint64(1)), with(func(r *Record) { r.Kind, r.PID, r.Parent, r.TID = perfevent.Exit, 9, 7, 10 }))
	add(side(perfevent.TypeLost, 0, uint64(55), uint64(12)), with(func(r *Record) { r.Kind, r.Count = perfevent.Lost, 12 }))
	add(side(perfevent.TypeLostSamples, 0, uint64(13)), with(func(r *Record) { r.Kind, r.Count = perfevent.Lost, 13 }))
	var id [20]byte
	copy(id[:], "build")
	add(side(perfevent.TypeMmap2, perfevent.MiscBuildID, uint32(9), uint32(10), uint64(0x1000), uint64(0x2000), uint64(0x3000), uint8(5), uint8(0), uint16(0), id, uint64(5), "/lib/a.so"),
		with(func(r *Record) {
			r.Kind, r.PID, r.TID, r.Start, r.Length, r.Offset, r.BuildID, r.Name = perfevent.Map, 9, 10, 0x1000, 0x2000, 0x3000, []byte("build"), "/lib/a.so"
		}))
	add(side(perfevent.TypeMmap2, 0, uint32(9), uint32(10), uint64(0x1000), uint64(0x2000), uint64(0x3000), uint32(1), uint32(4), uint64(2), uint64(3), uint64(5), "/lib/b.so"),
		with(func(r *Record) {
			r.Kind, r.PID, r.TID, r.Start, r.Length, r.Offset, r.Name = perfevent.Map, 9, 10, 0x1000, 0x2000, 0x3000, "/lib/b.so"
			r.File = perfevent.FileID{Major: 1, Minor: 4, Inode: 2}
		}))
	add(side(5, 0, uint64(1), uint64(2), uint64(3)), Record{Processor: -1}) // of a type that says nothing here
	return list
}

var testParser = func() parser {
	p := newParser(&Config{})
	p.kinds[56], p.kinds[57] = perfevent.Blocked, perfevent.Traced
	return p
}()

func TestRecords(t *testing.T) {
	for i, x := range examples() {
		got, n, err := testParser.next(append(slices.Clone(x.raw), "more"...))
		if err != nil || n != len(x.raw) {
			t.Errorf("record %d: %d of %d bytes, %v", i, n, len(x.raw), err)
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("record %d (-want +got):\n%s", i, diff)
		}
	}
}

// Records that are cut, or too short for their type, are errors, and none is read beyond its
// end.
func TestShortRecords(t *testing.T) {
	for i, x := range examples() {
		for n := range x.raw {
			if _, size, err := testParser.next(x.raw[:n:n]); err == nil || size != 0 && n < perfevent.HeaderSize {
				t.Errorf("record %d, cut to %d bytes: %d, %v", i, n, size, err)
			}
			if n < perfevent.HeaderSize {
				continue
			}
			short := slices.Clone(x.raw[:n:n])
			binary.LittleEndian.PutUint16(short[6:], uint16(n))
			if _, size, _ := testParser.next(short); size != n {
				t.Errorf("record %d, of %d bytes: %d", i, n, size)
			}
		}
	}
	for _, size := range []uint16{0, 7} {
		if _, n, err := testParser.next(record(perfevent.TypeSample, 0)[:6:6]); n != 0 || err == nil {
			t.Errorf("a size of %d: %d, %v", size, n, err)
		}
	}
}

func TestUnroll(t *testing.T) {
	ring := []byte("abcdefgh")
	for _, c := range []struct {
		tail, head uint64
		want       string
	}{{0, 0, ""}, {0, 3, "abc"}, {6, 10, "ghab"}, {8, 16, "abcdefgh"}, {3, 11, "defghabc"}, {0, 9, ""}, {5, 4, ""}} {
		if got := string(unroll(nil, ring, c.tail, c.head)); got != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.tail, c.head, got, c.want)
		}
	}
}

// Records of several rings come in their order, when no earlier one can come any more.
func TestOrder(t *testing.T) {
	var o order
	var got []int64
	deliver := func(r *Record) { got = append(got, r.Time) }
	put := func(times ...int64) {
		for _, at := range times {
			o.held = append(o.held, Record{Time: at})
		}
	}
	put(10, 30)
	put(20, 40)
	o.round(50, deliver)
	if got != nil {
		t.Errorf("after one round: %v", got)
	}
	put(45, 60)
	o.round(70, deliver)
	if want := []int64{10, 20, 30, 40, 45}; !slices.Equal(got, want) {
		t.Errorf("after two: %v, want %v", got, want)
	}
	put(55)
	o.rest(deliver)
	if want := []int64{10, 20, 30, 40, 45, 55, 60}; !slices.Equal(got, want) {
		t.Errorf("at the end: %v, want %v", got, want)
	}
}

func FuzzRecords(f *testing.F) {
	var all []byte
	for _, x := range examples() {
		f.Add(x.raw)
		all = append(all, x.raw...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			rec, n, err := testParser.next(b)
			if n == 0 {
				if err == nil {
					t.Fatal("nothing was read, and nothing is wrong")
				}
				return
			}
			if n < perfevent.HeaderSize || n > len(b) || len(rec.Stack) > n || len(rec.Raw) > n || len(rec.Stack)%8 != 0 || len(rec.Name) > n || len(rec.BuildID) > 20 || rec.Count < 0 {
				t.Fatalf("%d bytes: %+v", n, rec)
			}
			b = b[n:]
		}
	})
}
