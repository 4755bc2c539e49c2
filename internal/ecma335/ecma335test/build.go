// Package ecma335test writes assemblies, small ones for tests.
package ecma335test

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A Builder collects the parts of an assembly. All its heaps and tables are small, so that
// every reference in a table takes two bytes.
type Builder struct {
	strings, blobs, userStrings []byte

	rows   [64][]byte
	counts [64]uint32
	code   []byte
}

// The layout of the file that Bytes makes: one section, which begins with the CLI
// header and the code of methods.
const (
	peOffset       = 0x40
	sectionRVA     = 0x2000
	sectionOffset  = 0x200
	cliHeader      = 72
	codeRVA        = sectionRVA + cliHeader
	optionalHeader = 224
)

// NewBuilder returns an assembly without anything.
func NewBuilder() *Builder {
	return &Builder{strings: []byte{0}, blobs: []byte{0}, userStrings: []byte{0}}
}

// Row adds a row to a table, and returns its number. A cell is a uint16 or uint32, as
// wide as the column is; a string or []byte is added to its heap.
func (b *Builder) Row(t ecma335.Table, cells ...any) uint16 {
	for _, cell := range cells {
		switch v := cell.(type) {
		case uint16:
			b.rows[t] = binary.LittleEndian.AppendUint16(b.rows[t], v)
		case uint32:
			b.rows[t] = binary.LittleEndian.AppendUint32(b.rows[t], v)
		case string:
			b.rows[t] = binary.LittleEndian.AppendUint16(b.rows[t], uint16(len(b.strings)))
			b.strings = append(append(b.strings, v...), 0)
		case []byte:
			b.rows[t] = binary.LittleEndian.AppendUint16(b.rows[t], uint16(len(b.blobs)))
			b.blobs = append(appendSize(b.blobs, len(v)), v...)
		default:
			panic("a cell is a number, a string or bytes")
		}
	}
	b.counts[t]++
	return uint16(b.counts[t])
}

// UserString adds a string that code refers to, and returns its token.
func (b *Builder) UserString(s string) ecma335.Token {
	at := len(b.userStrings)
	units := utf16.Encode([]rune(s))
	b.userStrings = appendSize(b.userStrings, 2*len(units)+1)
	for _, u := range units {
		b.userStrings = binary.LittleEndian.AppendUint16(b.userStrings, u)
	}
	b.userStrings = append(b.userStrings, 0)
	return ecma335.Token(0x70<<24 | at)
}

// appendSize appends a compressed number.
func appendSize(b []byte, n int) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	return append(b, byte(n>>8)|0x80, byte(n))
}

// Code adds the code of a method, and returns its address.
func (b *Builder) Code(il ...byte) uint32 {
	for len(b.code)%4 != 0 {
		b.code = append(b.code, 0)
	}
	rva := uint32(codeRVA + len(b.code))
	const fat, stack = 0x3003, 8
	b.code = binary.LittleEndian.AppendUint16(b.code, fat)
	b.code = binary.LittleEndian.AppendUint16(b.code, stack)
	b.code = binary.LittleEndian.AppendUint32(b.code, uint32(len(il)))
	b.code = binary.LittleEndian.AppendUint32(b.code, 0)
	b.code = append(b.code, il...)
	return rva
}

// IL makes code of opcodes, and of tokens behind them.
func IL(parts ...any) []byte {
	var code []byte
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			code = append(code, byte(v))
		case ecma335.Token:
			code = binary.LittleEndian.AppendUint32(code, uint32(v))
		default:
			panic("code is made of opcodes and tokens")
		}
	}
	return code
}

// Metadata returns the metadata alone.
func (b *Builder) Metadata() []byte {
	var mask uint64
	for t, n := range b.counts {
		if n > 0 {
			mask |= 1 << t
		}
	}
	tables := make([]byte, 24)
	tables[4], tables[7] = 2, 1
	binary.LittleEndian.PutUint64(tables[8:], mask)
	for _, n := range b.counts {
		if n > 0 {
			tables = binary.LittleEndian.AppendUint32(tables, n)
		}
	}
	for _, rows := range b.rows {
		tables = append(tables, rows...)
	}
	streams := []struct {
		name string
		data []byte
	}{
		{"#~\x00\x00", tables}, {"#Strings\x00\x00\x00\x00", b.strings}, {"#US\x00", b.userStrings},
		{"#GUID\x00\x00\x00", make([]byte, 16)}, {"#Blob\x00\x00\x00", b.blobs},
	}
	const version = "v4.0.30319\x00\x00"
	root := []byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00")
	root = binary.LittleEndian.AppendUint32(root, uint32(len(version)))
	root = append(root, version...)
	root = append(root, 0, 0, byte(len(streams)), 0)
	at := len(root)
	for _, s := range streams {
		at += 8 + len(s.name)
	}
	var data []byte
	for _, s := range streams {
		root = binary.LittleEndian.AppendUint32(root, uint32(at+len(data)))
		root = binary.LittleEndian.AppendUint32(root, uint32(len(s.data)))
		root = append(root, s.name...)
		data = append(data, s.data...)
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
	}
	return append(root, data...)
}

// Bytes returns the assembly as a file.
func (b *Builder) Bytes() []byte {
	metadata := b.Metadata()
	section := make([]byte, cliHeader)
	section = append(section, b.code...)
	for len(section)%4 != 0 {
		section = append(section, 0)
	}
	binary.LittleEndian.PutUint32(section, cliHeader)
	binary.LittleEndian.PutUint32(section[8:], uint32(sectionRVA+len(section)))
	binary.LittleEndian.PutUint32(section[12:], uint32(len(metadata)))
	section = append(section, metadata...)

	file := make([]byte, sectionOffset)
	copy(file, "MZ")
	binary.LittleEndian.PutUint32(file[0x3c:], peOffset)
	pe := file[peOffset:]
	copy(pe, "PE\x00\x00")
	coff := pe[4:]
	binary.LittleEndian.PutUint16(coff, 0x14c)
	binary.LittleEndian.PutUint16(coff[2:], 1)
	binary.LittleEndian.PutUint16(coff[16:], optionalHeader)
	optional := coff[20:]
	binary.LittleEndian.PutUint16(optional, 0x10b)
	binary.LittleEndian.PutUint32(optional[92:], 16)
	binary.LittleEndian.PutUint32(optional[96+14*8:], sectionRVA)
	binary.LittleEndian.PutUint32(optional[96+14*8+4:], cliHeader)
	header := optional[optionalHeader:]
	copy(header, ".text")
	binary.LittleEndian.PutUint32(header[8:], uint32(len(section)))
	binary.LittleEndian.PutUint32(header[12:], sectionRVA)
	binary.LittleEndian.PutUint32(header[16:], uint32(len(section)))
	binary.LittleEndian.PutUint32(header[20:], sectionOffset)
	return append(file, section...)
}
