package wevt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A File is a file for other compilers.
type File struct {
	Name    string
	Content []byte
}

// Files returns the resources as the files that mc.exe writes, for rc.exe, windres
// or llvm-rc: NAMETEMP.bin, a message table for each language, and NAME.rc, which
// names them.
func (r Resources) Files(name string) []File {
	var script bytes.Buffer
	templates := File{name + "TEMP.bin", r.Templates}
	files := []File{templates}
	for i, l := range slices.Sorted(maps.Keys(r.Messages)) {
		table := File{fmt.Sprintf("MSG%05d.bin", i+1), r.Messages[l]}
		files = append(files, table)
		fmt.Fprintf(&script, "LANGUAGE 0x%x,0x%x\n1 %d \"%s\"\n", uint16(l)&0x3ff, uint16(l)>>10, typeMessageTable, table.Name)
	}
	fmt.Fprintf(&script, "LANGUAGE 0x%x,0x%x\n1 %s \"%s\"\n", uint16(English)&0x3ff, uint16(English)>>10, typeTemplates, strings.ReplaceAll(templates.Name, `"`, `""`))
	return append(files, File{name + ".rc", script.Bytes()})
}
