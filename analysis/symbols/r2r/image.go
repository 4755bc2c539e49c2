package r2r

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// ErrNoCode says that a file is no image with code that was compiled ahead of time.
var ErrNoCode = errors.New("r2r: the file has no code that was compiled ahead of time for .NET Core or later")

// An Image is a file with code that was compiled ahead of time. It may be used by several
// goroutines once everything is attached.
type Image struct {
	// Major and Minor are the version of the format.
	Major, Minor uint16
	// TimeDateStamp is when the file was linked, or a hash in its place.
	TimeDateStamp uint32
	// MVID identifies the build of the assembly. It is zero for composite images.
	MVID [16]byte
	// Owner is the name of the composite image that has the code of this one, or "".
	Owner string

	file       *ecma335.Image
	own        *ecma335.Metadata // nil in composite images
	manifest   *ecma335.Metadata // names further modules; may be nil
	components []component
	attached   map[string]*ecma335.Metadata // by the name of the assembly, in lower case
	functions  functions
	instances  []byte // the table of instances, in which sources are places
	index      index
	methods    []span
	thunks     ecma335.Directory
}

// A section is a part of the ReadyToRun header, by its number.
type section uint32

const (
	runtimeFunctions     section = 102
	methodEntryPoints    section = 103
	delayLoadThunks      section = 106
	instanceEntryPoints  section = 109
	manifestMetadata     section = 112
	componentAssemblies  section = 115
	ownerComposite       section = 116
	manifestAssemblyMVID section = 118
	hotColdMap           section = 120
)

// sections has where the parts are.
type sections map[section]ecma335.Directory

const (
	headerMagic = 0x00525452 // RTR
	headerSize  = 8
	maxSections = 1 << 6 // there are two dozen kinds
)

// Parse reads an image. It keeps data. The error is [ErrNoCode] if data is something else.
func Parse(data []byte) (*Image, error) {
	file, err := ecma335.ParseImage(data)
	if errors.Is(err, ecma335.ErrNotImage) {
		return nil, ErrNoCode
	}
	if err != nil {
		return nil, fmt.Errorf("r2r: %w", err)
	}
	x := &Image{file: file, TimeDateStamp: file.TimeDateStamp, attached: make(map[string]*ecma335.Metadata)}
	head := file.From(x.header())
	if len(head) < headerSize || binary.LittleEndian.Uint32(head) != headerMagic {
		return nil, ErrNoCode
	}
	x.Major, x.Minor = binary.LittleEndian.Uint16(head[4:]), binary.LittleEndian.Uint16(head[6:])
	all, err := readSections(head[headerSize:])
	if err != nil {
		return nil, err
	}
	if owner := file.At(all[ownerComposite]); len(owner) > 0 {
		name, _, _ := bytes.Cut(owner, []byte{0})
		x.Owner = string(name[:min(len(name), longestText)])
	}
	return x, x.read(all)
}

// header returns where the ReadyToRun header is, or 0. Composite images may have no CLI
// header, and export it.
func (x *Image) header() uint32 {
	if cli, err := x.file.CLI(); err == nil && cli.ManagedNative.RVA != 0 {
		return cli.ManagedNative.RVA
	}
	export := x.file.At(x.file.Directory(ecma335.DirectoryExport))
	if len(export) < 40 {
		return 0
	}
	n := min(binary.LittleEndian.Uint32(export[24:]), 1<<10) // such images export a handful
	addresses := x.file.From(binary.LittleEndian.Uint32(export[28:]))
	names := x.file.From(binary.LittleEndian.Uint32(export[32:]))
	ordinals := x.file.From(binary.LittleEndian.Uint32(export[36:]))
	for i := range int(n) {
		if len(names) < 4*i+4 || len(ordinals) < 2*i+2 {
			break
		}
		name := x.file.From(binary.LittleEndian.Uint32(names[4*i:]))
		at := 4 * int(binary.LittleEndian.Uint16(ordinals[2*i:]))
		if bytes.HasPrefix(name, []byte("RTR_HEADER\x00")) && at+4 <= len(addresses) {
			return binary.LittleEndian.Uint32(addresses[at:])
		}
	}
	return 0
}

// readSections reads the list of parts.
func readSections(b []byte) (sections, error) {
	if len(b) < 8 {
		return nil, errors.New("r2r: the list of sections is not all in the file")
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if b = b[8:]; n > maxSections || uint64(n)*12 > uint64(len(b)) {
		return nil, fmt.Errorf("r2r: there are %d sections, which are not all in the file", n)
	}
	all := make(sections, n)
	for i := range n {
		e := b[12*i:]
		all[section(binary.LittleEndian.Uint32(e))] = ecma335.Directory{RVA: binary.LittleEndian.Uint32(e[4:]), Size: binary.LittleEndian.Uint32(e[8:])}
	}
	return all, nil
}

// part returns the bytes of a section. It is an error if it has some that are not there.
func (x *Image) part(all sections, s section) ([]byte, error) {
	d := all[s]
	b := x.file.At(d)
	if b == nil && d.Size > 0 {
		return nil, fmt.Errorf("r2r: section %d of %d bytes at %#x is not all in the file", s, d.Size, d.RVA)
	}
	return b, nil
}

// read reads all that sections have.
func (x *Image) read(all sections) error {
	if all[componentAssemblies].Size == 0 { // that of a composite image is its manifest
		m, err := x.file.Metadata()
		if err != nil {
			return fmt.Errorf("r2r: %w", err)
		}
		x.own = m
		x.MVID = m.GUID(m.Cell(ecma335.Module, 1, 2))
	}
	b, err := x.part(all, manifestMetadata)
	if err != nil {
		return err
	}
	if b != nil {
		if x.manifest, err = ecma335.ParseMetadata(b); err != nil {
			return fmt.Errorf("r2r: metadata of the manifest: %w", err)
		}
	}
	if b, err = x.part(all, runtimeFunctions); err != nil {
		return err
	}
	if x.functions, err = readFunctions(x.file, b); err != nil {
		return err
	}
	x.thunks = all[delayLoadThunks]
	c := &collector{image: x, left: maxMethods}
	if err := c.collect(all); err != nil {
		return err
	}
	if b, err = x.part(all, hotColdMap); err != nil {
		return err
	}
	x.methods = c.spans(b)
	x.index = newIndex(x.methods)
	return nil
}

// hasCode is the flag of sections that are run.
const hasCode = 0x20000000

// RVA returns the address of a place in the file, and whether it has one.
func (x *Image) RVA(offset uint64) (uint32, bool) {
	found := false
	var rva uint32
	for i := range x.file.Sections {
		s := &x.file.Sections[i]
		if offset < uint64(s.Offset) || offset-uint64(s.Offset) >= uint64(s.Size) {
			continue
		}
		if !found || s.Characteristics&hasCode != 0 {
			rva, found = s.VirtualAddress+uint32(offset-uint64(s.Offset)), true
		}
	}
	return rva, found
}

// PDBs returns the identities of the files of symbols that the image was built with, as
// traces have them: a GUID in the order of its bytes in the file, and an age.
func (x *Image) PDBs() []PDB { return pdbsOf(x.file) }

// PDBs returns the same of any image, also of one without code of .NET.
func PDBs(data []byte) ([]PDB, error) {
	file, err := ecma335.ParseImage(data)
	if err != nil {
		return nil, fmt.Errorf("r2r: %w", err)
	}
	return pdbsOf(file), nil
}

func pdbsOf(file *ecma335.Image) []PDB {
	var all []PDB
	for _, e := range file.Debug() {
		const codeView, head = 2, 24
		if e.Type == codeView && len(e.Data) >= head && string(e.Data[:4]) == "RSDS" {
			path, _, _ := bytes.Cut(e.Data[head:min(len(e.Data), head+longestText)], []byte{0})
			all = append(all, PDB{[16]byte(e.Data[4:]), binary.LittleEndian.Uint32(e.Data[20:]), string(path)})
		}
	}
	return all
}

// A PDB identifies a file of symbols. Path is where it was when the image was linked.
type PDB struct {
	Signature [16]byte
	Age       uint32
	Path      string
}

// Len returns how many pieces of code the image has: its methods, and cold parts of them.
func (x *Image) Len() int { return len(x.methods) }

// Method returns one of the pieces of code, which are in the order of addresses.
func (x *Image) Method(i int) Method { return Method{span: x.methods[i], image: x} }

// Lookup returns the method that has an address.
func (x *Image) Lookup(rva uint32) (Method, bool) {
	i := x.index.last(rva)
	if i < 0 || rva >= x.methods[i].end {
		return Method{}, false
	}
	return x.Method(i), true
}

// Thunk returns where the code begins that looks for methods when they are called for the
// first time, if an address is in it.
func (x *Image) Thunk(rva uint32) (start uint32, ok bool) { return x.thunks.RVA, x.InThunks(rva) }

// IsMapped reports whether a part of a file that has the image inside, at a place, is one of
// its sections with code, as Linux maps them: with all pages that they have bytes in.
func (x *Image) IsMapped(at, from, size uint64) bool {
	const page = 0xfff
	for i := range x.file.Sections {
		s := &x.file.Sections[i]
		if s.Characteristics&hasCode == 0 {
			continue
		}
		first, behind := at+uint64(s.Offset), at+uint64(s.Offset)+uint64(s.Size)
		if from == first&^page && from+size == (behind+page)&^page {
			return true
		}
	}
	return false
}

// InThunks reports whether an address is in the code that looks for a method when it is
// called for the first time.
func (x *Image) InThunks(rva uint32) bool {
	return rva >= x.thunks.RVA && rva-x.thunks.RVA < x.thunks.Size
}

// Attach adds the metadata of an assembly, of which the image has the code: data is its
// file. The name is that of the assembly, without an extension.
func (x *Image) Attach(name string, data []byte) error {
	file, err := ecma335.ParseImage(data)
	if err != nil {
		return fmt.Errorf("r2r: %s: %w", name, err)
	}
	m, err := file.Metadata()
	if err != nil {
		return fmt.Errorf("r2r: %s: %w", name, err)
	}
	if want := x.componentMVID(name); want != ([16]byte{}) && want != m.GUID(m.Cell(ecma335.Module, 1, 2)) {
		return fmt.Errorf("r2r: %s: %w", name, ErrOther)
	}
	x.attached[strings.ToLower(name)] = m
	return nil
}

// ErrOther says that a file is of another build than the one that is asked for.
var ErrOther = errors.New("the file is of another build")
