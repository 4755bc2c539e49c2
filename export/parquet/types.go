package parquet

import (
	"hash/fnv"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
)

// Types says which types columns have.
type Types uint8

// The sets of types.
const (
	// PlainTypes are those that all engines have: times are in µs of UTC, GUIDs are
	// text, and integers without a sign the next wider ones with one, but those of 64 bits.
	PlainTypes Types = iota
	// ExactTypes are those of the fields: times are in ns, GUIDs are UUIDs, and integers have
	// their own width and sign.
	ExactTypes
)

// plainTypes are the replacements of types that not all engines have.
var plainTypes = map[file.Type]file.Type{
	file.Uint8: file.Int32, file.Uint16: file.Int32, file.Uint32: file.Int64, file.UUID: file.Text, file.Timestamp: file.Micros,
}

// nodes copies nodes, with the types of t: those of a file do not change any more.
func (t Types) nodes(nodes []*file.Node) []*file.Node {
	var list []*file.Node
	for _, n := range nodes {
		c := *n
		if to, ok := plainTypes[c.Type]; ok && t == PlainTypes {
			c.Type = to
		}
		c.Fields = t.nodes(n.Fields)
		list = append(list, &c)
	}
	return list
}

// firstFieldID is the least number of a column that not all tables have.
const firstFieldID = 1000

// numberNodes gives columns their numbers, by which tables of formats such as Iceberg know them.
// The first ones are those that all tables have; others come from the names, and so are the
// same in all files, whatever columns come later.
func numberNodes(nodes []*file.Node, common int) {
	taken := make(map[int32]bool)
	next := int32(0)
	var give func(n *file.Node, path string, common bool)
	give = func(n *file.Node, path string, common bool) {
		path += "\x00" + n.Name
		if common {
			next++
			n.ID = next
		} else {
			h := fnv.New32a()
			h.Write([]byte(path))
			for n.ID = firstFieldID + int32(h.Sum32()>>2); taken[n.ID]; n.ID++ {
			}
		}
		taken[n.ID] = true
		for _, f := range n.Fields {
			give(f, path, common)
		}
	}
	for i, n := range nodes {
		give(n, "", i < common)
	}
}
