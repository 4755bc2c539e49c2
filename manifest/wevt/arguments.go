package wevt

import (
	"fmt"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// arguments are the parameters of a function that writes an event, and where its
// data are.
type arguments struct {
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
	etw.InBoolean: "BOOL", etw.InPointer: "const void *",
}

// records has those that are handed over by a pointer.
var records = map[etw.InType]string{etw.InGUID: "GUID", etw.InFileTime: "FILETIME", etw.InSystemTime: "SYSTEMTIME"}

// fields adds the fields of a template.
func (a *arguments) fields(list []*manifest.Field) {
	a.names, a.taken = make(map[*manifest.Field]string), make(map[string]bool)
	for _, f := range list {
		name := "p_" + manifest.Symbol(f.Name) // no name of a field is a word of C then
		for a.taken[name] {
			name += "_"
		}
		a.taken[name], a.taken[name+"_size"] = true, true
		a.names[f] = name
		a.field(f, name)
	}
}

// field adds a field. What has a size of its own in the payload is handed over as
// bytes and their number.
func (a *arguments) field(f *manifest.Field, name string) {
	scalar, record := scalars[f.Type], records[f.Type]
	switch {
	case f.Count.Kind != etw.SizeNone:
		a.array(f, name)
	case scalar != "":
		a.add(fmt.Sprintf("%s %s", scalar, name), fmt.Sprintf("&%s, sizeof(%[1]s)", name))
	case record != "":
		a.add(fmt.Sprintf("const %s *%s", record, name), fmt.Sprintf("%s, sizeof(*%[1]s)", name))
	case f.Type == etw.InSID:
		a.add("PSID "+name, fmt.Sprintf("%s, GetLengthSid(%[1]s)", name))
	default:
		a.text(f, name)
	}
}

// array adds elements of one fixed size, whose number is another argument.
func (a *arguments) array(f *manifest.Field, name string) {
	element, n := records[f.Type], a.number(f.Count)
	if element != "" {
		element = "const " + element
	} else if scalar := scalars[f.Type]; scalar != "" {
		element = scalar + " const"
	}
	if element == "" || n == "" {
		a.opaque(name)
		return
	}
	a.add(fmt.Sprintf("%s *%s", element, name), fmt.Sprintf("%s, (ULONG)(sizeof(*%[1]s) * %s)", name, n))
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

// opaque adds bytes with their number.
func (a *arguments) opaque(name string) {
	a.add(fmt.Sprintf("const void *%s, ULONG %[1]s_size", name), fmt.Sprintf("%s, %[1]s_size", name))
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
