package wevt_test

import (
	"fmt"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// The resources of a manifest, as mc.exe makes them, and a manifest of the resources.
func ExampleEncode() {
	m, _, err := manifest.ParseFile("../testdata/orders.man", manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := wevt.Encode(m, wevt.EncodeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range res.Files("orders") {
		fmt.Println(f.Name)
	}
	again, damage, err := wevt.Decode("orders.dll", res, wevt.Options{})
	if err != nil || len(damage) > 0 {
		fmt.Println(damage, err)
		return
	}
	fmt.Println(again.Providers[0].Name, len(again.Providers[0].Events), "events")
	// Output:
	// ordersTEMP.bin
	// MSG00001.bin
	// orders.rc
	// Contoso-Orders 5 events
}
