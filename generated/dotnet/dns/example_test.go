package dns_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/dns"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which names are looked up. The output is the settings that a session needs.
func ExampleAnyResolutionStart() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *dns.AnyResolutionStart) error {
		fmt.Println(r.Elapsed(), e.HostNameOrAddress)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Net.NameResolution:0xf00000000000:4
}
