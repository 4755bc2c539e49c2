package perfmap

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The kinds of records of a jitdump that say where code is, and the sizes of their parts.
const (
	dumpLoad, dumpMove = 0, 1

	dumpHead, dumpRecord = 40, 16
	dumpPlace            = 40 // process, thread, address, address of the code, size, number
)

// IsDump reports whether a file that begins so is a jitdump, of either order of bytes.
func IsDump(head []byte) bool { return orderOf(head) != nil }

func orderOf(head []byte) binary.ByteOrder {
	const magic = 0x4a695444
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if len(head) >= 4 && order.Uint32(head) == magic {
			return order
		}
	}
	return nil
}

var errNoDump = errors.New("it is no jitdump of version 1")

// ReadDump reads jit-PID.dump, in which programs write the code that they compile for perf
// inject --jit, and calls function as [Read] does. The part before a fault is read.
func ReadDump(r io.Reader, function func(start, size uint64, name string)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	head := make([]byte, dumpHead)
	if _, err := io.ReadFull(in, head); err != nil || orderOf(head) == nil {
		return errNoDump
	}
	order := orderOf(head)
	if order.Uint32(head[4:]) != 1 || order.Uint32(head[8:]) < dumpHead {
		return errNoDump
	}
	at := int64(order.Uint32(head[8:]))
	if _, err := io.CopyN(io.Discard, in, at-dumpHead); err != nil {
		return errNoDump
	}
	names := make(map[uint64]string) // by the numbers of code
	for {
		record := head[:dumpRecord]
		if _, err := io.ReadFull(in, record); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("the record at byte %d: %w", at, err)
		}
		kind, size := order.Uint32(record), order.Uint32(record[4:])
		if size < dumpRecord {
			return fmt.Errorf("the record at byte %d says that it has %d bytes", at, size)
		}
		left := int64(size - dumpRecord)
		b := make([]byte, min(left, dumpPlace+longestLine))
		if kind != dumpLoad && kind != dumpMove {
			b = nil
		}
		_, err := io.ReadFull(in, b)
		if err == nil {
			_, err = io.CopyN(io.Discard, in, left-int64(len(b)))
		}
		if err != nil {
			return fmt.Errorf("the record at byte %d ends early: %w", at, err)
		}
		at += int64(size)
		if start, length, name := place(order, kind, b, names); name != "" {
			function(start, length, name)
		}
	}
}

// place reads where code is now, and how it is called, "" if the record does not tell.
func place(order binary.ByteOrder, kind uint32, b []byte, names map[uint64]string) (start, size uint64, name string) {
	word := func(at int) uint64 { return order.Uint64(b[at:]) }
	switch {
	case kind == dumpLoad && len(b) > dumpPlace:
		if text, _, whole := bytes.Cut(b[dumpPlace:], []byte{0}); whole {
			name = string(text)
			names[word(32)] = name
		}
		return word(16), word(24), name
	case kind == dumpMove && len(b) >= dumpPlace+8:
		return word(24), word(32), names[word(40)]
	}
	return 0, 0, ""
}
