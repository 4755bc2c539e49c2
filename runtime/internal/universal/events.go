// Package universal makes the events that recorders of Linux write of the kernel's records
// by perf_event: processes, the files in their memory, samples and context switches.
package universal

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The events, as recorders of Linux define them. Package universal of generated has them as
// types; a source imports no generated code, and so a test holds these against those.
var (
	systemProvider = etw.ProviderDesc{
		Name: "Universal.System",
		GUID: etw.MustParseGUID("8c107b6c-79f8-5231-4de6-2a0e20a3f562"),
	}
	eventsProvider = etw.ProviderDesc{
		Name: "Universal.Events",
		GUID: etw.MustParseGUID("bc5e5d63-9799-5873-33d9-fba8316cef71"),
	}

	ExistingProcess = describe(&systemProvider, 0, "ExistingProcess", process)
	ProcessCreate   = describe(&systemProvider, 1, "ProcessCreate", process)
	ProcessExit     = describe(&systemProvider, 2, "ProcessExit", nil)
	ProcessMapping  = describe(&systemProvider, 3, "ProcessMapping", []etw.FieldDesc{
		number("Id"), address("StartAddress"), address("EndAddress"), address("FileOffset"), text("FileName"), number("MetadataId"),
		optional(text("SymbolMetadata")), optional(text("VersionMetadata")),
	})
	ProcessSymbol = describe(&systemProvider, 4, "ProcessSymbol", []etw.FieldDesc{
		number("Id"), number("MappingId"), address("StartAddress"), address("EndAddress"), text("Name"),
	})
	MappingMetadata = describe(&systemProvider, 5, "ProcessMappingMetadata", []etw.FieldDesc{
		number("Id"), text("SymbolMetadata"), text("VersionMetadata"),
	})

	CPUSample     = describe(&eventsProvider, 1, "cpu", value)
	ContextSwitch = describe(&eventsProvider, 2, "cswitch", value)
	SoftFault     = describe(&eventsProvider, 3, "soft_page_fault", value)
	HardFault     = describe(&eventsProvider, 4, "hard_page_fault", value)
)

var value = []etw.FieldDesc{number("Value")}

var process = []etw.FieldDesc{number("NamespaceProcessId"), text("Name"), text("NamespaceName")}

func describe(p *etw.ProviderDesc, id uint16, name string, fields []etw.FieldDesc) *etw.EventDesc {
	return &etw.EventDesc{Provider: p, ID: id, Name: name, Named: true, Fields: fields}
}

func number(name string) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: etw.InVarUint} }

func address(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InVarUint, Out: etw.OutHexInt64}
}

func text(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InCountedAnsiString, Out: etw.OutUTF8}
}

// optional is a field at the end of a payload, which not all have.
func optional(f etw.FieldDesc) etw.FieldDesc {
	f.When = etw.When{Left: 1}
	return f
}

// unknownSpace stands for the name of a namespace, as other recorders have it.
const unknownSpace = "Unknown"

func appendProcess(b []byte, pid uint64, name string) []byte {
	return appendText(appendText(binary.AppendUvarint(b, pid), name), unknownSpace)
}

// A mapping is a part of the memory of a process.
type mapping struct {
	id                 uint64
	start, end, offset uint64
	path, device       string
	file               uint64 // the number of its file, 0 if nothing identifies it
}

func (m *mapping) append(b []byte) []byte {
	b = appendText(appendNumbers(b, m.id, m.start, m.end, m.offset), m.path)
	return appendText(appendText(binary.AppendUvarint(b, m.file), ""), "")
}

func appendMetadata(b []byte, file uint64, identity string) []byte {
	return appendText(appendText(binary.AppendUvarint(b, file), identity), "")
}

func appendSymbol(b []byte, id, start, size uint64, name string) []byte {
	return appendText(appendNumbers(b, id, 0, start, start+size-1), name) // of no mapping
}

func appendNumbers(b []byte, list ...uint64) []byte {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// maxText is how long a text can be.
const maxText = 0xffff

// appendText appends a text with its length before it. The kernel has none that is longer.
func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(s))), s...)
}
