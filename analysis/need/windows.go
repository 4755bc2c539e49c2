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
