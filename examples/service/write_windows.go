package main

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	advapi32        = syscall.NewLazyDLL("advapi32.dll")
	eventRegister   = advapi32.NewProc("EventRegister")
	eventUnregister = advapi32.NewProc("EventUnregister")
	eventWrite      = advapi32.NewProc("EventWriteTransfer")
)

// A provider is one that is registered with ETW.
type provider struct {
	handle  uint64
	payload []byte
}

// A descriptor is the EVENT_DESCRIPTOR of Windows, and a data the
// EVENT_DATA_DESCRIPTOR.
type descriptor struct {
	id                              uint16
	version, channel, level, opcode uint8
	task                            uint16
	keywords                        uint64
}

type data struct {
	pointer uint64
	size    uint32
	_       uint32
}

// operational is the bit that the event log gives the provider's first channel.
const operational = 1 << 63

func register(guid etw.GUID) (*provider, error) {
	p := &provider{}
	if code, _, _ := eventRegister.Call(uintptr(unsafe.Pointer(&guid)), 0, 0, uintptr(unsafe.Pointer(&p.handle))); code != 0 {
		return nil, fmt.Errorf("EventRegister: %w", syscall.Errno(code))
	}
	return p, nil
}

func (p *provider) close() { _, _, _ = eventUnregister.Call(halves(p.handle)...) }

// write writes an event: its payload in one piece.
func (p *provider) write(e etw.Event) {
	d := e.EventDesc()
	p.payload, _ = e.AppendPayload(p.payload[:0], etw.PtrSize(unsafe.Sizeof(uintptr(0))))
	head := descriptor{d.ID, d.Version, d.Channel, uint8(d.Level), uint8(d.Opcode), d.Task, d.Keywords | operational}
	body := data{uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p.payload)))), uint32(len(p.payload)), 0}
	args := append(halves(p.handle), uintptr(unsafe.Pointer(&head)), 0, 0, 1, uintptr(unsafe.Pointer(&body)))
	_, _, _ = eventWrite.Call(args...) // an event that no session takes is no error of the program
}

// halves returns a 64-bit argument as a call takes it: in two on a 32-bit system.
func halves(v uint64) []uintptr {
	if unsafe.Sizeof(uintptr(0)) == 8 {
		return []uintptr{uintptr(v)}
	}
	return []uintptr{uintptr(uint32(v)), uintptr(v >> 32)}
}
