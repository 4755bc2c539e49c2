package concurrent_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/dotnet/concurrent"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Each time that a ConcurrentDictionary takes all of its locks, as its Count does. The output is the settings that a session
// needs.
func ExampleAnyDictionaryAcquiringAllLocks() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *concurrent.AnyDictionaryAcquiringAllLocks) error {
		fmt.Println(r.Elapsed(), e.NumOfBuckets)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Printf("%s:%#x:%d\n", e.Provider.Name, e.Keywords, e.Level)
	}
	// Output: System.Collections.Concurrent.ConcurrentCollectionsEventSource:0xf00000000000:3
}
