package fetch_test

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/fetch"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The requests to a server can be seen before.
func ExampleParsePath() {
	path, err := fetch.ParsePath("srv*/var/symbols*https://symbols.example", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	code := symbols.Native{Module: "oven.dll", PDB: symbols.PDB{
		GUID: etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff"), Age: 1, Path: "oven.pdb"}}
	for _, key := range fetch.Keys(&code) {
		fmt.Println(path[0].Addresses(key)[0])
	}
	// Output: https://symbols.example/oven.pdb/00112233445566778899AABBCCDDEEFF1/oven.pdb
}
