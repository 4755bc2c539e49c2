package lives

import "github.com/etwgen/etwgen/runtime/etw"

// The opcodes of the kernel's process events that begin and end a life. The
// others list the processes that were there before the session and after it.
const (
	processStart etw.Opcode = 1
	processStop  etw.Opcode = 2
)

// A ProcessEvent is the start or the end of a process, as the kernel logs it. Which
// process it is about, the header of the record says; nothing is decoded.
type ProcessEvent struct{ etw.Empty }

var kernel = etw.ProviderDesc{
	Name: "Windows Kernel Trace",
	GUID: etw.MustParseGUID("9e814aad-3204-11d2-9a82-006008a86939"),
}

var processClass = etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")

func processDesc(op etw.Opcode, name string) *etw.EventDesc {
	return &etw.EventDesc{Provider: &kernel, Kind: etw.KindClassic, Class: processClass, Opcode: op, Name: name}
}

var processDescs = []*etw.EventDesc{processDesc(processStart, "Process/Start"), processDesc(processStop, "Process/Stop")}

// EventDesc returns a description without fields.
func (*ProcessEvent) EventDesc() *etw.EventDesc { return processDescs[0] }

// EventDescs returns those of the start and the end.
func (*ProcessEvent) EventDescs() []*etw.EventDesc { return processDescs }

// DecodeVersion reads nothing.
func (*ProcessEvent) DecodeVersion(uint8, []byte, etw.PtrSize) (int, error) { return 0, nil }

// IsCut reports whether a [ProcessEvent] ends the life of the former owner of its process
// id.
func IsCut(r *etw.Record) bool { return r.Opcode == processStart || r.Opcode == processStop }
