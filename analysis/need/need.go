// Package need names the events to record for an answer: each package of an analysis has its
// Needs, the least that brings the events which the answer is of. Use it to record for an
// analysis, or to name the events that a trace lacks.
//
// None of it changes the program that is watched, as keywords do that make collections or
// sample allocations, unless the analysis is of just that; its Needs then say so.
package need

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Need is events that have to be recorded.
type Need struct {
	What     string // the events, such as "garbage collections"
	Provider string
	Keywords uint64 // All for an EventSource without keywords of its own
	Names    string // of the keywords
	Level    etw.Level
	Args     string // of the provider, as dotnet-trace takes them
	// Events are the numbers of events either of which shows that they were recorded, where
	// others have the keywords, too.
	Events [2]uint16
	// IDs says that the keywords give events of all providers ids of activities, and that such
	// an event shows that they were on.
	IDs bool
	// Recorder is the tools that record the events, and how, where no provider of a .NET
	// process does. Then all but What and Kernel is empty.
	Recorder string
	// Kernel are the events that such tools record for it, either of which shows that they
	// were. There are none where the number of events tells nothing.
	Kernel [3]Events
}

// Events are those of a provider or a class of the kernel, from one number to another: ids,
// or opcodes of a class.
type Events struct {
	// Provider is its GUID. Of recorders of Linux, whose events have no fixed numbers, it is the
	// names of the provider and of the event, as in "sched/sched_switch".
	Provider    string
	First, Last uint16
}

// provider returns the GUID, and the name of the event if there is one.
func (e *Events) provider() (guid etw.GUID, event string) {
	if name, event, ok := strings.Cut(e.Provider, "/"); ok {
		return etw.NameGUID(name), event
	}
	return etw.MustParseGUID(e.Provider), ""
}

// CLR is the provider of the .NET runtime.
const CLR = "Microsoft-Windows-DotNETRuntime"

// All are the keywords of an EventSource. Its events have some of the highest even where it
// declares none, so that they are not recorded without.
const All = ^uint64(0)

// String returns the need as dotnet-trace and etw collect take it, or its Recorder.
func (n *Need) String() string {
	if n.Recorder != "" {
		return n.Recorder
	}
	text := fmt.Sprintf("%s:0x%x:%d", n.Provider, n.Keywords, n.Level)
	if n.Args != "" {
		text += ":" + n.Args
	}
	return text
}

// Providers returns those of the needs that are recorded by providers as dotnet-trace and
// etw collect take them, each provider once.
func Providers(list []Need) string {
	var specs []string
	for _, n := range merge(list) {
		specs = append(specs, n.String())
	}
	return strings.Join(specs, ",")
}

// merge returns the needs that providers bring, each provider once.
func merge(list []Need) (merged []Need) {
	for _, n := range list {
		i := slices.IndexFunc(merged, func(m Need) bool { return m.Provider == n.Provider && m.Args == n.Args })
		switch {
		case n.Recorder != "":
		case i < 0:
			merged = append(merged, n)
		default:
			merged[i].Keywords |= n.Keywords
			merged[i].Level = max(merged[i].Level, n.Level)
		}
	}
	return merged
}

// keywords returns the names of the keywords with their number, or "" where all are meant.
func (n *Need) keywords() string {
	switch {
	case n.Keywords == 0 || n.Keywords == All:
		return ""
	case n.Keywords&(n.Keywords-1) != 0:
		return fmt.Sprintf("keywords %s (0x%x)", n.Names, n.Keywords)
	}
	return fmt.Sprintf("keyword %s (0x%x)", n.Names, n.Keywords)
}

// Short names in words the events to enable: of the runtime's provider the keywords alone.
func (n *Need) Short() string {
	switch words := n.keywords(); {
	case n.Recorder != "":
		return n.Recorder
	case words == "":
		return fmt.Sprintf("provider %s, level %d", n.Provider, n.Level)
	case n.Provider != CLR:
		return fmt.Sprintf("%s of %s, level %d", words, n.Provider, n.Level)
	default:
		return fmt.Sprintf("%s, level %d", words, n.Level)
	}
}

// Lack says that a trace has none of the events, and how to record them.
func (n *Need) Lack() string {
	if n.Recorder != "" {
		return fmt.Sprintf("the trace has no events of %s; to record them: %s", n.What, n.Recorder)
	}
	text := fmt.Sprintf("the trace has no events of %s, which are those of %s", n.What, n.Provider)
	if words := n.keywords(); words != "" {
		text += " with the " + words
	}
	text += fmt.Sprintf(" at level %d (%s)", n.Level, strings.ToLower(n.Level.String()))
	if n.Args != "" {
		text += ", with the argument " + n.Args
	}
	return text
}
