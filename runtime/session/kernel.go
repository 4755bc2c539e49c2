package session

import (
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// systemProviders are those by which Windows 11 turns kernel events on, in sessions of
// the system.
var systemProviders = []etw.GUID{
	etw.MustParseGUID("fcb9baaf-e529-4980-92e9-ced1a6aadfdf"), // Alpc
	etw.MustParseGUID("fef3a8b6-318d-4b67-a96a-3b0f6b8f18fe"), // Config
	etw.MustParseGUID("c6c5265f-eae8-4650-aae4-9d48603d8510"), // Cpu
	etw.MustParseGUID("bafa072a-918a-4bed-b622-bc152097098f"), // Hypervisor
	etw.MustParseGUID("d4bbee17-b545-4888-858b-744169015b25"), // Interrupt
	etw.MustParseGUID("fbd09363-9e22-4661-b8bf-e7a34b535b8c"), // IoFilter
	etw.MustParseGUID("3d5c43e3-0f1c-4202-b817-174c0070dc79"), // Io
	etw.MustParseGUID("721ddfd3-dacc-4e1e-b26a-a2cb31d4705a"), // Lock
	etw.MustParseGUID("82958ca9-b6cd-47f8-a3a8-03ae85a4bc24"), // Memory
	etw.MustParseGUID("febd7460-3d1d-47eb-af49-c9eeb1e146f2"), // Object
	etw.MustParseGUID("c134884a-32d5-4488-80e5-14ed7abb8269"), // Power
	etw.MustParseGUID("151f55dc-467d-471f-83b5-5f889d46ff66"), // Process
	etw.MustParseGUID("bfeb0324-1cee-496f-a409-2ac2b48a6322"), // Profile
	etw.MustParseGUID("16156bd9-fab4-4cfa-a232-89d1099058e3"), // Registry
	etw.MustParseGUID("599a2a76-4d91-4910-9ac7-7d33f2e97a6c"), // Scheduler
	etw.MustParseGUID("434286f7-6f1b-45bb-b37e-95f623046c7c"), // Syscall
	etw.MustParseGUID("4f061568-e215-499f-ab2e-eda0ae890a5b"), // Timer
}

// profilePrivilege is the privilege for samples of processors.
const profilePrivilege = "SeSystemProfilePrivilege"

// set sets the events of a kernel session.
func setKernel(sys system, handle uint64, groups [8]uint32, stacks []etw.Key) Code {
	if groups != [8]uint32{} {
		if c := sys.traceSet(handle, setEnableFlags, unsafe.Pointer(&groups), unsafe.Sizeof(groups)); c != codeSuccess {
			return c
		}
	}
	return setStacks(sys, handle, stacks)
}

func setStacks(sys system, handle uint64, stacks []etw.Key) Code {
	if len(stacks) == 0 {
		return codeSuccess
	}
	ids := make([]stackTracingID, len(stacks))
	for i, s := range stacks {
		ids[i] = stackTracingID{class: s.Provider, opcode: uint8(s.ID)}
	}
	return sys.traceSet(handle, setStackTracing, unsafe.Pointer(&ids[0]), uintptr(len(ids))*unsafe.Sizeof(ids[0]))
}

// setInterval sets the time between two samples, for the whole machine.
func setInterval(sys system, d time.Duration) Code {
	p := &sampleInterval{interval: uint32(d / 100)}
	return sys.traceSet(0, setSampleInterval, unsafe.Pointer(p), unsafe.Sizeof(*p))
}
