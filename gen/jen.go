package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/etwgen/etwgen/runtime/etw"
)

// runtimePath is the import path of the runtime of generated code.
const runtimePath = "github.com/etwgen/etwgen/runtime/etw"

// testPath is the import path of the helpers of generated tests.
const testPath = "github.com/etwgen/etwgen/runtime/etwtest"

// rt returns a name of the runtime.
//
// Like others that are called at a hundred places it is not inlined: all that it calls of
// jennifer would be, which took 400 kB of the program.
//
//go:noinline
func rt(name string) *jen.Statement { return jen.Qual(runtimePath, name) }

// id returns an identifier.
//
//go:noinline
func id(name string) *jen.Statement { return jen.Id(name) }

// dot returns x.name.
//
//go:noinline
func dot(x, name string) *jen.Statement { return jen.Id(x).Dot(name) }

// star returns name *typ, a parameter or field.
//
//go:noinline
func star(name, typ string) *jen.Statement { return jen.Id(name).Op("*").Id(typ) }

// newMethod begins a method.
//
//go:noinline
func newMethod(f *jen.File, receiver jen.Code, name string) *jen.Statement {
	return f.Func().Params(receiver).Id(name)
}

// addr returns &name.
//
//go:noinline
func addr(name string) *jen.Statement { return jen.Op("&").Id(name) }

// deref returns *name.
//
//go:noinline
func deref(name string) *jen.Statement { return jen.Op("*").Id(name) }

// le returns a method of binary.LittleEndian.
func le(method string) *jen.Statement {
	return jen.Qual("encoding/binary", "LittleEndian").Dot(method)
}

// hex returns v in hexadecimal.
func hex(v uint64) *jen.Statement { return id(fmt.Sprintf("%#x", v)) }

// at returns p[off:].
//
//go:noinline
func at(off int) *jen.Statement { return id("p").Index(jen.Lit(off).Op(":")) }

// key returns a line of a composite literal.
//
//go:noinline
func key(name string, value jen.Code) *jen.Statement {
	return id(name).Op(":").Add(value)
}

// lines returns the braces of a composite literal with an item to a line.
func lines(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, items...)
}

// several returns the braces of a composite literal with some items to a line.
func several(n int, items ...jen.Code) *jen.Statement {
	var rows []jen.Code
	for row := range slices.Chunk(items, n) {
		rows = append(rows, jen.List(row...))
	}
	return lines(rows...)
}

// brief returns the body of a function of one statement, on the line of its head
// if that is short enough for gofmt.
func brief(statement jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{ ", Close: " }"}, statement)
}

// docWidth is the width that comments are wrapped to.
const docWidth = 95

// doc adds paragraphs as a comment. Their lines are wrapped.
func doc(g *jen.Group, paragraphs ...string) {
	for _, line := range docLines(docWidth, paragraphs...) {
		g.Comment(line)
	}
}

// docLines returns the lines of a comment of some paragraphs. The text is that
// of a manifest and may hold anything.
func docLines(width int, paragraphs ...string) []string {
	var out []string
	for _, p := range paragraphs {
		first := true
		for text := range strings.SplitSeq(p, "\n") {
			text = oneLine(text)
			if text == "" {
				continue
			}
			if first && len(out) > 0 {
				out = append(out, "//")
			}
			first = false
			out = append(out, wrap(text, width)...)
		}
	}
	return out
}

// wrap breaks a line of text at spaces.
func wrap(text string, width int) []string {
	var out []string
	line := "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != "//" {
			out = append(out, line)
			line = "//"
		}
		line += " " + word
	}
	return append(out, line)
}

// guid returns the value of a GUID.
func guid(g etw.GUID) *jen.Statement {
	b := make([]jen.Code, 16)
	for i, c := range g {
		b[i] = id(fmt.Sprintf("%#02x", c))
	}
	return rt("GUID").Values(b...)
}
