package gen

import (
	"strconv"

	"github.com/dave/jennifer/jen"
)

// foldWidth is the width that rows of descriptions are kept to, without their indentation.
const foldWidth = 104

// A part is an item of a composite literal that shares its line with others.
type part struct {
	code  jen.Code
	width int
}

// keyPart returns the part that gives the field name the value that text is the source of.
func keyPart(name string, value jen.Code, text string) part {
	return part{key(name, value), len(name) + len(": ") + len(text)}
}

func numberPart(name string, v int) part { return keyPart(name, jen.Lit(v), strconv.Itoa(v)) }

// addressPart returns the part that is the address of a variable.
func addressPart(variable string) part {
	return part{addr(variable), len("&") + len(variable)}
}

// fold returns the parts as few lines, none longer than foldWidth if it can be.
func fold(parts ...part) []jen.Code {
	var lines, line []jen.Code
	width := 0
	for _, p := range parts {
		if width += p.width + len(", "); width > foldWidth && len(line) > 0 {
			lines = append(lines, jen.List(line...))
			line, width = nil, p.width+len(", ")
		}
		line = append(line, p.code)
	}
	if len(line) > 0 {
		lines = append(lines, jen.List(line...))
	}
	return lines
}
