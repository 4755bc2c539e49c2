package wevt

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The types of resources that Windows gives numbers to.
const typeMessageTable = 11

// typeTemplates is the name of the type of resources that Decode reads.
const typeTemplates = "WEVT_TEMPLATE"

// otherName stands for names of resources that cannot be typeTemplates. Each can be
// long, and be that of every entry.
const otherName = "other"

// ErrNoResource is returned for files that have no WEVT_TEMPLATE resource.
var ErrNoResource = errors.New("the file has no WEVT_TEMPLATE resource")

// ReadPE takes the resources out of a program or a library of Windows. Where the
// texts are in a file of their own, such as de-DE/x.dll.mui, they are to be read
// from there: the error is [ErrNoResource] then, and the messages are returned.
func ReadPE(r io.ReaderAt) (Resources, error) {
	head, err := io.ReadAll(io.NewSectionReader(r, 0, maxHead))
	if err != nil {
		return Resources{}, err
	}
	f, err := ecma335.ParseImage(head)
	if err != nil {
		return Resources{}, err
	}
	section := resourceSection(f)
	if section == nil {
		return Resources{}, ErrNoResource
	}
	b, err := io.ReadAll(io.NewSectionReader(r, int64(section.Offset), int64(section.Size)))
	if err != nil || len(b) < int(section.Size) {
		return Resources{}, fmt.Errorf("the resources cannot be read: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	t := &resourceTree{b: b, base: section.VirtualAddress, left: maxResources}
	res := Resources{Messages: make(map[Language][]byte)}
	err = t.walk(0, nil, func(path []resourceID, data []byte) {
		switch {
		case path[0].name == typeTemplates && res.Templates == nil:
			res.Templates = data
		case path[0].number == typeMessageTable && path[0].name == "":
			res.Messages[Language(path[2].number)] = data
		}
	})
	if err == nil && res.Templates == nil {
		err = ErrNoResource
	}
	return res, err
}

// maxHead is how far the list of sections may go: Windows loads files with up to 96.
const maxHead = 64 << 10

// resourceSection returns the section that begins with the directory of resources.
func resourceSection(f *ecma335.Image) *ecma335.Section {
	rva := f.Directory(ecma335.DirectoryResource).RVA
	i := slices.IndexFunc(f.Sections, func(s ecma335.Section) bool { return rva != 0 && rva == s.VirtualAddress })
	if i < 0 {
		return nil
	}
	return &f.Sections[i]
}

// maxResources is how many entries of the resource directory are looked at.
const maxResources = 1 << 16

// The parts of a resource directory.
const (
	directoryHeader = 16
	resourceSlot    = 8
	dataEntry       = 16
	highBit         = 1 << 31
	levels          = 3 // type, name, language
)

// A resourceID is the key of a level of the directory.
type resourceID struct {
	number uint32
	name   string
}

// A resourceTree is a directory of resources. Addresses of data count from base.
type resourceTree struct {
	b    []byte
	base uint32
	left int
}

var errResources = errors.New("the directory of resources is damaged")

// walk calls found for each resource, with its type, name and language.
func (t *resourceTree) walk(at uint32, path []resourceID, found func([]resourceID, []byte)) error {
	if uint64(at)+directoryHeader > uint64(len(t.b)) {
		return errResources
	}
	n := int(binary.LittleEndian.Uint16(t.b[at+12:])) + int(binary.LittleEndian.Uint16(t.b[at+14:]))
	if uint64(at)+directoryHeader+uint64(n)*resourceSlot > uint64(len(t.b)) {
		return errResources
	}
	for i := range n {
		if t.left--; t.left < 0 {
			return errResources
		}
		slot := t.b[int(at)+directoryHeader+i*resourceSlot:]
		id, ok := t.id(binary.LittleEndian.Uint32(slot))
		next := binary.LittleEndian.Uint32(slot[4:])
		below := append(path[:len(path):len(path)], id)
		if !ok || (next&highBit != 0) != (len(below) < levels) {
			return errResources
		}
		if len(below) < levels {
			if err := t.walk(next&^highBit, below, found); err != nil {
				return err
			}
			continue
		}
		data, ok := t.data(next)
		if !ok {
			return errResources
		}
		found(below, data)
	}
	return nil
}

// id reads a number or, where it says so, a name.
func (t *resourceTree) id(v uint32) (resourceID, bool) {
	if v&highBit == 0 {
		return resourceID{number: v}, true
	}
	at := uint64(v &^ highBit)
	if at+2 > uint64(len(t.b)) {
		return resourceID{}, false
	}
	size := 2 * uint64(binary.LittleEndian.Uint16(t.b[at:]))
	if at+2+size > uint64(len(t.b)) {
		return resourceID{}, false
	}
	if size != 2*uint64(len(typeTemplates)) {
		return resourceID{name: otherName}, true
	}
	return resourceID{name: etw.UTF16(t.b[at+2 : at+2+size]).String()}, true
}

// data returns the bytes of a resource.
func (t *resourceTree) data(at uint32) ([]byte, bool) {
	if uint64(at)+dataEntry > uint64(len(t.b)) {
		return nil, false
	}
	from := uint64(binary.LittleEndian.Uint32(t.b[at:])) - uint64(t.base)
	size := uint64(binary.LittleEndian.Uint32(t.b[at+4:]))
	if from > uint64(len(t.b)) || size > uint64(len(t.b))-from {
		return nil, false
	}
	return t.b[from : from+size], true
}
