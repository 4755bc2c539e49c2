package file

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		width := 1 + i%20
		var values []uint32
		for range r.IntN(40) {
			v := r.Uint32N(1 << width)
			values = append(values, slices.Repeat([]uint32{v}, 1+r.IntN(1+r.IntN(30)))...)
		}
		in := runs{b: appendHybrid(nil, values, width), width: width}
		for k, v := range values {
			if got := in.next(); got != uint64(v) || in.bad {
				t.Fatalf("width %d: value %d of %v is %d", width, k, values, got)
			}
		}
		if len(in.b) > 0 || in.packed == nil && in.left > 0 || in.left > 7 {
			t.Fatalf("width %d: %d values and %d bytes are left", width, in.left, len(in.b))
		}
	}
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
		in := deltas{b: appendDeltas(nil, values, narrow), narrow: narrow}
		in.begin()
		for k, v := range values {
			if got := in.next(); got != v || in.bad {
				t.Fatalf("narrow %v: value %d of %v is %d", narrow, k, values, got)
			}
		}
		if len(in.b) > 0 {
			t.Fatalf("%d bytes are left", len(in.b))
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
	w := NewWriter(&out, []*Node{{Name: "a", Type: Int32}, list}, [][2]string{{"k", "v"}})
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
			if err := w.Flush(enc, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(enc); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	n := binary.LittleEndian.Uint32(b[len(b)-8:])
	if string(b[:4]) != magic || string(b[len(b)-4:]) != magic || int(n) > len(b)-12 || w.Rows() != 10 || w.Size() != int64(len(b)) {
		t.Errorf("%d rows, %d bytes of %d: %q", w.Rows(), n, len(b), b)
	}
}
