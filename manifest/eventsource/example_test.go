package eventsource_test

import (
	"fmt"

	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/eventsource"
)

// The manifest of each EventSource class in an assembly, which nothing of is run.
func ExampleRead() {
	assembly := ecma335test.Shop() // os.ReadFile("Shop.dll"), usually
	sources, err := eventsource.Read("Shop.dll", assembly, eventsource.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range sources {
		fmt.Println(s.Class, "is", s.Name, s.GUID)
		for _, e := range s.Events {
			fmt.Println(e.ID, e.Name, e.Fields)
		}
	}
	text := eventsource.AppendXML(nil, "of Shop.dll", sources...)
	_, _, err = manifest.Parse("shop.man", text, manifest.Options{})
	fmt.Println("the manifest is valid:", err == nil)
	// Output:
	// Shop.Orders is Shop-Orders 4c78f197-ff47-5af0-ee0a-1beff266ec9d
	// 0 EventSourceMessage [{message win:UnicodeString  }]
	// 1 Placed [{item win:UnicodeString  } {price win:Int32  }]
	// 2 Weighed [{grams win:UInt8  } {at win:Int64  }]
	// 3 Sorted [{size win:UInt8 Size }]
	// 4 ShipStart []
	// 5 ShipStop []
	// the manifest is valid: true
}
