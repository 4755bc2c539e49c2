package tlgtest_test

import (
	"fmt"

	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
)

// A program begins as all programs of Windows do.
func ExampleSample() {
	fmt.Printf("%s\n", tlgtest.Sample()[:2])
	// Output: MZ
}
