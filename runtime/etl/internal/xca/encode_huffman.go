package xca

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// AppendHuffman appends src, compressed as LZ77 with Huffman codes, to dst.
func AppendHuffman(dst, src []byte) []byte {
	m := newMatcher(src)
	for at := 0; ; {
		end := min(at+huffmanChunk, len(src))
		tokens := huffmanTokens(m, at, end)
		last := end == len(src)
		if last {
			tokens = append(tokens, huffmanToken{symbol: 256, end: true})
		}
		dst = appendHuffmanChunk(dst, tokens)
		if last {
			return dst
		}
		at = end
	}
}

// A huffmanToken is a literal or a match.
type huffmanToken struct {
	symbol   int
	literal  bool
	end      bool // the mark after the last byte: a match without its extra bits
	distBits int
	dist     int
	length   int // less 3
}

func huffmanTokens(m *matcher, at, end int) []huffmanToken {
	var tokens []huffmanToken
	for at < end {
		dist, length := m.find(at, 0, 1<<16-1, end-at)
		if length == 0 {
			tokens = append(tokens, huffmanToken{symbol: int(m.data[at]), literal: true})
			at++
			continue
		}
		distBits := bits.Len(uint(dist)) - 1
		tokens = append(tokens, huffmanToken{
			symbol:   256 + distBits<<4 + min(length-3, 15),
			distBits: distBits,
			dist:     dist,
			length:   length - 3,
		})
		at += length
	}
	return tokens
}

func appendHuffmanChunk(dst []byte, tokens []huffmanToken) []byte {
	var counts [huffmanSymbols]int
	for _, t := range tokens {
		counts[t.symbol]++
	}
	lengths := huffmanLengths(counts)
	codes := huffmanCodes(lengths)
	for i := 0; i < huffmanSymbols; i += 2 {
		dst = append(dst, lengths[i]|lengths[i+1]<<4)
	}
	w := newBitWriter(dst)
	for _, t := range tokens {
		w.put(uint32(codes[t.symbol]), int(lengths[t.symbol]))
		if t.literal || t.end {
			continue
		}
		if t.length >= 15 {
			w.dst = appendLength(w.dst, t.length, 15)
		}
		w.put(uint32(t.dist-1<<t.distBits), t.distBits)
	}
	return w.flush()
}

// A bitWriter writes bits into 16-bit words. Two words are always reserved
// ahead of the bytes that go between, because the reader is that far ahead.
type bitWriter struct {
	dst      []byte
	now, far int // where the current word and the one after it lie
	word     uint32
	free     int
}

func newBitWriter(dst []byte) *bitWriter {
	n := len(dst)
	return &bitWriter{dst: append(dst, 0, 0, 0, 0), now: n, far: n + 2, free: 16}
}

func (w *bitWriter) put(v uint32, n int) {
	if n > w.free {
		n -= w.free
		w.word = w.word<<w.free | v>>n
		binary.LittleEndian.PutUint16(w.dst[w.now:], uint16(w.word))
		w.now, w.far = w.far, len(w.dst)
		w.dst = append(w.dst, 0, 0)
		w.word, w.free = 0, 16
		v &= 1<<n - 1
	}
	w.word = w.word<<n | v
	w.free -= n
}

func (w *bitWriter) flush() []byte {
	binary.LittleEndian.PutUint16(w.dst[w.now:], uint16(w.word<<w.free))
	return w.dst
}

// huffmanLengths returns lengths of codes, of at most huffmanMaxBits, for
// symbols of the given counts.
func huffmanLengths(counts [huffmanSymbols]int) (lengths [huffmanSymbols]byte) {
	type node struct{ count, left, right int }
	for {
		var nodes []node
		var open []int
		for symbol, n := range counts {
			nodes = append(nodes, node{count: n, left: -1, right: symbol})
			if n > 0 {
				open = append(open, symbol)
			}
		}
		if len(open) == 1 {
			// A code needs a bit, and the decoder a table that is filled.
			lengths[open[0]] = 1
			return lengths
		}
		for len(open) > 1 {
			slices.SortStableFunc(open, func(a, b int) int { return nodes[b].count - nodes[a].count })
			a, b := open[len(open)-1], open[len(open)-2]
			nodes = append(nodes, node{count: nodes[a].count + nodes[b].count, left: a, right: b})
			open = append(open[:len(open)-2], len(nodes)-1)
		}
		deepest := 0
		var walk func(i, depth int)
		walk = func(i, depth int) {
			if nodes[i].left < 0 {
				lengths[nodes[i].right] = byte(min(depth, 255))
				deepest = max(deepest, depth)
				return
			}
			walk(nodes[i].left, depth+1)
			walk(nodes[i].right, depth+1)
		}
		walk(open[0], 0)
		if deepest <= huffmanMaxBits {
			return lengths
		}
		// Flatter counts make shorter codes.
		for i, n := range counts {
			if n > 0 {
				counts[i] = n/4 + 1
			}
		}
	}
}

// huffmanCodes returns the canonical codes of the given lengths.
func huffmanCodes(lengths [huffmanSymbols]byte) (codes [huffmanSymbols]uint16) {
	code := uint16(0)
	for length := byte(1); length <= huffmanMaxBits; length++ {
		for symbol, n := range lengths {
			if n == length {
				codes[symbol] = code
				code++
			}
		}
		code <<= 1
	}
	return codes
}
