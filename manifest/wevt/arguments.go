package wevt

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// arguments are the parameters of a function that writes an event, and where its
// data are.
type arguments struct {
	kernel bool
	params []string
	data   []string // pointers and sizes
	names  map[*manifest.Field]string
	taken  map[string]bool
}

// scalars has the C types of fields of one fixed size.
var scalars = map[etw.InType]string{
	etw.InInt8: "signed char", etw.InUInt8: "unsigned char", etw.InInt16: "short", etw.InUInt16: "unsigned short",
	etw.InInt32: "int", etw.InUInt32: "unsigned int", etw.InHexInt32: "unsigned int", etw.InInt64: "__int64",
	etw.InUInt64: "unsigned __int64", etw.InHexInt64: "unsigned __int64", etw.InFloat: "float", etw.InDouble: "double",
	etw.InBoolean: "int", etw.InPointer: "const void *",
}

// records has those that are handed over by a pointer. Drivers have no types for two of
// them, and hand over where their bytes are.
var records = map[etw.InType]struct {
	name string
	size int // in drivers
}{etw.InGUID: {"GUID", 0}, etw.InFileTime: {"FILETIME", 8}, etw.InSystemTime: {"SYSTEMTIME", 16}}

// record returns the C type of a value that is handed over by a pointer, and its size in C.
func (a *arguments) record(f *manifest.Field, name string) (typ, size string) {
	r := records[f.Type]
	if a.kernel && r.size > 0 {
		return "void", fmt.Sprint(r.size)
	}
	return r.name, fmt.Sprintf("sizeof(*%s)", name)
}

// fields adds the fields of a template.
func (a *arguments) fields(list []*manifest.Field) {
	a.names, a.taken = make(map[*manifest.Field]string), make(map[string]bool)
	for _, f := range list {
		name := "p_" + manifest.Symbol(f.Name) // no name of a field is a word of C then
		for a.taken[name] {
			name += "_"
		}
		a.taken[name], a.taken[name+"_Len_"] = true, true
		a.names[f] = name
		a.field(f, name)
	}
}

// field adds a field. A field with a size of its own in the payload is handed over as bytes
// and their number.
func (a *arguments) field(f *manifest.Field, name string) {
	scalar := scalars[f.Type]
	record, size := a.record(f, name)
	switch {
	case f.Count.Kind != etw.SizeNone:
		a.array(f, name)
	case scalar != "":
		a.add(fmt.Sprintf("%s %s", scalar, name), fmt.Sprintf("&%s, sizeof(%[1]s)", name))
	case record != "":
		a.add(fmt.Sprintf("const %s *%s", record, name), fmt.Sprintf("%s, %s", name, size))
	case f.Type == etw.InSID: // 4 bytes for each of as many parts as its second byte says
		a.add("const void *"+name, fmt.Sprintf("%s, 8u + 4u * ((const UCHAR *)%[1]s)[1]", name))
	default:
		a.text(f, name)
	}
}

// array adds elements, whose number is another argument. Of structs the size of one comes
// before them.
func (a *arguments) array(f *manifest.Field, name string) {
	n := a.number(f.Count)
	element, size := a.record(f, name)
	if element != "" {
		element = "const " + element
	} else if scalar := scalars[f.Type]; scalar != "" {
		element = scalar + " const"
	}
	switch {
	case n == "":
		a.opaque(name)
	case element != "":
		a.add(fmt.Sprintf("%s *%s", element, name), fmt.Sprintf("%s, (ULONG)(%s * %s)", name, size, n))
	case f.Type == etw.InStruct && fixed(f.Fields):
		a.add(fmt.Sprintf("unsigned int %s_Len_, const void *%[1]s", name), fmt.Sprintf("%s, (ULONG)(%[1]s_Len_ * %s)", name, n))
	default:
		a.opaque(name)
	}
}

// fixed reports whether each field has a size that C knows.
func fixed(fields []*manifest.Field) bool {
	return !slices.ContainsFunc(fields, func(f *manifest.Field) bool {
		return f.Count.Kind > etw.SizeConst || scalars[f.Type] == "" && records[f.Type].name == ""
	})
}

// text adds a string or bytes: up to its end, or of a length that is another argument.
func (a *arguments) text(f *manifest.Field, name string) {
	n := a.number(f.Length)
	switch ends := f.Length.Kind == etw.SizeNone; {
	case f.Type == etw.InUnicodeString && ends:
		a.add("PCWSTR "+name, fmt.Sprintf("%s ? %[1]s : L\"\", (ULONG)((%[1]s ? wcslen(%[1]s) + 1 : 1) * sizeof(WCHAR))", name))
	case f.Type == etw.InAnsiString && ends:
		a.add("PCSTR "+name, fmt.Sprintf("%s ? %[1]s : \"\", (ULONG)(%[1]s ? strlen(%[1]s) + 1 : 1)", name))
	case f.Type == etw.InUnicodeString && n != "":
		a.add("PCWSTR "+name, fmt.Sprintf("%s, (ULONG)(sizeof(WCHAR) * %s)", name, n))
	case (f.Type == etw.InAnsiString || f.Type == etw.InBinary) && n != "":
		a.add("const void *"+name, fmt.Sprintf("%s, (ULONG)(%s)", name, n))
	default:
		a.opaque(name)
	}
}

// opaque adds bytes, and before them their number.
func (a *arguments) opaque(name string) {
	a.add(fmt.Sprintf("unsigned int %s_Len_, const void *%[1]s", name), fmt.Sprintf("%s, %[1]s_Len_", name))
}

func (a *arguments) add(param, data string) {
	a.params = append(a.params, param)
	a.data = append(a.data, data)
}

// number returns a count or a length in C, or "".
func (a *arguments) number(s manifest.Size) string {
	switch s.Kind {
	case etw.SizeConst:
		return fmt.Sprint(s.Const)
	case etw.SizeField:
		return a.names[s.Field]
	}
	return ""
}
