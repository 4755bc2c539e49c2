package nettrace

import "github.com/etwgen/etwgen/runtime/etw"

// A wellKnown event is one that the stream does not describe, or describes wrongly,
// and no manifest does either.
type wellKnown struct {
	name   string
	fields []etw.FieldDesc
	always bool // what the stream says is wrong
}

// Descriptions of single fields, for the tables below.
func utf16z(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InUnicodeString}
}

func utf8s(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InCountedAnsiString, Out: etw.OutUTF8}
}

// ifLeft makes a field one that not all payloads have.
func ifLeft(f etw.FieldDesc) etw.FieldDesc {
	f.When = etw.When{Left: 1}
	return f
}

func uvar(name string) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: etw.InVarUint} }

func address(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InVarUint, Out: etw.OutHexInt64}
}

// sample is the sample profiler's account of the thread whose stack it took.
var sample = wellKnown{name: "ThreadSample", fields: []etw.FieldDesc{{
	Name: "Type", Type: etw.InUInt32,
	Map: &etw.MapDesc{Name: "ThreadSampleType", Entries: []etw.MapEntry{{Value: 0, Name: "Error"}, {Value: 1, Name: "External"}, {Value: 2, Name: "Managed"}}},
}}}

// diagnosticSource is the layout of the events by which DiagnosticSource passes on the
// events of others. Early versions of the format cannot describe it.
var diagnosticSource = wellKnown{fields: []etw.FieldDesc{
	utf16z("SourceName"), utf16z("EventName"),
	{Name: "Arguments", Type: etw.InStruct, Count: etw.Size{Kind: etw.SizePrefix}, Fields: []etw.FieldDesc{utf16z("Key"), utf16z("Value")}},
}}

// universalSystem holds the events of the Linux recorder, by id. Their metadata
// declares each text as a single byte, and not the last two of ProcessMapping.
var universalSystem = [...]wellKnown{
	0: {always: true, name: "ExistingProcess", fields: []etw.FieldDesc{uvar("NamespaceProcessId"), utf8s("Name"), utf8s("NamespaceName")}},
	1: {always: true, name: "ProcessCreate", fields: []etw.FieldDesc{uvar("NamespaceProcessId"), utf8s("Name"), utf8s("NamespaceName")}},
	2: {always: true, name: "ProcessExit"},
	3: {always: true, name: "ProcessMapping", fields: []etw.FieldDesc{uvar("Id"), address("StartAddress"), address("EndAddress"), address("FileOffset"), utf8s("FileName"), uvar("MetadataId"),
		ifLeft(utf8s("SymbolMetadata")), ifLeft(utf8s("VersionMetadata"))}},
	4: {always: true, name: "ProcessSymbol", fields: []etw.FieldDesc{uvar("Id"), uvar("MappingId"), address("StartAddress"), address("EndAddress"), utf8s("Name")}},
	5: {always: true, name: "ProcessMappingMetadata", fields: []etw.FieldDesc{uvar("Id"), utf8s("SymbolMetadata"), utf8s("VersionMetadata")}},
}

// universalEvent is the start of the events of Universal.Events: CPU samples, context
// switches and others, each with a stack.
var universalEvent = wellKnown{fields: []etw.FieldDesc{uvar("Value")}}

// knownEvent returns the description of an event, or nil.
func knownEvent(provider, name string, id uint32) *wellKnown {
	switch provider {
	case "Microsoft-DotNETCore-SampleProfiler":
		if id == 0 {
			return &sample
		}
	case "Microsoft-Diagnostics-DiagnosticSource":
		switch name {
		case "Event", "Activity1Start", "Activity1Stop", "Activity2Start", "Activity2Stop", "RecursiveActivity1Start", "RecursiveActivity1Stop":
			return &diagnosticSource
		}
	case "Universal.System":
		// Ids are those of the table; where they differ the name decides.
		if id < uint32(len(universalSystem)) && (name == "" || name == universalSystem[id].name) {
			return &universalSystem[id]
		}
		for i := range universalSystem {
			if universalSystem[i].name == name {
				return &universalSystem[i]
			}
		}
	case "Universal.Events":
		return &universalEvent
	}
	return nil
}
