package rewrite

import (
	"sync"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A reason says why a record stays that was not chosen.
type reason uint8

const (
	notNeeded   reason = iota
	describes          // it describes the trace, or the layout of other events
	ofMachine          // it names files or devices, or says how the session sampled
	ofOthers           // it names processes or threads, of which others may be the parents
	ofProcess          // it names images or types of its process
	ofRundown          // it says which code its process had in the end
	ofCode             // it says which code its process compiled or loaded, and when
	kernelStack        // it is a call stack, or a part of one, of an event of the kernel's clock
	threadStack        // it is the call stack of the event before it on its thread
)

// needed is the one table of the records that others need to be understood.
var needed = sync.OnceValue(func() table {
	return newTable(
		whole(describes, new(kernel.AnyEventTraceHeader), new(kernel.AnyMetaDataEventInfo)),
		whole(ofMachine, new(kernel.AnySystemConfigCPU), new(kernel.AnySysConfigBuildInfo)),
		whole(ofProcess, new(kernel.AnyImageLoad), new(kernel.AnyImageIDInfo)),
		whole(ofRundown, new(rundown.AnyMethodDCEnd)),
		whole(kernelStack, new(kernel.AnyStackWalkStack)),
		only(ofOthers,
			new(kernel.AnyProcessStart), new(kernel.AnyProcessStop), new(kernel.AnyProcessDCStart), new(kernel.AnyProcessDCStop), new(kernel.AnyProcessDefunct),
			new(kernel.AnyThreadStart), new(kernel.AnyThreadStop), new(kernel.AnyThreadDCStart), new(kernel.AnyThreadDCStop), new(kernel.AnyThreadSetName),
			new(process.AnyStart), new(process.AnyStop), new(process.AnyRundown), new(process.AnyThreadStart), new(process.AnyThreadStop)),
		only(ofMachine,
			new(kernel.AnyFileIoName), new(kernel.AnyFileIoFileCreate), new(kernel.AnyFileIoFileDelete), new(kernel.AnyFileIoFileRundown),
			new(kernel.AnyImageIDFileVersion),
			new(file.AnyNameCreate), new(file.AnyNameDelete),
			new(kernel.AnyPerfInfoSetInterval), new(kernel.AnyPerfInfoCollectionStart), new(kernel.AnyPerfInfoCollectionEnd)),
		opcodes(ofMachine, registryClass, 22, 23, 24, 25), // keys are named, and their names go
		only(ofProcess, new(clr.AnyRuntimeInformationStart), new(clr.AnyBulkType), new(process.AnyImageLoad), new(process.AnyImageUnload)),
		only(ofCode,
			new(clr.AnyMethodLoad), new(clr.AnyMethodUnload), new(clr.AnyMethodLoadVerbose), new(clr.AnyMethodUnloadVerbose), new(clr.AnyMethodILToNativeMap),
			new(clr.AnyDomainModuleLoad), new(clr.AnyModuleLoad), new(clr.AnyModuleUnload), new(clr.AnyModuleRangeLoad),
			new(clr.AnyAssemblyLoad), new(clr.AnyAssemblyUnload), new(clr.AnyAppDomainLoad), new(clr.AnyAppDomainUnload)),
		only(threadStack, new(clr.AnyStackWalk)),
	)
})

// registryClass is that of events of the registry, whose generated types would be 100 kB of a
// program.
var registryClass = etw.MustParseGUID("ae53722e-c863-11d2-8659-00c04fa321a1")

// neededNames are the providers that EventPipe knows by name alone, and all of whose
// events are needed.
var neededNames = map[string]reason{
	universal.Provider.Desc.Name:     ofProcess,
	"Microsoft-DotNETCore-EventPipe": ofProcess, // the stream's own
}

// neededSchemas are events of the kernel of Linux, which all have one provider.
var neededSchemas = map[string]reason{"sched_process_fork": ofOthers, "sched_process_exec": ofOthers}

// manifestEvent is the number of the event by which an EventSource describes itself.
const manifestEvent = 0xfffe

// A lookup finds rows of the table, and remembers those of the last provider.
type lookup struct {
	at   origin
	name string
	rows rows
}

// reasonFor returns why others need a record.
func (l *lookup) reasonFor(r *etw.Record) reason {
	if r.Kind == etw.KindManifest && r.ID == manifestEvent {
		return describes
	}
	if at := (origin{r.Kind, r.Provider}); at != l.at || r.ProviderName != l.name {
		l.at, l.name, l.rows = at, r.ProviderName, needed()[at]
		if why := neededNames[l.name]; why != notNeeded && r.Kind == etw.KindManifest {
			l.rows.all = why
		}
	}
	switch {
	case l.rows.events[r.Key().ID] != notNeeded:
		return l.rows.events[r.Key().ID]
	case l.rows.all != notNeeded:
		return l.rows.all
	case r.Schema != nil:
		return neededSchemas[r.Schema.Name]
	}
	return notNeeded
}

// A table has the rows of each provider or class of events.
type table map[origin]rows

type origin struct {
	kind     etw.Kind
	provider etw.GUID // or class
}

type rows struct {
	all    reason // if all events of it are needed
	events map[uint16]reason
}

func newTable(parts ...func(table)) table {
	t := make(table)
	for _, add := range parts {
		add(t)
	}
	return t
}

// row returns the rows that an event belongs to, and its number.
func (t table) row(e etw.AnyVersion) (origin, rows, uint16) {
	k := etw.Versions(e)[0].Key()
	at := origin{k.Kind, k.Provider}
	return at, t[at], k.ID
}

// whole adds the classes and providers of events.
func whole(why reason, events ...etw.AnyVersion) func(table) {
	return func(t table) {
		for _, e := range events {
			at, rows, _ := t.row(e)
			rows.all = why
			t[at] = rows
		}
	}
}

// opcodes adds events of a class.
func opcodes(why reason, class etw.GUID, codes ...uint16) func(table) {
	return func(t table) {
		at := origin{etw.KindClassic, class}
		rows := rows{events: make(map[uint16]reason)}
		for _, code := range codes {
			rows.events[code] = why
		}
		t[at] = rows
	}
}

// only adds events.
func only(why reason, events ...etw.AnyVersion) func(table) {
	return func(t table) {
		for _, e := range events {
			at, rows, id := t.row(e)
			if rows.events == nil {
				rows.events = make(map[uint16]reason)
			}
			rows.events[id], t[at] = why, rows
		}
	}
}
