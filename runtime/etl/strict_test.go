package etl_test

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// checkFile goes through a file byte by byte, and accepts nothing but the format of Windows.
// It shares no code with the Reader. Records of compressed buffers it does not see.
func checkFile(b []byte) error {
	le := binary.LittleEndian
	if len(b) < 0x48+0x20+0x118 {
		return errors.New("there is no header")
	}
	header := b[0x48:]
	size, mode, buffers := int(le.Uint32(header[0x20:])), le.Uint32(header[0x40:]), int(le.Uint32(header[0x44:]))
	packed := mode&0x04000000 != 0
	if (header[2] != 1 && header[2] != 2) || header[3] != 0xc0 || header[6] != 0 || header[7] != 0 {
		return errors.New("the first record is not the header of a log file")
	}
	sequences, last := make(map[uint16]uint64), make(map[uint16]int64)
	seen := make(map[uint64]bool)
	n := 0
	for at := 0; at < len(b); n++ {
		if len(b)-at < 0x48 {
			return fmt.Errorf("%d bytes follow the last buffer", len(b)-at)
		}
		p := b[at:]
		length, extent, flags, typ := int(le.Uint32(p)), int(le.Uint32(p[0x30:])), le.Uint16(p[0x34:]), le.Uint16(p[0x36:])
		sequence, cpu := le.Uint64(p[0x18:]), le.Uint16(p[0x28:])
		switch {
		case length > len(p) || length < 0x48 || extent < 0x48 || extent > size:
			return fmt.Errorf("offset %d: a buffer of %d bytes, %d filled", at, length, extent)
		case !packed && length != size:
			return fmt.Errorf("offset %d: a buffer of %d bytes among those of %d", at, length, size)
		case n == 0 != (typ == 4) || n > 0 && typ != 0:
			return fmt.Errorf("offset %d: buffer %d is of type %d", at, n, typ)
		case n > 0 && (flags&0x20 == 0 || packed != (flags&0x40 != 0)):
			return fmt.Errorf("offset %d: flags %#x", at, flags)
		case seen[sequence] || n == 0 != (sequence == 0):
			return fmt.Errorf("offset %d: buffer number %d", at, sequence)
		case n > 0 && sequence <= sequences[cpu]:
			return fmt.Errorf("offset %d: buffer number %d of processor %d after %d", at, sequence, cpu, sequences[cpu])
		}
		seen[sequence], sequences[cpu] = true, sequence
		if n == 0 || !packed {
			if err := checkRecords(p[:length], extent, cpu, last); err != nil {
				return fmt.Errorf("offset %d: %w", at, err)
			}
		}
		at += length
	}
	if n != buffers {
		return fmt.Errorf("%d buffers, and the header says %d", n, buffers)
	}
	return nil
}

// checkRecords goes through the records of a buffer.
func checkRecords(p []byte, extent int, cpu uint16, last map[uint16]int64) error {
	le := binary.LittleEndian
	sizes := map[byte]int{1: 0x20, 2: 0x20, 3: 0x18, 4: 0x18, 0x0a: 0x30, 0x14: 0x30, 0x0b: 0x48, 0x15: 0x48, 0x10: 0x10, 0x11: 0x10, 0x12: 0x50, 0x13: 0x50}
	at := 0x48
	for at < extent {
		r := p[at:extent]
		if len(r) < 8 {
			return fmt.Errorf("%d bytes at %#x", len(r), at)
		}
		size, least, when := int(le.Uint16(r)), 8, -1
		switch {
		case r[3] == 0x90:
		case r[3] == 0xc0 && sizes[r[2]] != 0:
			least, when = sizes[r[2]], 0x10
			switch r[2] {
			case 1, 2, 3, 4:
				size = int(le.Uint16(r[4:]))
			case 0x10, 0x11:
				size, when = int(le.Uint16(r[4:])), 8
			}
		default:
			return fmt.Errorf("no record at %#x", at)
		}
		if size < least || size > len(r) {
			return fmt.Errorf("a record of %d bytes at %#x", size, at)
		}
		if when >= 0 {
			last[cpu] = max(last[cpu], int64(le.Uint64(r[when:])))
		}
		if r[2] == 0x12 || r[2] == 0x13 {
			if err := checkItems(r[:size]); err != nil {
				return fmt.Errorf("at %#x: %w", at, err)
			}
		}
		at += (size + 7) &^ 7
	}
	for _, b := range p[extent:] {
		if b != 0xff {
			return errors.New("the rest of the buffer is not filled")
		}
	}
	return nil
}

// checkItems goes through the extended items of an event.
func checkItems(r []byte) error {
	le := binary.LittleEndian
	if r[4]&1 == 0 {
		return nil
	}
	for at := 0x50; ; {
		if len(r)-at < 8 {
			return errors.New("an item is cut off")
		}
		size, linked := int(le.Uint16(r[at+6:])), r[at+4]&1 != 0
		if at+8+size > len(r) {
			return fmt.Errorf("an item of %d bytes", size)
		}
		at += (8 + size + 7) &^ 7
		if !linked {
			return nil
		}
	}
}
