package file_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which files are opened. The output is the settings that a session needs.
func ExampleAnyCreate() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *file.AnyCreate) error {
		fmt.Println(r.Elapsed(), e.FileName)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-File:0xa0:4
}
