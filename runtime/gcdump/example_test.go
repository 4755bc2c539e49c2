package gcdump_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/runtime/gcdump"
)

// A heap of one object, which a static field keeps alive, is written and read again.
func Example() {
	b := gcdump.NewBuilder(4)
	b.Set(0, b.Type(gcdump.RootType, ""), 0, 0, []int{1})
	b.Set(1, b.Type(gcdump.Groups[gcdump.StaticRoot], ""), 0, 0, []int{2})
	b.Set(2, b.Type(gcdump.FieldType(gcdump.StaticRoot, "Shop.Orders"), ""), 0, 0, []int{3})
	b.Set(3, b.Type("Shop.Order[]", "shop.dll"), 0x7f00, 4096, nil)
	d, err := b.Dump(0)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := d.WriteTo(&file); err != nil {
		log.Fatal(err)
	}

	d, err = gcdump.Read(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	roots, _ := d.Roots()
	for _, r := range roots {
		n := d.Node(r.Node)
		fmt.Println(r.Name, d.Types[n.Type].Name.Value, n.Size)
	}
	// Output:
	// Shop.Orders Shop.Order[] 4096
}
