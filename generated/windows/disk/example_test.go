package disk_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Which files are read from disks, and how much. The output is the settings that a session needs.
func ExampleAnyRead() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *disk.AnyRead) error {
		fmt.Println(r.Elapsed(), e.TransferSize)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-Kernel-Disk:0x0:4
}
