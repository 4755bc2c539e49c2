package gcdump

import "strings"

// A RootKind is the kind of thing that keeps an object alive.
type RootKind uint8

// The kinds of roots.
const (
	OtherRoot RootKind = iota
	StaticRoot
	ThreadStaticRoot
	StackRoot
	FinalizerRoot
	HandleRoot
	COMRoot
)

// A Root keeps an object alive.
type Root struct {
	Node int
	Kind RootKind
	Name string // of a static field, with its type
}

// Groups are the names of the nodes below which recorders put roots of each kind.
var Groups = map[RootKind]string{
	OtherRoot: "[other roots]", StaticRoot: "[static vars]", ThreadStaticRoot: "[thread static vars]", StackRoot: "[local vars]",
	FinalizerRoot: "[finalizer Handles]", HandleRoot: "[other Handles]", COMRoot: "[COM/WinRT Objects]",
}

// RootType is the name of the type of the node above all others.
const RootType = "[.NET Roots]"

// Names of nodes of static fields begin so, and end with a bracket.
const (
	staticPrefix       = "[static var "
	threadStaticPrefix = "[thread static var "
)

// FieldType returns the name of the type of the node that stands for a static field.
func FieldType(kind RootKind, field string) string {
	if kind == ThreadStaticRoot {
		return threadStaticPrefix + field + "]"
	}
	return staticPrefix + field + "]"
}

// kindOf returns the kind of the roots below a node, by its name and the kind of the node
// above it, and the field that the node stands for, if it is one.
func kindOf(name string, above RootKind) (kind RootKind, field string) {
	if field, ok := strings.CutPrefix(name, staticPrefix); ok {
		return StaticRoot, strings.TrimSuffix(field, "]")
	}
	if field, ok := strings.CutPrefix(name, threadStaticPrefix); ok {
		return ThreadStaticRoot, strings.TrimSuffix(field, "]")
	}
	for kind := OtherRoot; kind <= COMRoot; kind++ {
		if name == Groups[kind] {
			return kind, ""
		}
	}
	if strings.HasSuffix(name, " Handles]") {
		return HandleRoot, ""
	}
	return above, ""
}

// Roots returns the roots that keep objects alive, and which nodes stand for no object: the
// root, and those below it that group others.
func (d *Dump) Roots() (roots []Root, groups map[int]bool) {
	type place struct {
		node  int
		kind  RootKind
		field string
	}
	groups = map[int]bool{d.Root: true}
	var list []int
	todo := []place{{node: d.Root}}
	for len(todo) > 0 { // in the order of the file
		at := todo[0]
		todo = todo[1:]
		n, _, _ := d.node(at.node, list)
		list = n.Children
		for _, to := range list {
			typ := d.typeOf(to)
			if groups[to] {
				continue
			}
			if !isGroup(typ) {
				roots = append(roots, Root{to, at.kind, at.field})
				continue
			}
			groups[to] = true
			kind, field := kindOf(typ.Name.Value, at.kind)
			todo = append(todo, place{to, kind, field})
		}
	}
	return roots, groups
}

func (d *Dump) typeOf(i int) Type {
	c := cursor{b: d.blob, at: int(d.offsets[i])}
	return d.Types[c.cint()>>1]
}

func isGroup(t Type) bool {
	return t.Size == 0 && strings.HasPrefix(t.Name.Value, "[") && strings.HasSuffix(t.Name.Value, "]")
}
