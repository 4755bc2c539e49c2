package ctf_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/etwgen/etwgen/runtime/ctf"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A trace is the metadata and the streams that they describe.
func ExampleNewReader() {
	const metadata = `/* CTF 1.8 */
trace { byte_order = le; };
event { name = "shop:sold"; fields := struct { integer { size = 16; align = 8; } pieces; string what; }; };`
	const stream = "\x03\x00tea\x00" + "\x01\x00coffee\x00"
	r, err := ctf.NewReader([]ctf.File{
		{Name: ctf.Metadata, Data: strings.NewReader(metadata), Size: int64(len(metadata))},
		{Name: "channel0", Data: strings.NewReader(stream), Size: int64(len(stream))},
	})
	if err != nil {
		log.Fatal(err)
	}
	var e etw.Dynamic
	for rec, err := range r.Records() {
		if err != nil {
			log.Fatal(err)
		}
		if _, err := e.Decode(rec.Schema, rec.Payload, rec.PointerSize); err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.ProviderName, e.String())
	}
	// Output:
	// shop sold pieces=3 what=tea
	// shop sold pieces=1 what=coffee
}
