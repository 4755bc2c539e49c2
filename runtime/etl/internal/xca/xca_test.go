package xca

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// An algorithm is a pair of an encoder and a decoder.
type algorithm struct {
	name   string
	encode func(dst, src []byte) []byte
	decode func(dst, src []byte) (int, error)
}

func algorithms() []algorithm {
	return []algorithm{
		{"plain", AppendPlain, DecodePlain},
		{"lznt1", AppendLZNT1, DecodeLZNT1},
		{"huffman", AppendHuffman, new(HuffmanDecoder).Decode},
	}
}

// samples returns data of many sizes and kinds, among them matches of every
// form of length and overlaps of every short distance.
func samples() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, symbols int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(symbols))
		}
		return b
	}
	s := map[string][]byte{}
	for _, n := range []int{0, 1, 2, 3, 4, 31, 32, 33, 4095, 4096, 4097, 65535, 65536, 65537, 200000} {
		s[fmt.Sprintf("random/%d", n)] = random(n, 256)
		s[fmt.Sprintf("few/%d", n)] = random(n, 3)
		s[fmt.Sprintf("zero/%d", n)] = make([]byte, n)
	}
	for dist := 1; dist <= 40; dist++ {
		s[fmt.Sprintf("period/%d", dist)] = bytes.Repeat(random(dist, 256), 300/dist+2)
	}
	var lengths []byte
	for n := 3; n < 400; n++ {
		unit := random(n, 256)
		lengths = append(append(append(lengths, unit...), byte(n)), unit...)
	}
	s["lengths"] = lengths
	s["skewed"] = skewed()
	return s
}

// skewed returns data whose Huffman codes would be longer than 15 bits.
func skewed() []byte {
	var b []byte
	a, c := 1, 1
	for symbol := range 24 {
		for range a {
			b = append(b, byte(symbol))
		}
		a, c = c, a+c
	}
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return b[:min(len(b), 60000)]
}

func TestRoundTrip(t *testing.T) {
	for _, a := range algorithms() {
		for name, want := range samples() {
			packed := a.encode([]byte("before"), want)
			if !bytes.HasPrefix(packed, []byte("before")) {
				t.Fatalf("%s: %s: the encoder does not append", a.name, name)
			}
			got := make([]byte, len(want))
			n, err := a.decode(got, packed[len("before"):])
			if err != nil || n != len(want) {
				t.Errorf("%s: %s: decoded %d of %d bytes, error %v", a.name, name, n, len(want), err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: %s: decoded data differ", a.name, name)
			}
		}
	}
}

// TestTruncated holds that the output of an input that was cut off is a prefix of the data.
func TestTruncated(t *testing.T) {
	want := append(samples()["few/4097"], samples()["lengths"][:3000]...)
	for _, a := range algorithms() {
		packed := a.encode(nil, want)
		got := make([]byte, len(want))
		longest := 0
		for cut := 0; cut < len(packed)-8; cut += 1 + cut/50 {
			n, err := a.decode(got, packed[:cut])
			if !errors.Is(err, ErrShort) {
				t.Fatalf("%s: cut at %d of %d: error %v", a.name, cut, len(packed), err)
			}
			if !bytes.Equal(got[:n], want[:n]) {
				t.Fatalf("%s: cut at %d of %d: the %d bytes that came out are not a prefix", a.name, cut, len(packed), n)
			}
			longest = max(longest, n)
		}
		if longest < len(want)*8/10 {
			t.Errorf("%s: at most %d of %d bytes came out of cut input", a.name, longest, len(want))
		}
	}
}

// TestDamaged changes every byte of packed data. The result is an error or other data, and
// the same of it whether there is room for all or for a part: near the end of the room
// another path decodes.
func TestDamaged(t *testing.T) {
	want := append(samples()["few/4097"][:1500], samples()["lengths"][:3000]...)
	for _, a := range algorithms() {
		packed := a.encode(nil, want)
		all, part := make([]byte, len(want)), make([]byte, len(want)/3)
		failed := 0
		for i := range packed {
			for _, change := range []byte{0x01, 0x80, 0xff} {
				packed[i] ^= change
				clear(all)
				clear(part)
				n, err := a.decode(all, packed)
				if err != nil {
					failed++
				}
				if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrShort) {
					t.Fatalf("%s: byte %d changed by %#x: error %v", a.name, i, change, err)
				}
				m, _ := a.decode(part, packed)
				if m != min(n, len(part)) || !bytes.Equal(part[:m], all[:m]) {
					t.Fatalf("%s: byte %d changed by %#x: %d of %d bytes in a third of the room", a.name, i, change, m, n)
				}
				packed[i] ^= change
			}
		}
		if failed == 0 {
			t.Errorf("%s: no change was noticed", a.name)
		}
	}
}

// TestKnownPlain decodes streams written by hand from the algorithm's
// description.
func TestKnownPlain(t *testing.T) {
	for _, c := range []struct {
		name string
		src  string
		want string
		err  error
	}{
		{"literals", "\x3f\x00\x00\x00abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", nil},
		{"overlap", "\xff\xff\xff\x1fabc\x17\x00\x0f\xff\x26\x01", string(bytes.Repeat([]byte("abc"), 100)), nil},
		{"shared nibble", "\xff\xff\xff\x7fa\x07\x00\x21\x07\x00", string(bytes.Repeat([]byte("a"), 24)), nil},
		{"before the start", "\xff\xff\xff\x7fa\x08\x00", "a", ErrCorrupt},
		{"bad long length", "\xff\xff\xff\x7fa\x07\x00\x0f\xff\x15\x00", "a", ErrCorrupt},
		{"32 bit length", "\xff\xff\xff\x7fa\x07\x00\x0f\xff\x00\x00\x1d\x00\x00\x00", string(bytes.Repeat([]byte("a"), 33)), nil},
		{"past the end", "\xff\xff\xff\x7fa\x07\x00\x0f\xff\x00\x00\xff\xff\xff\xff", string(bytes.Repeat([]byte("a"), 50)), ErrCorrupt},
		{"ends early", "\xff\xff\xff\x7fa\x07", "a", ErrShort},
	} {
		dst := make([]byte, max(len(c.want), 1))
		if c.err != nil {
			dst = make([]byte, 50)
		}
		n, err := DecodePlain(dst, []byte(c.src))
		if !errors.Is(err, c.err) || string(dst[:n]) != c.want {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, dst[:n], err, c.want, c.err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, a := range algorithms() {
		f.Add(uint16(300), a.encode(nil, samples()["few/33"]))
	}
	f.Fuzz(func(t *testing.T, size uint16, src []byte) {
		for _, a := range algorithms() {
			dst := make([]byte, int(size)+1)
			dst[size] = 0x5a
			n, err := a.decode(dst[:size], src)
			if n < 0 || n > int(size) || n < int(size) && err == nil {
				t.Fatalf("%s: n = %d of %d, error %v", a.name, n, size, err)
			}
			if dst[size] != 0x5a {
				t.Fatalf("%s: written past the destination", a.name)
			}
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabcabd"))
	f.Fuzz(func(t *testing.T, want []byte) {
		for _, a := range algorithms() {
			got := make([]byte, len(want))
			if n, err := a.decode(got, a.encode(nil, want)); err != nil || n != len(want) || !bytes.Equal(got, want) {
				t.Fatalf("%s: decoded %d of %d bytes, error %v", a.name, n, len(want), err)
			}
		}
	})
}
