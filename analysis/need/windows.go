package need

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Processors has tools of Windows sample processors, as they do in place of the threads of
// one .NET process.
const Processors = "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+PROFILE -stackwalk Profile"

// OnLinux ends how tools of Windows record what one of Linux does, too.
const OnLinux = "; on Linux dotnet-trace collect-linux"

// Recordings of the machine by tools of Windows, for several analyses.
var (
	Processes = Need{What: "processes", Recorder: windows("CPU", "", "Process,Thread,ImageLoad", "Process:0x10")}
	Images    = Need{What: "images", Recorder: windows("CPU", "", "Process,Thread,ImageLoad", "Process:0x40")}
	Network   = Need{What: "the network", Recorder: windows("Network", "+NETWORKTRACE", "Process,Thread,ImageLoad,NetworkTCPIP", "Network:0x30"), Kernel: [3]Events{
		{"9a280ac0-c8e0-11d1-84e2-00c04fb998a2", 10, 34}, {"bf3a50c5-a9c9-4988-a005-2df0b7c80f80", 10, 34}, {"7dd42a49-5329-4832-8dfd-43d979153a88", 10, 60},
	}}
	Files = Need{What: "operations on files", Recorder: windows("FileIO", "+FILE_IO+FILE_IO_INIT+FILENAME", "Process,Thread,ImageLoad,FileIO,FileIOInit,DiskFileIO", "File:0x3f0"), Kernel: [3]Events{
		{"90cbdc39-4a3e-11d1-84f4-0000f80464e3", 64, 77}, {"edd08927-9cc4-4e65-b970-c2560fb5c289", 12, 30},
	}}
	Disks = Need{What: "disks", Recorder: windows("DiskIO", "+DISK_IO+FILENAME", "Process,Thread,ImageLoad,DiskIO,DiskFileIO", "Disk"), Kernel: [3]Events{
		{"3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", 10, 15}, {"c7bde69a-e1e0-4177-b6ef-283ad1525271", 10, 14},
	}}
	Faults = Need{What: "hard faults", Recorder: windows("GeneralProfile", "+HARD_FAULTS+FILENAME", "Process,Thread,ImageLoad,MemoryHardFaults,DiskFileIO", ""), Kernel: [3]Events{
		{"3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", 32, 32},
	}}
	Registry = Need{What: "operations on the registry", Recorder: windows("Registry", "+REGISTRY", "Process,Thread,ImageLoad,Registry", ""), Kernel: [3]Events{
		{"ae53722e-c863-11d2-8659-00c04fa321a1", 10, 29},
	}}
	Samples  = Need{What: "samples of processors", Recorder: Processors, Kernel: [3]Events{{"ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", 46, 46}}}
	Switches = Need{What: "context switches", Recorder: windows("CPU", "+CSWITCH", "Process,Thread,ImageLoad,ContextSwitch", "") + OnLinux, Kernel: [3]Events{
		{"3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 36, 36}, {Provider: "Universal.Events/cswitch"}, {Provider: "sched/sched_switch"},
	}}
)

// windows says how tools of Windows record: wpr by a profile, xperf by flags beside those of
// processes and images, PerfView by flags, and logman by the provider of Microsoft-Windows-Kernel,
// with a mask, unless there is none.
func windows(profile, flags, perfview, provider string) string {
	text := fmt.Sprintf("wpr -start %s, xperf -on PROC_THREAD+LOADER%s", profile, flags)
	other := fmt.Sprintf("PerfView /KernelEvents:%s collect", perfview)
	if provider == "" {
		return text + ", or " + other
	}
	name, mask, _ := strings.Cut(provider, ":")
	if mask != "" {
		mask = " " + mask
	}
	return fmt.Sprintf("%s, %s, or logman start NAME -p Microsoft-Windows-Kernel-%s%s -o FILE.etl -ets", text, other, name, mask)
}

// sampler is the provider of samples of threads, which nothing but EventPipe has.
const sampler = "Microsoft-DotNETCore-SampleProfiler"

// PerfView returns a provider as PerfView takes it.
func PerfView(p *etw.ProviderDesc, keywords uint64, level etw.Level) string {
	name := p.Name
	if p.GUID == etw.NameGUID(name) { // of an EventSource, which nobody registers
		name = "*" + name
	}
	return fmt.Sprintf("%s:0x%x:%s", name, keywords, level)
}

// Windows returns the command of a tool of Windows that records those of the needs which
// providers bring, or "". It records all processes.
func Windows(list []Need) string {
	var specs []string
	sampled := false
	for _, n := range merge(list) {
		if n.Provider == sampler {
			sampled = true
			continue
		}
		spec := PerfView(&etw.ProviderDesc{Name: n.Provider, GUID: n.guid()}, n.Keywords, n.Level)
		if !slices.Contains(specs, spec) {
			specs = append(specs, spec)
		}
	}
	var commands []string
	if len(specs) > 0 {
		commands = append(commands, "PerfView /OnlyProviders:"+strings.Join(specs, ",")+" collect trace")
	}
	if sampled {
		commands = append(commands, Processors)
	}
	return strings.Join(commands, "; ")
}
