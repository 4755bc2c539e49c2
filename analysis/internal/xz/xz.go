// Package xz unpacks data compressed as in .xz files, as far as symbols in ELF files are: by
// LZMA2 alone. It takes no more memory than its result, which the caller bounds; the claimed
// size of a dictionary allocates nothing.
package xz

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/crc64"
)

// The errors of [Unpack].
var (
	ErrFormat = errors.New("xz: the data is damaged")
	ErrFilter = errors.New("xz: the data is packed with a filter that is not known")
	ErrSize   = errors.New("xz: the data has more than the allowed number of bytes")
)

const (
	magic      = "\xfd7zXZ\x00"
	headerSize = 12
)

// Unpack returns the contents of a stream, which may have at most limit bytes. Bytes after
// the stream are left alone.
func Unpack(b []byte, limit int) ([]byte, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic ||
		b[6] != 0 || crc32.ChecksumIEEE(b[6:8]) != binary.LittleEndian.Uint32(b[8:]) {
		return nil, ErrFormat
	}
	check := b[7]
	b = b[headerSize:]
	var out []byte
	var l lzma // whose memory all blocks share
	resets := resetsFor(limit)
	for {
		if len(b) == 0 {
			return nil, ErrFormat
		}
		if b[0] == 0 { // the index
			return out, nil
		}
		packed, err := blockHeader(b)
		if err != nil {
			return nil, err
		}
		d := lzma2{in: packed, out: out, begin: len(out), limit: limit, lzma: &l, resets: &resets}
		if err := d.unpack(); err != nil {
			return nil, err
		}
		block := d.out[len(out):]
		out = d.out
		used := len(packed) - len(d.in)
		padding := -used & 3
		if len(d.in) < padding {
			return nil, ErrFormat
		}
		if b, err = verify(check, block, d.in[padding:]); err != nil {
			return nil, err
		}
	}
}

// blockHeader returns the bytes after the header of a block.
func blockHeader(b []byte) ([]byte, error) {
	size := (int(b[0]) + 1) * 4
	if len(b) < size || crc32.ChecksumIEEE(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return nil, ErrFormat
	}
	head := bytes.NewReader(b[2 : size-4])
	sizes := b[1] & 0xc0
	for ; sizes != 0; sizes <<= 1 {
		if sizes&0x80 == 0 {
			continue
		}
		if _, err := binary.ReadUvarint(head); err != nil {
			return nil, ErrFormat
		}
	}
	const lzma2ID = 0x21
	if id, err := binary.ReadUvarint(head); err != nil || id != lzma2ID || b[1]&3 != 0 {
		return nil, ErrFilter
	}
	return b[size:], nil
}

// verify returns the bytes after the check of a block.
func verify(kind byte, block, b []byte) ([]byte, error) {
	// Checks of one size share it with kinds that are not in use.
	size := []int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[kind&15]
	if len(b) < size {
		return nil, ErrFormat
	}
	ok := true
	switch kind {
	case 1:
		ok = crc32.ChecksumIEEE(block) == binary.LittleEndian.Uint32(b)
	case 4:
		ok = crc64.Checksum(block, crc64.MakeTable(crc64.ECMA)) == binary.LittleEndian.Uint64(b)
	case 10:
		sum := sha256.Sum256(block)
		ok = bytes.Equal(sum[:], b[:size])
	}
	if !ok {
		return nil, fmt.Errorf("%w: its check sum is another", ErrFormat)
	}
	return b[size:], nil
}
