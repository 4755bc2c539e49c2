package fetch

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	cabinetMagic = "MSCF"
	cabinetBlock = 1 << 15 // the most that a block unpacks to, and how far back it refers
	cabinetHead  = 36
)

var errCabinet = errors.New("fetch: it is no whole cabinet")

// unpack writes the one file that a cabinet of a symbol server has. It keeps two blocks in
// memory, whatever the cabinet says.
func unpack(w io.Writer, r io.ReaderAt, limit int64) error {
	c, err := openCabinet(r)
	if err != nil {
		return err
	}
	if int64(c.size) > limit {
		return fmt.Errorf("fetch: the cabinet has a file of %d bytes, more than %d", c.size, limit)
	}
	var window []byte
	for left := c.size; left > 0; {
		if c.blocks == 0 {
			return errCabinet
		}
		c.blocks--
		plain, err := c.block(window)
		if err != nil {
			return err
		}
		if len(plain) == 0 || uint32(len(plain)) > left {
			return errCabinet
		}
		if _, err := w.Write(plain); err != nil {
			return err
		}
		left -= uint32(len(plain))
		window = append(window, plain...)
		window = window[max(0, len(window)-cabinetBlock):]
	}
	return nil
}

// A cabinet is the blocks of its one file.
type cabinet struct {
	r       io.ReaderAt
	at      int64 // of the next block
	blocks  uint16
	size    uint32 // of the file
	reserve int64  // of each block
}

func openCabinet(r io.ReaderAt) (*cabinet, error) {
	head := make([]byte, cabinetHead+4)
	if n, err := r.ReadAt(head, 0); n < len(head) || string(head[:4]) != cabinetMagic {
		return nil, errors.Join(errCabinet, ignoreEOF(err))
	}
	word := func(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	long := func(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	const reserved, chained = 4, 1 | 2
	flags := word(head, 30)
	if folders, files := word(head, 26), word(head, 28); folders != 1 || files != 1 || flags&chained != 0 {
		return nil, fmt.Errorf("fetch: the cabinet has %d files in %d folders; that of a symbol server has one", files, folders)
	}
	c := &cabinet{r: r}
	at, perFolder := int64(cabinetHead), int64(0)
	if flags&reserved != 0 {
		at, perFolder, c.reserve = at+4+int64(word(head, 36)), int64(head[38]), int64(head[39])
	}
	folder := make([]byte, 8)
	if _, err := r.ReadAt(folder, at); err != nil {
		return nil, errCabinet
	}
	file := make([]byte, 16)
	if first := int64(long(head, 16)); first < at+8+perFolder {
		return nil, errCabinet
	} else if _, err := r.ReadAt(file, first); err != nil {
		return nil, errCabinet
	}
	const mszip = 1
	if kind := word(folder, 6) & 15; kind != mszip {
		return nil, fmt.Errorf("fetch: the cabinet is packed by method %d; only MSZIP, which is 1, can be read", kind)
	}
	if long(file, 4) != 0 || word(file, 8) != 0 {
		return nil, errCabinet
	}
	c.at, c.blocks, c.size = int64(long(folder, 0)), word(folder, 4), long(file, 0)
	return c, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// block unpacks the next block, which may refer to the bytes before it.
func (c *cabinet) block(window []byte) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := c.r.ReadAt(head, c.at); err != nil {
		return nil, errCabinet
	}
	n, size := binary.LittleEndian.Uint16(head[4:]), binary.LittleEndian.Uint16(head[6:])
	if size > cabinetBlock || n < 2 {
		return nil, errCabinet
	}
	b := make([]byte, c.reserve+int64(n))
	if _, err := c.r.ReadAt(b, c.at+8); err != nil && !errors.Is(err, io.EOF) {
		return nil, errCabinet
	}
	c.at += 8 + int64(len(b))
	packed := b[c.reserve:]
	if want := binary.LittleEndian.Uint32(head); want != 0 && c.reserve == 0 && want != sum(head[4:], sum(packed, 0)) {
		return nil, fmt.Errorf("fetch: a block of the cabinet is damaged: its check sum is not %#x", want)
	}
	if !bytes.HasPrefix(packed, []byte("CK")) {
		return nil, errCabinet
	}
	plain := make([]byte, size)
	if _, err := io.ReadFull(flate.NewReaderDict(bytes.NewReader(packed[2:]), window), plain); err != nil {
		return nil, fmt.Errorf("fetch: a block of the cabinet: %w", err)
	}
	return plain, nil
}

// sum is the check sum of cabinets: words of 4 bytes, and the last bytes the other way
// round.
func sum(b []byte, start uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		start ^= binary.LittleEndian.Uint32(b)
	}
	var rest uint32
	for _, x := range b {
		rest = rest<<8 | uint32(x)
	}
	return start ^ rest
}
