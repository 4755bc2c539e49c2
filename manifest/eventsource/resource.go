package eventsource

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/runtime/etw"
)

// readResource returns the texts of a resource that is embedded in the assembly.
func (a *assembly) readResource(name string) (map[string]string, error) {
	cli, err := a.image.CLI()
	if err != nil {
		return nil, err
	}
	for row := uint32(1); row <= a.Rows(ecma335.ManifestResource); row++ {
		if a.String(a.Cell(ecma335.ManifestResource, row, 2)) != name || a.Cell(ecma335.ManifestResource, row, 3) != 0 {
			continue
		}
		offset := uint64(a.Cell(ecma335.ManifestResource, row, 0))
		all := a.image.At(cli.Resources)
		if offset+4 > uint64(len(all)) {
			return nil, fmt.Errorf("resource %q ends outside of the assembly's resources", name)
		}
		b := all[offset:]
		size := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(size) > uint64(len(b)) {
			return nil, fmt.Errorf("resource %q ends outside of the assembly's resources", name)
		}
		texts, err := parseResource(b[:size], a.world.charge)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w", name, err)
		}
		return texts, nil
	}
	return nil, failure(fmt.Sprintf("Could not find the resource \"%s\" among those embedded in the assembly \"%s\".", name, a.name()))
}

const (
	resourceMagic   = 0xbeefcace
	resourceVersion = 2
	resourceString  = 1 // the type code of a string
)

var errResource = errors.New("the resource is damaged")

// A resourceReader reads the sections of a .resources file. After the first failure
// everything is zero.
type resourceReader struct {
	b      []byte
	at     uint64
	failed bool
}

func (r *resourceReader) bytes(n uint64) []byte {
	if r.failed || r.at > uint64(len(r.b)) || n > uint64(len(r.b))-r.at {
		r.failed = true
		return nil
	}
	b := r.b[r.at : r.at+n]
	r.at += n
	return b
}

func (r *resourceReader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// varint reads a number of which each byte has 7 bits.
func (r *resourceReader) varint() uint64 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.bytes(1)
		if b == nil {
			return 0
		}
		v |= uint64(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			return v
		}
	}
	r.failed = true
	return 0
}

// parseResource reads the strings of a .resources file. Other values are left out.
func parseResource(b []byte, charge func(int)) (map[string]string, error) {
	r := &resourceReader{b: b}
	if r.uint32() != resourceMagic {
		return nil, errResource
	}
	r.uint32() // the version of this header
	r.bytes(uint64(r.uint32()))
	if v := r.uint32(); v != resourceVersion {
		return nil, fmt.Errorf("it has version %d, not %d", v, resourceVersion)
	}
	count, types := uint64(r.uint32()), r.uint32()
	for range types {
		charge(0)
		if r.bytes(r.varint()); r.failed {
			return nil, errResource
		}
	}
	r.at = (r.at + 7) &^ 7
	r.bytes(4 * count) // hashes of the names
	positions := r.bytes(4 * count)
	data := uint64(r.uint32())
	if r.failed {
		return nil, errResource
	}
	names := r.at
	texts := make(map[string]string)
	for i := range count {
		charge(0)
		r.at = names + uint64(binary.LittleEndian.Uint32(positions[4*i:]))
		name := etw.UTF16(r.bytes(r.varint())).String()
		r.at = data + uint64(r.uint32())
		if kind := r.varint(); kind == resourceString {
			b := r.bytes(r.varint())
			charge(len(b) + len(name))
			texts[name] = string(b)
		}
		if r.failed {
			return nil, errResource
		}
	}
	return texts, nil
}
