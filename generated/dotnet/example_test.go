package dotnet_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/dotnet/dns"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A decoder that knows all sources, and pays for those that it meets.
func ExampleOf() {
	decoder := etw.NewDecoder()
	decoder.Find = dotnet.Of
	r := &etw.Record{Provider: dns.Provider.Desc.GUID, ID: 1, PointerSize: etw.Ptr64, Payload: []byte("e\x00x\x00\x00\x00")}
	event, err := decoder.Decode(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(etw.AppendText(nil, event)))
	// Output: ResolutionStart hostNameOrAddress=ex
}

// Which sources are known, and which package has the types of one.
func ExampleSources() {
	for _, s := range dotnet.Sources() {
		if s.Name == "System.Net.Http" {
			fmt.Println(s.Name, s.GUID, s.Package)
		}
	}
	// Output: System.Net.Http d30b5633-7ef1-5485-b4e0-94979b102068 http
}
