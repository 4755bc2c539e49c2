package pdb_test

import (
	"fmt"
	"os"

	"github.com/etwgen/etwgen/analysis/symbols/pdb"
)

// A stack that has lines: the PDB beside an assembly, if it is of the same build.
func ExampleOpen() {
	assembly, err := os.ReadFile("Shop.dll")
	if err != nil {
		fmt.Println(err)
		return
	}
	reference, err := pdb.References(assembly)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := os.ReadFile("Shop.pdb")
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := pdb.Open(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := reference.Check(file); err != nil {
		fmt.Println(err) // the lines of another build are worse than none
		return
	}
	const token, offset = 0x06000001, 12 // of a method, and in its IL
	if point, ok := file.At(token, offset); ok {
		fmt.Println(file.Document(point.Document).Name, point.Line)
	}
}
