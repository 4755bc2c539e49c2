package file

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A bitReader reads numbers of some width, the lowest bit first.
type bitReader struct {
	b []byte
	n int
}

func (r *bitReader) next(width int) (v uint64) {
	for i := range width {
		v |= uint64(r.b[r.n/8]>>(r.n%8)&1) << i
		r.n++
	}
	return v
}

// hybrid reads n values of a width.
func hybrid(t *testing.T, b []byte, n, width int) []uint32 {
	t.Helper()
	var out []uint32
	for len(b) > 0 {
		h, k := binary.Uvarint(b)
		b = b[k:]
		if h&1 == 0 {
			v := uint32(0)
			for i := range (width + 7) / 8 {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[(width+7)/8:]
			out = append(out, slices.Repeat([]uint32{v}, int(h>>1))...)
			continue
		}
		r := bitReader{b: b}
		for range 8 * (h >> 1) {
			out = append(out, uint32(r.next(width)))
		}
		b = b[int(h>>1)*width:]
	}
	if len(out) < n || len(out) > n+7 {
		t.Fatalf("%d values, not %d", len(out), n)
	}
	return out[:n]
}

func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		width := 1 + i%20
		var values []uint32
		for range r.IntN(40) {
			v := r.Uint32N(1 << width)
			values = append(values, slices.Repeat([]uint32{v}, 1+r.IntN(1+r.IntN(30)))...)
		}
		got := hybrid(t, appendHybrid(nil, values, width), len(values), width)
		if !slices.Equal(got, values) {
			t.Fatalf("width %d: %v, not %v", width, got, values)
		}
	}
}

// deltas reads the output of appendDeltas.
func deltas(t *testing.T, b []byte, narrow bool) []uint64 {
	t.Helper()
	head := make([]uint64, 3)
	for i := range head {
		v, k := binary.Uvarint(b)
		head[i], b = v, b[k:]
	}
	if head[0] != deltaBlock || head[1] != deltaBlock/deltaMini {
		t.Fatalf("blocks of %d, %d", head[0], head[1])
	}
	last, k := binary.Varint(b)
	b = b[k:]
	out := []uint64{uint64(last)}
	for uint64(len(out)) < head[2] {
		least, k := binary.Varint(b)
		widths := b[k : k+4]
		b = b[k+4:]
		for _, width := range widths {
			if uint64(len(out)) >= head[2] {
				break
			}
			r := bitReader{b: b}
			for range deltaMini {
				last = number(uint64(last+least+int64(r.next(int(width)))), narrow)
				out = append(out, uint64(last))
			}
			b = b[int(width)*deltaMini/8:]
		}
	}
	if len(b) != 0 {
		t.Fatalf("%d bytes are left", len(b))
	}
	return out[:head[2]]
}

func TestDeltas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	extremes := []uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64, math.MaxInt32, 1 << 31, math.MaxUint32}
	for i := range 2000 {
		narrow := i%2 == 0
		values := make([]uint64, 1+r.IntN(400))
		for k := range values {
			switch i % 3 {
			case 0:
				values[k] = uint64(k) * 100
			case 1:
				values[k] = r.Uint64() >> r.IntN(64)
			case 2:
				values[k] = extremes[r.IntN(len(extremes))]
			}
			values[k] = uint64(number(values[k], narrow))
		}
		if got := deltas(t, appendDeltas(nil, values, narrow), narrow); !slices.Equal(got, values) {
			t.Fatalf("narrow %v: %v, not %v", narrow, got, values)
		}
	}
}

func TestDictionary(t *testing.T) {
	var d dictionary
	for range 2 {
		for i := range uint32(3000) {
			p := binary.LittleEndian.AppendUint32(nil, i/3)
			if n := d.number(p[:i%3/2*4]); i%3 != 2 && n != 0 || i%3 == 2 && n != i/3+1 {
				t.Fatalf("%d has number %d", i, n)
			}
		}
		if len(d.at(0)) != 0 || binary.LittleEndian.Uint32(d.at(1000)) != 999 {
			t.Errorf("%x, %x", d.at(0), d.at(1000))
		}
		d.reset()
	}
}

// A file has its magic at both ends, and the length of its description.
func TestFrame(t *testing.T) {
	enc, err := NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	list := &Node{Name: "l", Type: List, Fields: []*Node{{Name: "element", Type: Text}}}
	w := NewWriter(&out, enc, []*Node{{Name: "a", Type: Int32}, list}, [][2]string{{"k", "v"}})
	l := w.Leaves()
	for i := range uint64(10) {
		if i%2 == 0 {
			l[0].Null(0, 0)
			l[1].Null(0, 1)
		} else {
			l[0].Number(i, 0)
			l[1].Text([]byte("x"), 0)
			l[1].Text([]byte("y"), 1)
		}
		w.EndRow()
		if i == 4 {
			if err := w.Flush(true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	n := binary.LittleEndian.Uint32(b[len(b)-8:])
	if string(b[:4]) != magic || string(b[len(b)-4:]) != magic || int(n) > len(b)-12 || w.Rows() != 10 || w.Size() != int64(len(b)) {
		t.Errorf("%d rows, %d bytes of %d: %q", w.Rows(), n, len(b), b)
	}
}
