package r2r

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A component is an assembly of a composite image.
type component struct {
	name string
	mvid [16]byte
	rows ecma335.Directory // its table of methods
}

// maxComponents bounds the assemblies of a composite image. .NET has 300.
const maxComponents = 1 << 10

// readComponents reads the assemblies of a composite image.
func (x *Image) readComponents(all sections) error {
	b, err := x.part(all, componentAssemblies)
	if err != nil {
		return err
	}
	mvids, err := x.part(all, manifestAssemblyMVID)
	if err != nil {
		return err
	}
	const size = 16
	rows := uint32(0)
	if x.manifest != nil {
		rows = x.manifest.Rows(ecma335.AssemblyRef)
	}
	if n := len(b) / size; n > int(rows) || n > maxComponents {
		return fmt.Errorf("r2r: there are %d components, of which the manifest names %d; more than %d are not read", n, rows, maxComponents)
	}
	for i := 0; i+size <= len(b); i += size {
		c := component{name: assemblyName(x.manifest, uint32(i/size)+1)}
		if i+16 <= len(mvids) {
			c.mvid = [16]byte(mvids[i:])
		}
		core := x.file.From(binary.LittleEndian.Uint32(b[i+8:]))
		parts, err := readSections(core)
		if err != nil {
			return fmt.Errorf("%w (component %s)", err, c.name)
		}
		c.rows = parts[methodEntryPoints]
		x.components = append(x.components, c)
		if cor := x.file.From(binary.LittleEndian.Uint32(b[i:])); len(cor) >= 16 && binary.LittleEndian.Uint32(b[i+4:]) > 0 {
			x.embed(c.name, ecma335.Directory{RVA: binary.LittleEndian.Uint32(cor[8:]), Size: binary.LittleEndian.Uint32(cor[12:])})
		}
	}
	return nil
}

// embed attaches the metadata of a component that the image has itself.
func (x *Image) embed(name string, d ecma335.Directory) {
	if m, err := ecma335.ParseMetadata(x.file.At(d)); err == nil {
		x.attached[strings.ToLower(name)] = m
	}
}

// Components returns the names of the assemblies that a composite image has the code of.
// Those that are not attached have methods without names.
func (x *Image) Components() []string {
	var all []string
	for _, c := range x.components {
		all = append(all, c.name)
	}
	return all
}

// componentMVID returns which build of an assembly the image has the code of. It is zero
// if it does not say.
func (x *Image) componentMVID(name string) [16]byte {
	for _, c := range x.components {
		if strings.EqualFold(c.name, name) {
			return c.mvid
		}
	}
	return [16]byte{}
}

func assemblyName(m *ecma335.Metadata, row uint32) string {
	return m.String(m.Cell(ecma335.AssemblyRef, row, 6))
}

// named returns the metadata of an assembly, or nil.
func (x *Image) named(assembly string) *ecma335.Metadata {
	if m := x.attached[strings.ToLower(assembly)]; m != nil {
		return m
	}
	if x.own != nil && strings.EqualFold(x.own.String(x.own.Cell(ecma335.Assembly, 1, 7)), assembly) {
		return x.own
	}
	return nil
}

// module returns the metadata that the number of a module means, or nil: the image's own,
// those that it refers to, the manifest (since version 6.3), and those that this refers to.
func (x *Image) module(i uint32) *ecma335.Metadata {
	if i == 0 {
		return x.own
	}
	rows := uint32(0)
	if x.own != nil {
		rows = x.own.Rows(ecma335.AssemblyRef)
	}
	if i <= rows {
		return x.named(assemblyName(x.own, i))
	}
	i -= rows
	if x.Major > 6 || x.Major == 6 && x.Minor >= 3 {
		i--
	}
	if i == 0 || x.manifest == nil {
		return x.manifest
	}
	return x.named(assemblyName(x.manifest, i))
}
