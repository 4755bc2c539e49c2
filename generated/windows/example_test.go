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
	// Microsoft-Windows-Kernel-Registry 15
	// Microsoft-Windows-Kernel-Power 28
	// Microsoft-Windows-DNS-Client 15
	// Microsoft-Windows-TCPIP 23
	// Microsoft-Windows-HttpService 30
	// Microsoft-Windows-WinINet 22
	// Microsoft-Windows-PowerShell 8
	// Microsoft-Windows-Security-Auditing 28
	// Microsoft-Windows-TaskScheduler 24
	// Microsoft-Windows-Windows Defender 14
}
