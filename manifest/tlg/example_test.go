package tlg_test

import (
	"fmt"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
)

// The events of a program, with who may write each.
func ExampleRead() {
	f, err := tlg.Read(tlgtest.Sample())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range f.Events {
		fmt.Print(e.Desc.Name, " of")
		for _, p := range e.Owners {
			fmt.Print(" ", p.Name)
		}
		fmt.Println()
	}
	// Output:
	// Sold of Shop
	// Cooked of Kitchen
	// Opened of Shop Kitchen
}
