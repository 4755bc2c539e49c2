// Package tracepoint describes events of the kernel of Linux by the kernel's formats.
package tracepoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxFormat bounds the size of a format file, and maxMembers its fields.
const (
	maxFormat  = 1 << 16
	maxMembers = 512
)

// Parse reads a kernel's format of one of its events, the text of its file format. group is
// the event's group, which the text does not have.
func Parse(group string, data []byte) (*etw.EventDesc, error) {
	if len(data) > maxFormat {
		return nil, fmt.Errorf("a format of %d bytes", len(data))
	}
	var name string
	var id uint64
	var members []Member
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFormat)
	for number := 1; lines.Scan(); number++ {
		key, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		switch value = strings.TrimSpace(value); key {
		case "name":
			name = value
		case "ID":
			id, _ = strconv.ParseUint(value, 10, 16)
		case "field":
			m, err := parseField(value)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if members = append(members, m); len(members) > maxMembers {
				return nil, errors.New("too many fields")
			}
		}
	}
	if name == "" || len(members) == 0 {
		return nil, errors.New("no format of an event: it has no name or no fields")
	}
	return Describe(group, name, uint16(id), members)
}

// parseField reads a field, such as
//
//	char prev_comm[16];	offset:8;	size:16;	signed:0;
func parseField(line string) (m Member, err error) {
	declared, rest, _ := strings.Cut(line, ";")
	values := map[string]int{"offset": -1}
	for part := range strings.SplitSeq(rest, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil {
			return m, fmt.Errorf("%s %q", key, value)
		}
		values[key] = int(n)
	}
	m.Offset, m.Size = values["offset"], values["size"]
	if m.Offset < 0 || m.Size <= 0 && !strings.HasSuffix(declared, "[]") {
		return m, fmt.Errorf("field %q has no place", declared)
	}
	cut := strings.LastIndexAny(declared, " *")
	ctype, name := strings.TrimSpace(declared[:cut+1]), declared[cut+1:]
	name, array, isArray := strings.Cut(name, "[")
	if isArray {
		ctype += "[" + array
	}
	m.FieldDesc = typeOf(ctype, name, m.Size, values["signed"] != 0)
	return m, nil
}

// typeOf returns the description of a field of a type of C. Anything but a number or text is
// bytes.
func typeOf(ctype, name string, size int, signed bool) etw.FieldDesc {
	base, array, isArray := strings.Cut(ctype, "[")
	switch {
	case strings.HasPrefix(ctype, "__data_loc "), strings.HasPrefix(ctype, "__rel_loc "):
		return located(ctype, name)
	case isArray && base == "char":
		return Chars(name, size)
	case isArray:
		count, _ := strconv.Atoi(strings.TrimSuffix(array, "]"))
		if count > 0 && size%count == 0 {
			if d := number(base, name, size/count, signed); d.Type != etw.InBinary {
				d.Count = etw.Size{Kind: etw.SizeConst, N: uint32(count)}
				return d
			}
		}
		return etw.FieldDesc{Name: name, Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeConst, N: uint32(size)}}
	}
	return number(ctype, name, size, signed)
}

// located returns the description of the data behind the structure.
func located(ctype, name string) etw.FieldDesc {
	where, elem, _ := strings.Cut(ctype, " ")
	d := Text(name)
	if where == "__rel_loc" {
		d.Type = etw.InRelLoc
	}
	if elem = strings.TrimSuffix(elem, "[]"); elem != "char" {
		d.Fields = []etw.FieldDesc{{Type: etw.InUInt8}}
		if n, ok := widths[elem]; ok {
			d.Fields[0] = number(elem, "", n, strings.HasPrefix(elem, "s"))
		}
	}
	return d
}

// widths are the sizes of the types of elements, of which formats do not tell.
var widths = map[string]int{
	"unsigned long": 8, "long": 8, "u64": 8, "__u64": 8, "s64": 8, "u32": 4, "__u32": 4, "int": 4, "unsigned int": 4, "s32": 4, "u16": 2, "__u16": 2,
}

// number returns the description of a number of some bytes.
func number(ctype, name string, size int, signed bool) etw.FieldDesc {
	d := etw.FieldDesc{Name: name}
	switch {
	case ctype == "bool" && size == 1:
		d.Type = etw.InBool8
	case size == 1 && signed:
		d.Type = etw.InInt8
	case size == 1:
		d.Type = etw.InUInt8
	case size == 2 && signed:
		d.Type = etw.InInt16
	case size == 2:
		d.Type = etw.InUInt16
	case size == 4 && signed:
		d.Type = etw.InInt32
	case size == 4:
		d.Type = etw.InUInt32
	case size == 8 && signed:
		d.Type = etw.InInt64
	case size == 8 && strings.HasSuffix(ctype, "*"):
		d.Type, d.Out = etw.InUInt64, etw.OutHexInt64
	case size == 8:
		d.Type = etw.InUInt64
	default:
		d.Type, d.Length = etw.InBinary, etw.Size{Kind: etw.SizeConst, N: uint32(size)}
	}
	return d
}
