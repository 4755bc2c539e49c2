package tlg

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/order"
)

// The machines whose code is read.
const (
	machineX64   = 0x8664
	machineARM64 = 0xaa64
)

// A function is a piece of code, as the table for unwinding has it. A function that was cut
// into pieces has one for each, and all are of the one that begins at root.
type function struct{ begin, end, root uint32 }

// maxFunctions bounds how many of a file are looked at.
const maxFunctions = 1 << 22

// functionsOf returns the functions of a file by address.
func functionsOf(image *ecma335.Image) []function {
	table := image.At(image.Directory(ecma335.DirectoryException))
	var list []function
	if image.Machine == machineX64 {
		list = functionsX64(image, table)
	} else {
		list = functionsARM64(image, table)
	}
	order.Sort(list, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
	return list
}

// functionAt returns the index of the function that has an address, in its first piece, or -1.
func (a *attribution) functionAt(rva uint32) int {
	i, found := slices.BinarySearchFunc(a.functions, rva, func(f function, rva uint32) int { return cmp.Compare(f.begin, rva) })
	if !found {
		i--
	}
	if i < 0 || rva >= a.functions[i].end {
		return -1
	}
	if root := a.functions[i].root; root != a.functions[i].begin {
		if j, ok := slices.BinarySearchFunc(a.functions, root, func(f function, rva uint32) int { return cmp.Compare(f.begin, rva) }); ok {
			return j
		}
	}
	return i
}

// The form of unwinding data of x64.
const (
	entryX64  = 12
	chained   = 4 // a flag: the data of the piece before follow
	maxChains = 32
)

func functionsX64(image *ecma335.Image, table []byte) []function {
	list := make([]function, 0, min(len(table)/entryX64, maxFunctions))
	for at := 0; at+entryX64 <= len(table) && len(list) < maxFunctions; at += entryX64 {
		le := binary.LittleEndian
		f := function{begin: le.Uint32(table[at:]), end: le.Uint32(table[at+4:])}
		f.root = f.begin
		unwind := le.Uint32(table[at+8:])
		for range maxChains {
			info := image.From(unwind)
			if len(info) < 4 || info[0]>>3&chained == 0 {
				break
			}
			parent := 4 + 2*((int(info[2])+1)&^1)
			if parent+entryX64 > len(info) {
				break
			}
			f.root, unwind = le.Uint32(info[parent:]), le.Uint32(info[parent+8:])
		}
		list = append(list, f)
	}
	return list
}

// The form of unwinding data of ARM64.
const (
	entryARM64 = 8 // an address, and data or where these are
	packed     = 3 // bits that are not 0 where data stand in the entry itself
	fragment   = 2 // of these: of the middle of a function
	codeEnd    = 0xe4
	codeEndC   = 0xe5 // ends the codes of a piece, and those of the piece before follow
)

func functionsARM64(image *ecma335.Image, table []byte) []function {
	list := make([]function, 0, min(len(table)/entryARM64, maxFunctions))
	for at := 0; at+entryARM64 <= len(table) && len(list) < maxFunctions; at += entryARM64 {
		le := binary.LittleEndian
		begin, unwind := le.Uint32(table[at:]), le.Uint32(table[at+4:])
		words, goesOn := unwind>>2&0x7ff, unwind&packed == fragment
		if unwind&packed == 0 {
			info := image.From(unwind)
			if len(info) < 4 {
				continue
			}
			words, goesOn = le.Uint32(info)&(1<<18-1), continues(info)
		}
		f := function{begin: begin, end: begin + 4*words, root: begin}
		if n := len(list); goesOn && n > 0 && list[n-1].end == begin {
			f.root = list[n-1].root
		}
		list = append(list, f)
	}
	return list
}

// continues reports whether unwinding data of ARM64 are those of a piece that another one
// comes before.
func continues(info []byte) bool {
	head := binary.LittleEndian.Uint32(info)
	scopes, words, at := int(head>>22&31), int(head>>27), 4
	if scopes == 0 && words == 0 && len(info) >= 8 { // they are many, and have a word of their own
		more := binary.LittleEndian.Uint32(info[4:])
		scopes, words, at = int(more&0xffff), int(more>>16&0xff), 8
	}
	if head>>21&1 == 0 { // scopes of epilogues stand before the codes
		at += 4 * scopes
	}
	end := min(at+4*words, len(info))
	for at < end {
		switch c := info[at]; {
		case c == codeEnd:
			return false
		case c == codeEndC:
			return true
		case c < 0xc0 || c == 0xe1 || c == 0xe3 || c >= 0xe6 && c != 0xe7:
			at++
		case c == 0xe0:
			at += 4
		case c == 0xe7:
			at += 3
		default: // 0xc0 to 0xdf, 0xe2
			at += 2
		}
	}
	return false
}
