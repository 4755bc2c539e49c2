package kernel

import (
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/internal/keywords"
	"github.com/etwgen/etwgen/runtime/etw"
)

// GroupMasks say which groups of events a session logs: the EnableFlags that it was started
// with, and those it added. The event that opens a trace has them, and so does one at its
// end: see [AnyEventTraceExtension].
type GroupMasks [8]uint32

// moved are the flags that the kernel turns into groups.
var moved = []struct {
	flag  Flags
	group Group
}{
	{FlagCswitch, GroupContextSwitch},
	{FlagDpc, GroupDpc},
	{FlagInterrupt, GroupInterrupt},
	{FlagSystemcall, GroupSyscall},
	{FlagDriver, GroupDrivers},
	{FlagProfile, GroupProfile},
	{FlagDispatcher, GroupDispatcher},
	{FlagVirtualAlloc, GroupVirtualAlloc},
}

// Word returns the index in [GroupMasks] of the word that g is in.
func (g Group) Word() int { return int(g >> 29) }

// Mask returns the bits of g in its word.
func (g Group) Mask() uint32 { return uint32(g) & (1<<29 - 1) }

// Masks returns the group masks of a session with the flags f alone.
func (f Flags) Masks() GroupMasks {
	var m GroupMasks
	for _, v := range moved {
		if f&v.flag != 0 {
			f &^= v.flag
			m.Set(v.group)
		}
	}
	m[0] = uint32(f)
	return m
}

// Set adds a group.
func (m *GroupMasks) Set(g Group) { m[g.Word()] |= g.Mask() }

// Has reports whether m has all events of a group.
func (m *GroupMasks) Has(g Group) bool { return m[g.Word()]&g.Mask() == g.Mask() }

// Flags returns the EnableFlags that are in m, also those that the kernel has
// turned into groups.
func (m *GroupMasks) Flags() Flags {
	f := Flags(m[0])
	for _, v := range moved {
		if m.Has(v.group) {
			f |= v.flag
		}
	}
	return f
}

// GroupMasks returns the groups of events that the session logs.
func (e *AnyEventTraceExtension) GroupMasks() GroupMasks {
	return GroupMasks{e.GroupMask1, e.GroupMask2, e.GroupMask3, e.GroupMask4, e.GroupMask5, e.GroupMask6, e.GroupMask7, e.GroupMask8}
}

// GroupMasks returns the groups of events that the session logged.
func (e *AnyEventTraceEndExtension) GroupMasks() GroupMasks {
	return GroupMasks{e.GroupMask1, e.GroupMask2, e.GroupMask3, e.GroupMask4, e.GroupMask5, e.GroupMask6, e.GroupMask7, e.GroupMask8}
}

// Stacks returns those events which f turns on that are worth a call stack each: samples
// of processors and context switches.
func (f Flags) Stacks() []etw.Key {
	var list []etw.Key
	if f&FlagProfile != 0 {
		list = append(list, new(PerfInfoSampleV2).EventDesc().Key())
	}
	if f&FlagCswitch != 0 {
		list = append(list, new(ThreadCSwitchV2).EventDesc().Key())
	}
	return list
}

// ParseFlags returns the flags of a list of names, such as
// "PROC_THREAD+LOADER+PROFILE", in whose place a number such as 0x7 can stand, too.
// Names are separated by +, |, commas or spaces; case does not matter. It knows
// each flag by the name that Windows has for it, with or without
// EVENT_TRACE_FLAG_, and by the names that xperf, wpr and PerfView take.
func ParseFlags(list string) (Flags, error) {
	mask, err := ParseKeywords(list)
	return Flags(mask), err
}

// ParseKeywords is [ParseFlags] for programs that treat the kernel as any other
// provider: its flags stand for keywords.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse(Provider, keywordAliases, list)
}

// keywordAliases are the names of flags that kernel.man does not have.
var keywordAliases = slices.Concat(shortNames(), []keywords.Alias[Keyword]{
	// xperf and wpr
	{Name: "PROC_THREAD", Mask: KeywordProcess | KeywordThread},
	{Name: "ProcessThread", Mask: KeywordProcess | KeywordThread},
	{Name: "LOADER", Mask: KeywordImageLoad},
	{Name: "PERF_COUNTER", Mask: KeywordProcessCounters},
	{Name: "SYSCALL", Mask: KeywordSystemcall},
	{Name: "FILENAME", Mask: KeywordDiskFileIo},
	{Name: "HARD_FAULTS", Mask: KeywordMemoryHardFaults},
	{Name: "ALL_FAULTS", Mask: KeywordMemoryPageFaults},
	{Name: "NETWORKTRACE", Mask: KeywordNetworkTcpip},
	{Name: "DRIVERS", Mask: KeywordDriver},
	{Name: "VIRT_ALLOC", Mask: KeywordVirtualAlloc},
	// PerfView
	{Name: "ContextSwitch", Mask: KeywordCswitch},
	{Name: "DeferedProcedureCalls", Mask: KeywordDpc}, // as it is spelled there
	{Name: "AdvancedLocalProcedureCalls", Mask: KeywordAlpc},
	{Name: "Memory", Mask: KeywordMemoryPageFaults},
	{Name: "None", Mask: 0},
})

// shortNames returns the names of the flags without their common part, and without
// underscores.
func shortNames() []keywords.Alias[Keyword] {
	var list []keywords.Alias[Keyword]
	for _, k := range Provider.Keywords {
		short := strings.TrimPrefix(k.Name, "EVENT_TRACE_FLAG_")
		list = append(list, keywords.Alias[Keyword]{Name: short, Mask: Keyword(k.Mask)})
		if joined := strings.ReplaceAll(short, "_", ""); joined != short {
			list = append(list, keywords.Alias[Keyword]{Name: joined, Mask: Keyword(k.Mask)})
		}
	}
	return list
}
