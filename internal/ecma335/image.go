package ecma335

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// The errors of files of another kind.
var (
	ErrNotImage   = errors.New("no program or library in the PE format")
	ErrNotManaged = errors.New("the file has no CLI header: it is no assembly of .NET")
)

// An Image is a program or library in the PE format. Package debug/pe refuses those
// that are compiled for Linux and macOS ahead of time, whose machine is a number of
// .NET's own.
type Image struct {
	Base          uint64 // the address that it asks to be loaded at
	Machine       uint16 // as it is in the file
	TimeDateStamp uint32
	Sections      []Section

	data        []byte
	directories []Directory
}

// A Section is a part of an image that is mapped into memory as a whole.
type Section struct {
	Name            string
	VirtualAddress  uint32 // where it is mapped, counted from the image's base
	VirtualSize     uint32
	Offset          uint32 // where it is in the file
	Size            uint32 // in the file
	Characteristics uint32
}

// A Directory is a table of an image, or something else by address and size.
type Directory struct{ RVA, Size uint32 }

// The directories that readers need, as [Image.Directory] numbers
// them.
const (
	DirectoryExport    = 0
	DirectoryResource  = 2
	DirectoryException = 3
	DirectoryDebug     = 6
	directoryCLI       = 14
)

// The sizes of the parts of an image's head.
const (
	coffHeader    = 20
	sectionHeader = 40
	directorySize = 8
	cliHeader     = 72
)

// ParseImage reads the head of an image. It keeps data. The error is [ErrNotImage]
// if data is nothing of the kind.
func ParseImage(data []byte) (*Image, error) {
	if len(data) < 0x40 || data[0] != 'M' || data[1] != 'Z' {
		return nil, ErrNotImage
	}
	pe := uint64(binary.LittleEndian.Uint32(data[0x3c:]))
	if pe+4+coffHeader > uint64(len(data)) || !bytes.Equal(data[pe:pe+4], []byte("PE\x00\x00")) {
		return nil, ErrNotImage
	}
	coff := data[pe+4:]
	f := &Image{
		Machine:       binary.LittleEndian.Uint16(coff),
		TimeDateStamp: binary.LittleEndian.Uint32(coff[4:]),
		data:          data,
	}
	optional := pe + 4 + coffHeader
	sections := optional + uint64(binary.LittleEndian.Uint16(coff[16:]))
	count := uint64(binary.LittleEndian.Uint16(coff[2:]))
	if sections+count*sectionHeader > uint64(len(data)) {
		return nil, fault(pe, "the image has %d sections, which end outside of the file", count)
	}
	if err := f.readDirectories(optional, data[optional:sections]); err != nil {
		return nil, err
	}
	for i := range count {
		b := data[sections+i*sectionHeader:]
		name, _, _ := strings.Cut(string(b[:8]), "\x00")
		f.Sections = append(f.Sections, Section{
			Name:            name,
			VirtualSize:     binary.LittleEndian.Uint32(b[8:]),
			VirtualAddress:  binary.LittleEndian.Uint32(b[12:]),
			Size:            binary.LittleEndian.Uint32(b[16:]),
			Offset:          binary.LittleEndian.Uint32(b[20:]),
			Characteristics: binary.LittleEndian.Uint32(b[36:]),
		})
	}
	return f, nil
}

// readDirectories reads the list of directories, which the optional header ends with.
func (f *Image) readDirectories(at uint64, b []byte) error {
	if len(b) < 2 {
		return fault(at, "the image has no optional header")
	}
	var first int
	switch magic := binary.LittleEndian.Uint16(b); magic {
	case 0x10b:
		first = 96
	case 0x20b:
		first = 112
	default:
		return fault(at, "unknown kind %#x of optional header", magic)
	}
	if len(b) < first {
		return fault(at, "the optional header ends early")
	}
	f.Base = uint64(binary.LittleEndian.Uint32(b[28:]))
	if first == 112 {
		f.Base = binary.LittleEndian.Uint64(b[24:])
	}
	count := binary.LittleEndian.Uint32(b[first-4:])
	b = b[first:]
	for range min(count, 16, uint32(len(b)/directorySize)) {
		f.directories = append(f.directories, directory(b))
		b = b[directorySize:]
	}
	return nil
}

func directory(b []byte) Directory {
	return Directory{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
}

// Directory returns a directory by its number. It is zero if the image has none.
func (f *Image) Directory(i int) Directory {
	if i >= len(f.directories) {
		return Directory{}
	}
	return f.directories[i]
}

// From returns the bytes of the file from an address to the end of its section. It is nil if
// no section has the address.
func (f *Image) From(rva uint32) []byte {
	for i := range f.Sections {
		s := &f.Sections[i]
		if rva < s.VirtualAddress || rva-s.VirtualAddress >= s.Size {
			continue
		}
		end := min(uint64(s.Offset)+uint64(s.Size), uint64(len(f.data)))
		from := uint64(s.Offset) + uint64(rva-s.VirtualAddress)
		if from < end {
			return f.data[from:end:end]
		}
	}
	return nil
}

// At returns the bytes of a directory. It is nil if that is not all in one section.
func (f *Image) At(d Directory) []byte {
	b := f.From(d.RVA)
	if uint64(d.Size) > uint64(len(b)) {
		return nil
	}
	return b[:d.Size:d.Size]
}

// A CLI is the header that makes an image a managed one.
type CLI struct {
	Metadata      Directory
	Flags         uint32
	EntryPoint    Token
	Resources     Directory
	ManagedNative Directory // of code that is compiled ahead of time
}

// CLI returns the CLI header. The error is [ErrNotManaged] if there is none.
func (f *Image) CLI() (CLI, error) {
	d := f.Directory(directoryCLI)
	if d == (Directory{}) {
		return CLI{}, ErrNotManaged
	}
	b := f.From(d.RVA)
	if len(b) < cliHeader {
		return CLI{}, fault(uint64(d.RVA), "no section has the whole CLI header")
	}
	return CLI{
		Metadata:      directory(b[8:]),
		Flags:         binary.LittleEndian.Uint32(b[16:]),
		EntryPoint:    Token(binary.LittleEndian.Uint32(b[20:])),
		Resources:     directory(b[24:]),
		ManagedNative: directory(b[64:]),
	}, nil
}

// Metadata reads the metadata of a managed image.
func (f *Image) Metadata() (*Metadata, error) {
	cli, err := f.CLI()
	if err != nil {
		return nil, err
	}
	root := f.At(cli.Metadata)
	if root == nil {
		return nil, fault(uint64(cli.Metadata.RVA), "no section has the whole metadata of %d bytes", cli.Metadata.Size)
	}
	return ParseMetadata(root)
}

// A DebugEntry is an entry of the debug directory.
type DebugEntry struct {
	Stamp        uint32
	Major, Minor uint16
	Type         uint32
	Data         []byte // nil if it is outside of the file
}

const debugEntry = 28

// Debug returns the debug directory.
func (f *Image) Debug() []DebugEntry {
	var all []DebugEntry
	for b := range slices.Chunk(f.At(f.Directory(DirectoryDebug)), debugEntry) {
		if len(b) < debugEntry {
			break
		}
		e := DebugEntry{
			Stamp: binary.LittleEndian.Uint32(b[4:]),
			Major: binary.LittleEndian.Uint16(b[8:]),
			Minor: binary.LittleEndian.Uint16(b[10:]),
			Type:  binary.LittleEndian.Uint32(b[12:]),
		}
		size, from := uint64(binary.LittleEndian.Uint32(b[16:])), uint64(binary.LittleEndian.Uint32(b[24:]))
		if end := from + size; end <= uint64(len(f.data)) {
			e.Data = f.data[from:end:end]
		}
		all = append(all, e)
	}
	return all
}
