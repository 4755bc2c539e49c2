package sqlclient_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/sqlclient"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which commands go to which database. The output is the settings that a session needs.
func ExampleAnyBeginExecute() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *sqlclient.AnyBeginExecute) error {
		fmt.Println(r.Elapsed(), e.DataSource, e.Database, e.CommandText)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: Microsoft.Data.SqlClient.EventSource:0x1:4
}
