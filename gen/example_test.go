package gen_test

import (
	"bytes"
	"fmt"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
)

// A Go package of a manifest. Nothing is written here: files are given back.
func ExampleGenerate() {
	m, _, err := manifest.ParseFile("../manifest/testdata/orders.man", manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := gen.Generate(m, gen.Options{Package: "orders", Files: "one"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Name, bytes.HasPrefix(f.Content, []byte(gen.Header)))
	}
	// Output:
	// events.etw.go true
	// maps.etw.go true
	// provider.etw.go true
}

// Pages of Markdown about the events of a provider, with their Go names.
func ExampleReference() {
	m, _, err := manifest.ParseFile("../manifest/testdata/orders.man", manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pages, err := gen.Reference(m, gen.Options{Package: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range pages {
		fmt.Println(p.Name)
	}
	// Output:
	// README.md
	// orders/README.md
	// orders/order.md
	// orders/stock.md
}
