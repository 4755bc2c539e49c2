// Package gcdump writes snapshots of heaps as .gcdump files, which PerfView, Visual Studio
// and dotnet-gcdump open. Use it to give a heap of a trace to these tools.
//
// An object of 2 GiB and more has the largest size that fits, and references to a part of
// the heap that is not walked are left out.
package gcdump

import (
	"io"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/gcdump"
)

// tool is the name in a file for its writer.
const tool = "etw"

// kinds of roots by their names in snapshots. All others are handles.
var kinds = map[string]gcdump.RootKind{
	"static": gcdump.StaticRoot, "thread static": gcdump.ThreadStaticRoot, "COM": gcdump.COMRoot, "stack": gcdump.StackRoot,
	"finalizer queue": gcdump.FinalizerRoot, "other": gcdump.OtherRoot, "handle": gcdump.HandleRoot, "sized reference": gcdump.HandleRoot,
}

// A group is the roots of one kind.
type group struct {
	kind  gcdump.RootKind
	roots []heap.Root
}

// Write writes a snapshot.
func Write(w io.Writer, s *heap.Snapshot) error {
	var groups []*group
	above := 1 // nodes that stand for no objects come first
	for _, r := range s.EachRoot() {
		kind := kinds[r.Kind]
		if n := len(groups); n == 0 || groups[n-1].kind != kind {
			groups = append(groups, &group{kind: kind})
			above++
		}
		g := groups[len(groups)-1]
		g.roots = append(g.roots, r)
		if isField(kind) {
			above++
		}
	}
	b := gcdump.NewBuilder(above + s.Objects)
	setRoots(b, groups, above)
	types := each.Of(s.TypeNames(), func(name string) int { return b.Type(name, "") })
	var children []int
	for i := range s.Objects {
		e := s.Entry(i)
		children = children[:0]
		for _, to := range e.References {
			children = append(children, above+int(to))
		}
		b.Set(above+i, types[e.Type], e.Address, int64(min(e.Bytes, 1<<62)), children)
	}
	d, err := b.Dump(0)
	if err != nil {
		return err
	}
	d.Tool = gcdump.Text{Value: tool, Valid: true}
	if s.PID > 0 && s.PID < 1<<31 {
		d.ProcessID = int32(s.PID)
	}
	_, err = d.WriteTo(w)
	return err
}

// isField reports whether roots of a kind have a node each, which names the field.
func isField(k gcdump.RootKind) bool { return k == gcdump.StaticRoot || k == gcdump.ThreadStaticRoot }

// setRoots sets the nodes above the objects, the first of which is the node above.
func setRoots(b *gcdump.Builder, groups []*group, above int) {
	next := 1
	fields := make(map[string]int) // types by their names
	b.Set(0, b.Type(gcdump.RootType, ""), 0, 0, numbers(1, groups))
	next += len(groups)
	for i, g := range groups {
		var children []int
		for _, r := range g.roots {
			if !isField(g.kind) {
				children = append(children, above+r.Object)
				continue
			}
			name := gcdump.FieldType(g.kind, r.Name)
			typ, ok := fields[name]
			if !ok {
				typ = b.Type(name, "")
				fields[name] = typ
			}
			b.Set(next, typ, 0, 0, []int{above + r.Object})
			children = append(children, next)
			next++
		}
		b.Set(1+i, b.Type(gcdump.Groups[g.kind], ""), 0, 0, children)
	}
}

// numbers returns as many numbers as there are groups.
func numbers(from int, groups []*group) []int {
	list := make([]int, len(groups))
	for i := range list {
		list[i] = from + i
	}
	return list
}
