package powershell_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/powershell"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The output is the settings that a session needs.
func ExampleAnyScriptBlock() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *powershell.AnyScriptBlock) error {
		fmt.Println(r.Elapsed(), e.ScriptBlockText)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-PowerShell:0x0:5
}
