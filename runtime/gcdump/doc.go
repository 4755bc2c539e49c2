// Package gcdump reads and writes .gcdump files: the objects of one heap, their types and
// references, as dotnet-gcdump, PerfView and Visual Studio keep them. Use it to make such files, or
// to look at their nodes; package trace opens them for analyses.
//
//	d, err := gcdump.Read(data)
//	if err != nil {
//		return err
//	}
//	for i := range d.Nodes() {
//		n := d.Node(i)
//		fmt.Println(d.Types[n.Type].Name, n.Size, n.Children)
//	}
//
// A [Dump] that was read is written again to the same bytes. A [Builder] makes one of objects.
//
// A [Reader] delivers a dump as the records of the .NET runtime that such a dump is made of,
// so that whatever answers from a trace of a heap answers from a dump, too. Nodes that stand
// for roots, not for objects, become records of roots. Last comes one record of [Provider],
// which says that the heap is complete: a file does not tell of a collection.
package gcdump
