package otlp

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/internal/wire"
)

const serviceName = "service.name"

// Numbers of the tables in the dictionary, and of the fields of their entries.
const (
	tableMappings   = 1
	tableLocations  = 2
	tableFunctions  = 3
	tableLinks      = 4
	tableStrings    = 5
	tableAttributes = 6
	tableStacks     = 7
	tables          = 8

	mappingFile       = 4
	mappingAttributes = 5

	locationMapping    = 1
	locationAddress    = 2
	locationLines      = 3
	locationAttributes = 4
	lineFunction       = 1
	lineNumber         = 2

	functionName   = 1
	functionSystem = 2
	functionFile   = 3

	linkTrace = 1
	linkSpan  = 2

	attributeKey   = 1
	attributeValue = 2
)

// A dictionary has the entries that profiles refer to by number. The first of each table has
// no value; all else is there once, and because something refers to it.
type dictionary struct {
	ids   [tables]map[string]int32 // of rows, by their bytes
	rows  [tables][]byte
	lists [][]int32 // of attributes: samples that have the same share them
	known map[string]int32
	text  map[string]int32
}

func newDictionary() *dictionary {
	d := &dictionary{known: make(map[string]int32), text: make(map[string]int32)}
	for t := tableMappings; t < tables; t++ {
		d.ids[t] = make(map[string]int32)
	}
	for _, t := range []int{tableMappings, tableLocations, tableFunctions, tableStrings, tableAttributes, tableStacks} {
		d.row(t, nil)
	}
	d.link(make([]byte, 16), make([]byte, 8))
	d.list(nil)
	return d
}

// row returns the number of a row with these bytes.
func (d *dictionary) row(table int, b []byte) int32 {
	i, ok := d.ids[table][string(b)]
	if !ok {
		i = int32(len(d.ids[table]))
		d.ids[table][string(b)] = i
		d.rows[table] = wire.AppendBytes(d.rows[table], table, b)
	}
	return i
}

// append appends the tables.
func (d *dictionary) append(b []byte) []byte {
	for _, rows := range d.rows {
		b = append(b, rows...)
	}
	return b
}

// string returns the number of a text, with U+FFFD for invalid UTF-8.
func (d *dictionary) string(s string) int32 {
	i, ok := d.text[s]
	if !ok {
		i = d.row(tableStrings, []byte(strings.ToValidUTF8(s, "\uFFFD")))
		d.text[s] = i
	}
	return i
}

func (d *dictionary) valueType(t stacks.ValueType) []byte {
	return wire.AppendInt(wire.AppendInt(nil, 1, int64(d.string(t.Name))), 2, int64(d.string(t.Unit)))
}

func (d *dictionary) link(trace, span []byte) int32 {
	return d.row(tableLinks, wire.AppendBytes(wire.AppendBytes(nil, linkTrace, trace), linkSpan, span))
}

func (d *dictionary) attribute(a Attribute) int32 {
	b := wire.AppendInt(nil, attributeKey, int64(d.string(a.Key)))
	return d.row(tableAttributes, wire.AppendBytes(b, attributeValue, anyValue(a.Value)))
}

// list returns the number of a list of attributes.
func (d *dictionary) list(list []int32) int32 {
	var key []byte
	for _, i := range list {
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
	}
	i, ok := d.known[string(key)]
	if !ok {
		i = int32(len(d.lists))
		d.known[string(key)], d.lists = i, append(d.lists, list)
	}
	return i
}

func (d *dictionary) stack(locations []int32) int32 {
	return d.row(tableStacks, wire.AppendPacked(nil, 1, locations...))
}

// location returns the number of the location of a frame.
func (d *dictionary) location(f *stacks.Frame, buildID func(string) Attribute) int32 {
	fn := wire.AppendInt(nil, functionName, int64(d.string(f.Name)))
	fn = wire.AppendInt(fn, functionSystem, int64(d.string(f.Full)))
	fn = wire.AppendInt(fn, functionFile, int64(d.string(f.File)))
	line := wire.AppendInt(nil, lineFunction, int64(d.row(tableFunctions, fn)))
	line = wire.AppendInt(line, lineNumber, int64(f.Line))

	b := wire.AppendInt(nil, locationMapping, int64(d.mapping(f.Module, buildID)))
	b = wire.AppendInt(b, locationAddress, int64(f.Address))
	b = wire.AppendBytes(b, locationLines, line)
	if kind := frameKind(f); kind != "" {
		b = wire.AppendPacked(b, locationAttributes, d.attribute(Attribute{"profile.frame.type", kind}))
	}
	return d.row(tableLocations, b)
}

// mapping returns the number of a file of code, 0 of none.
func (d *dictionary) mapping(path string, buildID func(string) Attribute) int32 {
	if path == "" {
		return 0
	}
	b := wire.AppendInt(nil, mappingFile, int64(d.string(path)))
	if buildID != nil {
		if a := buildID(path); a.Key != "" {
			b = wire.AppendPacked(b, mappingAttributes, d.attribute(a))
		}
	}
	return d.row(tableMappings, b)
}

// frameKind returns the type of a frame as the conventions call it, "" for frames that are
// no code, or of which it is not known.
func frameKind(f *stacks.Frame) string {
	switch {
	case f.Pseudo:
		return ""
	case f.Kind == symbols.Managed:
		return "dotnet"
	case isKernel(f):
		return "kernel"
	case f.Kind == symbols.NativeCode:
		return "native"
	}
	return ""
}

// isKernel reports whether code is of the kernel: by its address, or by its file.
func isKernel(f *stacks.Frame) bool {
	if f.Address>>63 != 0 {
		return true
	}
	file := strings.ToLower(f.Module[strings.LastIndexAny(f.Module, `/\`)+1:])
	return strings.HasPrefix(file, "[kernel") || file == "vmlinux" || strings.HasPrefix(file, "vmlinux-") ||
		strings.HasSuffix(file, ".sys") || strings.HasSuffix(file, ".ko") || file == "ntoskrnl.exe" || file == "hal.dll"
}

// keyValue returns an attribute of a resource. Its key and its text stand in it, since not
// every backend looks into the dictionary for those.
func keyValue(a Attribute) []byte {
	return wire.AppendBytes(wire.AppendBytes(nil, 1, strings.ToValidUTF8(a.Key, "\uFFFD")), 2, anyValue(a.Value))
}

// anyValue returns the message of a value. The field is there also for 0.
func anyValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return wire.AppendBytes(nil, 1, strings.ToValidUTF8(v, "\uFFFD"))
	case bool:
		if v {
			return []byte{2 << 3, 1}
		}
		return []byte{2 << 3, 0}
	case int64:
		return binary.AppendUvarint([]byte{3 << 3}, uint64(v))
	case float64:
		return binary.LittleEndian.AppendUint64([]byte{4<<3 | 1}, math.Float64bits(v))
	}
	return wire.AppendBytes(nil, 1, strings.ToValidUTF8(fmt.Sprint(v), "\uFFFD"))
}
