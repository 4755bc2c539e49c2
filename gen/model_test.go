package gen

import (
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestModelFaults generates code for models that no manifest makes, but that a program can:
// each is an error that names the fault.
func TestModelFaults(t *testing.T) {
	n := &manifest.Field{Name: "N", Type: etw.InUInt8}
	text := &manifest.Field{Name: "Text", Type: etw.InUnicodeString}
	sizeOf := func(f *manifest.Field, up int) manifest.Size {
		return manifest.Size{Kind: etw.SizeField, Field: f, Up: up}
	}
	constant := func(n uint16) manifest.Size { return manifest.Size{Kind: etw.SizeConst, Const: n} }
	rest := manifest.Size{Kind: etw.SizeRest}
	member := []*manifest.Field{{Name: "M", Type: etw.InUInt8}}
	tests := []struct {
		name   string
		fields []*manifest.Field
		want   string
	}{
		{"no type", []*manifest.Field{{Name: "F"}}, "fields of type"},
		{"no such type", []*manifest.Field{{Name: "F", Type: 200}}, "fields of type"},
		{"binary without a length", []*manifest.Field{{Name: "F", Type: etw.InBinary}}, "needs a length"},
		{"binaries without lengths", []*manifest.Field{{Name: "F", Type: etw.InBinary, Count: constant(2)}}, "needs a length"},
		{"binaries to the end", []*manifest.Field{{Name: "F", Type: etw.InBinary, Count: constant(2), Length: rest}}, "need a length"},
		{"array of no type", []*manifest.Field{{Name: "F", Count: constant(2)}}, "fields of type"},
		{"string to the end", []*manifest.Field{{Name: "F", Type: etw.InUnicodeString, Length: rest}}, "only binary values can take the rest"},
		{"strings to the end", []*manifest.Field{{Name: "F", Type: etw.InUnicodeString, Count: rest}}, "only elements of fixed size"},
		{"count from later", []*manifest.Field{{Name: "F", Type: etw.InUInt8, Count: sizeOf(n, 0)}, n}, "N does not come before"},
		{"count of text", []*manifest.Field{text, {Name: "F", Type: etw.InUInt8, Count: sizeOf(text, 0)}}, "Text is not an integer"},
		{"length from outside", []*manifest.Field{n, {Name: "F", Type: etw.InAnsiString, Length: sizeOf(n, 1)}}, "N lies outside"},
		{"empty struct", []*manifest.Field{{Name: "F", Type: etw.InStruct}}, "needs members"},
		{"struct in a struct", []*manifest.Field{{Name: "F", Type: etw.InStruct, Fields: []*manifest.Field{
			{Name: "S", Type: etw.InStruct, Fields: member},
		}}}, "a struct cannot contain a struct"},
		{"structs of no size", []*manifest.Field{n, {Name: "F", Type: etw.InStruct, Count: sizeOf(n, 0), Fields: []*manifest.Field{
			{Name: "M", Type: etw.InAnsiString, Length: constant(0)},
		}}}, "takes no bytes"},
		{"structs of strings to the end", []*manifest.Field{{Name: "F", Type: etw.InStruct, Count: rest, Fields: []*manifest.Field{
			{Name: "M", Type: etw.InUnicodeString},
		}}}, "only elements of fixed size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &manifest.Manifest{File: "m", Providers: []*manifest.Provider{{
				Name:   "P",
				Events: []*manifest.Event{{ID: 1, Symbol: "E", Template: &manifest.Template{ID: "T", Fields: tt.fields}}},
			}}}
			_, err := Generate(m, Options{Package: "p"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestGenerateErrors(t *testing.T) {
	one := &manifest.Provider{Name: "One", Symbol: "ONE", GUID: etw.GUID{1}}
	two := &manifest.Provider{Name: "Two"}
	tests := []struct {
		name      string
		providers []*manifest.Provider
		opts      Options
		want      string
	}{
		{"keyword as the package", []*manifest.Provider{one}, Options{Package: "type"}, `"type" is not a valid Go package name`},
		{"blank package", []*manifest.Provider{one}, Options{Package: "_"}, `"_" is not a valid Go package name`},
		{"no provider", nil, Options{Package: "p"}, "m: no provider"},
		{"no such provider", []*manifest.Provider{one, two}, Options{Package: "p", Provider: "Three"}, "no provider Three; there are:\n\t#1 00000001-"},
		{"providers without events", []*manifest.Provider{one, two}, Options{Package: "p"}, "no provider has events"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Generate(&manifest.Manifest{File: "m", Providers: tt.providers}, tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// TestRenderFault: invalid code comes with the lines around the fault.
func TestRenderFault(t *testing.T) {
	f := jen.NewFile("p")
	f.Comment("before")
	f.Func().Id("broken").Params().Block(jen.Op(")"))
	_, err := render("x.etw.go", f)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"x.etw.go", "bug in etwgen", "\t// before", "\tfunc broken"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}
