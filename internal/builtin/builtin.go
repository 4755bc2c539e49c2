// Package builtin has the providers that the trace tool knows without a manifest.
package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/generated/windows/auditing"
	"github.com/etwgen/etwgen/generated/windows/defender"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/dns"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/httpsys"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/generated/windows/powershell"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/generated/windows/registry"
	"github.com/etwgen/etwgen/generated/windows/scheduler"
	"github.com/etwgen/etwgen/generated/windows/tcpip"
	"github.com/etwgen/etwgen/generated/windows/wininet"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Provider is one with a generated package.
type Provider struct {
	Alias string // a short name for command lines
	*etw.Provider
	ParseKeywords func(list string) (uint64, error) // in every spelling that people know
}

// Providers are those with a generated package.
var Providers = []Provider{
	{"clr", clr.Provider, masks(clr.ParseKeywords)},
	{"rundown", rundown.Provider, masks(rundown.ParseKeywords)},
	{"private", private.Provider, masks(private.ParseKeywords)},
	{"stress", stress.Provider, masks(stress.ParseKeywords)},
	{"kernel", kernel.Provider, masks(kernel.ParseKeywords)},
	{"universal", universal.Provider, noKeywords},
	{"samples", events.Provider, noKeywords},
	{"kernel-process", process.Provider, windows.ParseKeywords(process.Provider)},
	{"kernel-network", network.Provider, windows.ParseKeywords(network.Provider)},
	{"kernel-file", file.Provider, windows.ParseKeywords(file.Provider)},
	{"kernel-disk", disk.Provider, noKeywords},
	{"kernel-registry", registry.Provider, windows.ParseKeywords(registry.Provider)},
	{"kernel-power", power.Provider, windows.ParseKeywords(power.Provider)},
	{"dns-client", dns.Provider, noKeywords},
	{"tcpip", tcpip.Provider, windows.ParseKeywords(tcpip.Provider)},
	{"http-sys", httpsys.Provider, windows.ParseKeywords(httpsys.Provider)},
	{"wininet", wininet.Provider, windows.ParseKeywords(wininet.Provider)},
	{"powershell", powershell.Provider, noKeywords},
	{"auditing", auditing.Provider, noKeywords},
	{"task-scheduler", scheduler.Provider, noKeywords},
	{"defender", defender.Provider, noKeywords},
}

// masks gives the common part of all packages to a function that returns a package's own type.
func masks[K ~uint64](parse func(list string) (K, error)) func(list string) (uint64, error) {
	return func(list string) (uint64, error) {
		k, err := parse(list)
		return uint64(k), err
	}
}

// noKeywords parses the keywords of a provider that has none.
func noKeywords(list string) (uint64, error) {
	if list == "" {
		return 0, nil
	}
	return 0, fmt.Errorf("keyword %q is not known: the provider has none", list)
}

// find returns the description of the provider of a record without types.
func find(r *etw.Record) *etw.Provider {
	if p := dotnet.Of(r); p != nil {
		return p
	}
	return tracepoints.Of(r)
}

// Sources returns the EventSources of .NET with exactly this name.
func Sources(called func(name string, guid etw.GUID) bool, more []*etw.Provider) []*etw.Provider {
	var list []*etw.Provider
	for _, s := range dotnet.Sources() {
		if called(s.Name, s.GUID) && !slices.ContainsFunc(more, func(p *etw.Provider) bool { return strings.EqualFold(p.Desc.Name, s.Name) }) {
			list = append(list, dotnet.Provider(s.Name))
		}
	}
	return list
}

// Aliases returns the short names of providers, by their names.
func Aliases() map[string]string {
	aliases := make(map[string]string)
	for _, p := range Providers {
		aliases[p.Desc.Name] = p.Alias
	}
	for _, s := range dotnet.Sources() {
		aliases[s.Name] = s.Package
	}
	return aliases
}

// Named returns the name of the provider that an alias, or the name in any case, is
// that of, or "".
func Named(text string) string {
	for name, alias := range Aliases() {
		if strings.EqualFold(text, name) || alias != "" && strings.EqualFold(text, alias) {
			return name
		}
	}
	return ""
}

// NewDecoder returns a decoder that knows the built-in providers, the EventSources of
// .NET, and more, those of manifests.
func NewDecoder(more ...*etw.Provider) *etw.Decoder {
	var all []*etw.Provider
	for _, p := range Providers {
		all = append(all, p.Provider)
	}
	d := etw.NewDecoder(append(all, more...)...)
	d.Names = classic.Names
	d.Find = find
	return d
}

// IsKernel reports whether r is a classic event of the kernel, or one that the kernel logs
// with its events.
func IsKernel(r *etw.Record) bool {
	return r.Kind == etw.KindClassic && classic.ClassName(r.Provider) != ""
}
