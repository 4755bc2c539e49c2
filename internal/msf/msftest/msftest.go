// Package msftest makes PDB files for tests.
package msftest

import "encoding/binary"

const blockSize = 512

// File makes a file of streams, whose blocks are out of order.
func File(streams [][]byte) []byte {
	le := binary.LittleEndian.AppendUint32
	file := make([]byte, 3*blockSize) // the head, and two maps of free blocks
	write := func(data []byte) (list []byte) {
		n := (len(data) + blockSize - 1) / blockSize
		first := len(file) / blockSize
		file = append(file, make([]byte, n*blockSize)...)
		for i := range n { // the last block comes first
			at := first + n - 1 - i
			copy(file[at*blockSize:], data[i*blockSize:min(len(data), (i+1)*blockSize)])
			list = le(list, uint32(at))
		}
		return list
	}
	dir := le(nil, uint32(len(streams)))
	var lists []byte
	for _, s := range streams {
		dir = le(dir, uint32(len(s)))
		lists = append(lists, write(s)...)
	}
	dir = append(dir, lists...)
	at := write(write(dir))
	head := []byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00")
	for _, n := range []int{blockSize, 1, len(file) / blockSize, len(dir), 0} {
		head = le(head, uint32(n))
	}
	copy(file, append(head, at...))
	return file
}

// Debug makes the stream of the debugger of modules, each of which has its symbols in the
// stream of a number.
func Debug(names []string, stream uint16, symbols []byte) []byte {
	dbi := make([]byte, 64)
	for _, name := range names {
		module := make([]byte, 64)
		binary.LittleEndian.PutUint16(module[34:], stream)
		binary.LittleEndian.PutUint32(module[36:], uint32(len(symbols)))
		module = append(append(module, name...), 0, 0)
		for len(module)%4 != 0 {
			module = append(module, 0)
		}
		dbi = append(dbi, module...)
	}
	binary.LittleEndian.PutUint32(dbi[24:], uint32(len(dbi)-64))
	return dbi
}
