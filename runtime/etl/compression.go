package etl

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etl/internal/xca"
)

// firstRecordSize is enough of a record to hold its time stamp.
const firstRecordSize = 40

// firstTime returns the time stamp of the first record of a buffer.
func (f *file) firstTime(ref *bufferRef, huffman **xca.HuffmanDecoder) (int64, bool) {
	b, _ := f.peek(ref.pos)
	var record [firstRecordSize]byte
	packed := b[bufferHeaderSize:min(len(b), int(ref.size))]
	n := 0
	if ref.compressed {
		n, _ = f.decompress(record[:min(len(record), int(ref.extent)-bufferHeaderSize)], packed, huffman)
	} else {
		n = copy(record[:], packed)
	}
	return recordTime(record[:n])
}

// findAlgorithm makes sure that the compressed buffer ref can be decompressed as
// the header of the file says. If that is damaged, the first buffers show which
// algorithm it is. A file that does not say that it is compressed is so as Windows
// makes them.
func (f *file) findAlgorithm(ref *bufferRef, huffman **xca.HuffmanDecoder) {
	const tries = 4
	if f.tried == tries {
		return
	}
	if f.tried++; f.tried == 1 {
		f.algorithm = f.header.Compression
		if f.algorithm == CompressionNone {
			f.algorithm = CompressionXpress
		}
	}
	given := f.algorithm
	packed := make([]byte, min(int(ref.size)-bufferHeaderSize, 64<<10))
	n, _ := f.readAt(packed, ref.pos+bufferHeaderSize)
	records := make([]byte, min(int(ref.extent)-bufferHeaderSize, 4<<10))
	for _, f.algorithm = range []Compression{given, CompressionXpress, CompressionLZNT1, CompressionXpressHuffman} {
		m, _ := f.decompress(records, packed[:n], huffman)
		if !areRecords(records[:m]) {
			continue
		}
		f.tried = tries
		if f.algorithm != given {
			f.note(0, "the compression is given as %d, but is %v", uint16(given), f.algorithm)
		}
		return
	}
	f.algorithm = given
}

// areRecords reports whether p begins with some records.
func areRecords(p []byte) bool {
	for n := range 3 {
		if len(p) < eventHeaderSize || isFilling(p) {
			return n > 0
		}
		r, fault := measure(p)
		switch {
		case r.known && r.size > len(p):
			return true
		case fault != "":
			return false
		}
		p = p[min((r.size+7)&^7, len(p)):]
	}
	return true
}

// decompress decodes src into dst, as far as it goes.
func (f *file) decompress(dst, src []byte, huffman **xca.HuffmanDecoder) (int, error) {
	switch f.algorithm {
	case CompressionXpress:
		return xca.DecodePlain(dst, src)
	case CompressionLZNT1:
		return xca.DecodeLZNT1(dst, src)
	case CompressionXpressHuffman:
		if *huffman == nil {
			*huffman = new(xca.HuffmanDecoder)
		}
		return (*huffman).Decode(dst, src)
	}
	return 0, fmt.Errorf("unknown algorithm %d", uint16(f.algorithm))
}
