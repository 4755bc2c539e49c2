package provider

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A fakeETW is a Windows that keeps written events. It reads the memory that it is given as
// Windows does: by offsets.
type fakeETW struct {
	mu      sync.Mutex
	last    uint64
	known   map[uint64]*registered // by handle
	enabled map[etw.GUID]Control
	fail    map[string]uint32 // by function
	records []*etw.Record
}

type registered struct {
	guid   etw.GUID
	id     uintptr
	traits []byte
}

func newFake() *fakeETW {
	return &fakeETW{known: make(map[uint64]*registered), enabled: make(map[etw.GUID]Control), fail: make(map[string]uint32)}
}

// provider returns a registered provider of the fake, for which everything is enabled.
func (f *fakeETW) provider(t *testing.T, desc *etw.ProviderDesc, opts ...Option) *Provider {
	t.Helper()
	f.enable(desc.GUID, Control{Code: Enable, Level: 255, Any: 1<<64 - 1})
	p := New(desc, append(opts, func(p *Provider) { p.host = system{f} })...)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// enable tells providers of a session's request.
func (f *fakeETW) enable(guid etw.GUID, c Control) {
	f.mu.Lock()
	if c.Code != CaptureState {
		f.enabled[guid] = c
	}
	var list []*registered
	var handles []uint64
	for h, r := range f.known {
		if r.guid == guid {
			list, handles = append(list, r), append(handles, h)
		}
	}
	f.mu.Unlock()
	for i, r := range list {
		r.call(handles[i], c)
	}
}

func (r *registered) call(handle uint64, c Control) {
	if handle >= classicHandle {
		session := handle
		if c.Code == Disable {
			session = 0
		}
		requestCallback(r.id, session, uint8(c.Level), uint32(c.Any))
		return
	}
	var filter *dataDescriptor
	if c.Filter.Data != nil {
		d := describe(c.Filter.Data, c.Filter.Type)
		filter = &d
	}
	enableCallback(r.id, &c.Session, uint32(c.Code), uint8(c.Level), c.Any, c.All, filter)
}

// classicHandle is the first handle of a classic provider.
const classicHandle = 1 << 40

func (f *fakeETW) register(call string, base uint64, guid *etw.GUID, id uintptr, handle *uint64) uint32 {
	f.mu.Lock()
	if code := f.fail[call]; code != 0 {
		f.mu.Unlock()
		return code
	}
	f.last++
	*handle = base + f.last
	r := &registered{guid: *guid, id: id}
	f.known[*handle] = r
	c, ok := f.enabled[*guid]
	f.mu.Unlock()
	if ok && c.Code == Enable {
		r.call(*handle, c)
	}
	return 0
}

func (f *fakeETW) unregister(call string, handle uint64) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[handle] == nil {
		return codeInvalidHandle
	}
	delete(f.known, handle)
	return f.fail[call]
}

func (f *fakeETW) eventRegister(guid *etw.GUID, id uintptr, handle *uint64) uint32 {
	return f.register("EventRegister", 0, guid, id, handle)
}

func (f *fakeETW) registerTraceGuids(guid *etw.GUID, id uintptr, handle *uint64) uint32 {
	return f.register("RegisterTraceGuidsW", classicHandle, guid, id, handle)
}

func (f *fakeETW) eventUnregister(handle uint64) uint32 {
	return f.unregister("EventUnregister", handle)
}

func (f *fakeETW) unregisterTraceGuids(handle uint64) uint32 {
	return f.unregister("UnregisterTraceGuids", handle)
}

func (f *fakeETW) eventSetInformation(handle uint64, class uint32, data []byte) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if class == setTraits {
		f.known[handle].traits = slices.Clone(data)
	}
	return f.fail["EventSetInformation"]
}

func (f *fakeETW) eventWriteTransfer(handle uint64, d *eventDescriptor, activity, related *etw.GUID, count uint32, data *dataDescriptor) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.known[handle]
	if r == nil {
		return codeInvalidHandle
	}
	if code := f.fail["EventWriteTransfer"]; code != 0 {
		return code
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(d)), 16)
	rec := &etw.Record{
		Provider: r.guid, ID: binary.LittleEndian.Uint16(b), Version: b[2], Channel: b[3], Level: etw.Level(b[4]),
		Opcode: etw.Opcode(b[5]), Task: binary.LittleEndian.Uint16(b[6:]), Keywords: binary.LittleEndian.Uint64(b[8:]),
		PointerSize: native,
	}
	if activity != nil {
		rec.ActivityID = *activity
	}
	if related != nil {
		rec.RelatedActivityID = *related
	}
	f.take(rec, unsafe.Slice(data, count))
	return 0
}

func (f *fakeETW) traceEvent(session uint64, header *traceHeader) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[session] == nil {
		return codeInstanceNotFound
	}
	if code := f.fail["TraceEvent"]; code != 0 {
		return code
	}
	size := binary.LittleEndian.Uint16(unsafe.Slice((*byte)(unsafe.Pointer(header)), 2))
	b := unsafe.Slice((*byte)(unsafe.Pointer(header)), size)
	if binary.LittleEndian.Uint32(b[44:]) != 0x120000 {
		return codeInvalidParameter
	}
	rec := &etw.Record{
		Kind: etw.KindClassic, Provider: etw.GUID(b[24:40]), Opcode: etw.Opcode(b[4]), Level: etw.Level(b[5]), Version: b[6],
		PointerSize: native,
	}
	fields := (*dataDescriptor)(unsafe.Pointer(&b[48]))
	f.take(rec, unsafe.Slice(fields, (len(b)-48)/16))
	return 0
}

// take keeps a record, with copies of its data.
func (f *fakeETW) take(rec *etw.Record, data []dataDescriptor) {
	rec.Payload = []byte{}
	for i := range data {
		part := slices.Clone(data[i].bytes())
		switch b := unsafe.Slice((*byte)(unsafe.Pointer(&data[i])), 16); b[12] {
		case 1:
			rec.Extended = append(rec.Extended, etw.ExtendedItem{Type: etw.ExtSchema, Data: part})
		case 2:
			rec.Extended = append(rec.Extended, etw.ExtendedItem{Type: etw.ExtProviderTraits, Data: part})
		default:
			rec.Payload = append(rec.Payload, part...)
		}
	}
	f.records = append(f.records, rec)
}

func (*fakeETW) text(uint32) string { return "the fake says so" }
