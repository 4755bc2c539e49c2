package windows_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/windows"
)

// The providers, and how many events each has.
func Example() {
	for _, p := range windows.Providers {
		fmt.Println(p.Desc.Name, len(p.Events))
	}
	// Output:
	// Microsoft-Windows-Kernel-Process 22
	// Microsoft-Windows-Kernel-Network 22
	// Microsoft-Windows-Kernel-File 39
	// Microsoft-Windows-Kernel-Disk 3
}
