// Package pdb reads portable PDBs: which line of which source file the code of a .NET
// method is of. Use it to get from methods to lines.
//
//	file, err := pdb.Open(data)
//	point, ok := file.At(method.Token, il)
//	fmt.Println(file.Document(point.Document).Name, point.Line)
//
// The offset in the IL comes from a trace: [symbols.Location.ILOffset] has it. [References]
// names the PDB that belongs to an assembly, and the one inside it. A file is the right one
// only if its [File.ID] is that of the reference; the lines of another build are worse than
// none.
//
// Points are decoded when a method is asked for. Files may be damaged or made to do harm:
// a method that makes no sense has no points, names are bounded, and nothing is allocated by
// a size that a file only claims. The names of documents are paths of the machine that
// compiled; this package opens none.
//
// [symbols.Location.ILOffset]: https://pkg.go.dev/github.com/etwgen/etwgen/analysis/symbols#Location.ILOffset
package pdb
