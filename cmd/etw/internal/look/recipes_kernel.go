package look

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/kernel"
)

// kernelNames are the names that tools have for flags of the kernel, or "" if one has none.
// xperf and wpr turn processes and threads on together.
var kernelNames = []struct {
	mask                 kernel.Keyword
	xperf, wpr, perfview string
}{
	{kernel.KeywordProcess, "PROC_THREAD", "ProcessThread", "Process"},
	{kernel.KeywordThread, "PROC_THREAD", "ProcessThread", "Thread"},
	{kernel.KeywordImageLoad, "LOADER", "Loader", "ImageLoad"},
	{kernel.KeywordProcessCounters, "PERF_COUNTER", "ProcessCounter", "ProcessCounters"},
	{kernel.KeywordCswitch, "CSWITCH", "CSwitch", "ContextSwitch"},
	{kernel.KeywordDpc, "DPC", "DPC", "DeferedProcedureCalls"},
	{kernel.KeywordInterrupt, "INTERRUPT", "Interrupt", "Interrupt"},
	{kernel.KeywordSystemcall, "SYSCALL", "SystemCall", "SystemCall"},
	{kernel.KeywordDiskIo, "DISK_IO", "DiskIO", "DiskIO"},
	{kernel.KeywordDiskFileIo, "FILENAME", "Filename", "DiskFileIO"},
	{kernel.KeywordDiskIoInit, "DISK_IO_INIT", "DiskIOInit", "DiskIOInit"},
	{kernel.KeywordDispatcher, "DISPATCHER", "ReadyThread", "Dispatcher"},
	{kernel.KeywordMemoryPageFaults, "ALL_FAULTS", "AllFaults", "Memory"},
	{kernel.KeywordMemoryHardFaults, "HARD_FAULTS", "HardFaults", "MemoryHardFaults"},
	{kernel.KeywordVirtualAlloc, "VIRT_ALLOC", "VirtualAllocation", "VirtualAlloc"},
	{kernel.KeywordVamap, "VAMAP", "VAMap", "VAMap"},
	{kernel.KeywordNetworkTcpip, "NETWORKTRACE", "NetworkTrace", "NetworkTCPIP"},
	{kernel.KeywordRegistry, "REGISTRY", "Registry", "Registry"},
	{kernel.KeywordAlpc, "ALPC", "Alpc", "AdvancedLocalProcedureCalls"},
	{kernel.KeywordSplitIo, "SPLIT_IO", "SplitIO", "SplitIO"},
	{kernel.KeywordDriver, "DRIVERS", "Drivers", "Driver"},
	{kernel.KeywordProfile, "PROFILE", "SampledProfile", "Profile"},
	{kernel.KeywordFileIo, "FILE_IO", "FileIO", "FileIO"},
	{kernel.KeywordFileIoInit, "FILE_IO_INIT", "FileIOInit", "FileIOInit"},
}

// kernelRecipe returns the settings of a tool for flags of the kernel. Events beyond them
// bring a warning; flags that the tool lacks are an error.
func kernelRecipe(tool string, mask uint64) (text string, warnings []string, err error) {
	const form = "-p \"Windows Kernel Trace\" 0x%x"
	switch tool {
	case "dotnet-trace", "env":
		return "", nil, cli.Usagef("--for %s: it records a .NET process, not the kernel of Windows; logman, perfview, wpr, xperf and etw record --kernel do", tool)
	case "logman":
		return fmt.Sprintf(form, mask), []string{"logman takes them in one session alone, of this name: logman start \"NT Kernel Logger\""}, nil
	}
	left, done := mask, make(map[string]bool)
	var names []string
	for _, row := range kernelNames {
		name := map[string]string{"xperf": row.xperf, "wpr": row.wpr, "perfview": row.perfview}[tool]
		if mask&uint64(row.mask) == 0 || name == "" {
			continue
		}
		left &^= uint64(row.mask)
		if !done[name] {
			names = append(names, name)
		}
		done[name] = true
	}
	if left != 0 {
		return "", nil, cli.Usagef("--for %s: it has no name for %s; etw record --kernel and logman take a mask", tool, kernel.Keyword(left))
	}
	const both = uint64(kernel.KeywordProcess | kernel.KeywordThread)
	if one := mask & both; tool != "perfview" && one != 0 && one != both {
		warnings = append(warnings, fmt.Sprintf("%s has one name for processes and threads, and turns both on", tool))
	}
	if len(names) == 0 {
		return "", nil, cli.Usagef("--for %s: a mask without flags turns nothing on", tool)
	}
	switch tool {
	case "perfview":
		return "/KernelEvents:" + strings.Join(names, ","), warnings, nil
	case "xperf":
		return "-on " + strings.Join(names, "+"), warnings, nil
	}
	return `<SystemProvider Id="kernel"><Keywords><Keyword Value="` + strings.Join(names, `"/><Keyword Value="`) + `"/></Keywords></SystemProvider>`, warnings, nil
}
