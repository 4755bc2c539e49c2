package dns_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/dns"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyQueryStop() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *dns.AnyQueryStop) error {
		fmt.Println(r.Elapsed(), e.QueryName, e.QueryStatus)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-DNS-Client:0x0:4
}
