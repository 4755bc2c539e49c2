package native_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
)

// Names of native code by the files of symbols that a folder has.
func ExampleOpen() {
	dir, err := native.Open("symbols", native.Usual(native.Places{Debug: []string{"/usr/lib/debug"}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	// A place in the code as a trace tells it: a Machine of package system has them.
	place := symbols.Native{Module: "/usr/lib/libc.so.6", BuildID: "8bfe03f6bf9b6a6e2591babd0bbc266837d8f658", Offset: 0x9cd0}
	if from := dir.Name(&place); from != native.FromNothing {
		fmt.Println(place.Full(), "is from", from)
	}
	for _, err := range dir.Faults() {
		fmt.Println(err)
	}
}
