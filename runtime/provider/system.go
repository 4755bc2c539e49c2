package provider

import (
	"fmt"
	"sync"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The functions of Windows that a provider calls, each with the arguments of Windows.
// They return an error code. The real ones are in one file, calls_windows.go.
type calls interface {
	eventRegister(guid *etw.GUID, id uintptr, handle *uint64) uint32
	eventUnregister(handle uint64) uint32
	eventSetInformation(handle uint64, class uint32, data []byte) uint32
	eventWriteTransfer(handle uint64, d *eventDescriptor, activity, related *etw.GUID, count uint32, data *dataDescriptor) uint32

	registerTraceGuids(guid *etw.GUID, id uintptr, handle *uint64) uint32
	unregisterTraceGuids(handle uint64) uint32
	traceEvent(session uint64, header *traceHeader) uint32

	// enumerateTraceGuids also returns the size of the answer, or of the room it wants.
	enumerateTraceGuids(class uint32, in, out []byte) (n, code uint32)

	text(code uint32) string
}

// setTraits is the class of information that tells ETW the traits of a provider.
const setTraits = 2

// Error codes of Windows.
const (
	codeInvalidHandle      = 6
	codeNotEnoughMemory    = 8
	codeInvalidParameter   = 87
	codeInsufficientBuffer = 122
	codeMoreData           = 234
	codeArithmeticOverflow = 534
	codeNoSystemResources  = 1450
	codeLogFileFull        = 1502
	codeGUIDNotFound       = 4200
	codeInstanceNotFound   = 4201
)

// An Error is one of Windows.
type Error struct {
	Call string // the function
	Code uint32
	text string
}

func (e *Error) Error() string {
	return fmt.Sprintf("provider: %s: error %d: %s", e.Call, e.Code, e.text)
}

// A system is the ETW of Windows.
type system struct{ calls }

func (s system) failed(call string, code uint32) error {
	return &Error{call, code, s.text(code)}
}

// registrations finds providers by the numbers that Windows gives back when it calls.
var registrations struct {
	sync.Mutex
	last uintptr
	all  map[uintptr]*Provider
}

// enroll gives p a number.
func enroll(p *Provider) {
	r := &registrations
	r.Lock()
	defer r.Unlock()
	if r.all == nil {
		r.all = make(map[uintptr]*Provider)
	}
	r.last++
	p.id = r.last
	r.all[p.id] = p
}

// dismiss takes the number back.
func dismiss(p *Provider) {
	registrations.Lock()
	defer registrations.Unlock()
	delete(registrations.all, p.id)
}

// enrolled returns the provider of a number, or nil: Windows may call late.
func enrolled(id uintptr) *Provider {
	registrations.Lock()
	defer registrations.Unlock()
	return registrations.all[id]
}

func (s system) register(p *Provider) error {
	enroll(p)
	// ETW sets the handle before it calls back, and may do that at once.
	call, code := "EventRegister", uint32(0)
	if p.classic {
		call, code = "RegisterTraceGuidsW", s.registerTraceGuids(&p.desc.GUID, p.id, handleOf(p))
	} else {
		code = s.eventRegister(&p.desc.GUID, p.id, handleOf(p))
	}
	if code != 0 {
		dismiss(p)
		p.enabled.Store(nil)
		return s.failed(call, code)
	}
	if !p.classic {
		// Before Windows 8.1 there are no traits. Events carry them, too.
		s.eventSetInformation(p.handle.Load(), setTraits, p.traits)
	}
	return nil
}

func (s system) unregister(p *Provider) error {
	call, code := "EventUnregister", uint32(0)
	if p.classic {
		call, code = "UnregisterTraceGuids", s.unregisterTraceGuids(p.handle.Load())
	} else {
		code = s.eventUnregister(p.handle.Load())
	}
	dismiss(p)
	if code != 0 {
		return s.failed(call, code)
	}
	return nil
}

func (s system) write(p *Provider, f *frame) error {
	call, code := "EventWriteTransfer", uint32(0)
	if p.classic {
		call = "TraceEvent"
		f.header.size = uint16(48 + 16*f.parts)
		code = s.traceEvent(p.session.Load(), &f.header)
	} else {
		var activity, related *etw.GUID
		if !f.activity.ID.IsZero() {
			activity = &f.activity.ID
		}
		if !f.activity.Related.IsZero() {
			related = &f.activity.Related
		}
		code = s.eventWriteTransfer(p.handle.Load(), &f.descriptor, activity, related, uint32(f.parts), &f.data[0])
	}
	switch code {
	case 0:
		return nil
	case codeNotEnoughMemory, codeNoSystemResources, codeLogFileFull, codeInstanceNotFound:
		p.lost.Add(1)
		return nil
	case codeArithmeticOverflow, codeMoreData, codeInsufficientBuffer:
		return p.large(f)
	}
	return s.failed(call, code)
}

// large counts an event that is too large.
func (p *Provider) large(f *frame) error {
	p.tooLarge.Add(1)
	return fmt.Errorf("provider: %s: %d bytes: %w", f.event.Title(), f.size(), ErrTooLarge)
}

// enableCallback is called by ETW when a session changes its request.
func enableCallback(id uintptr, source *etw.GUID, code uint32, level uint8, any, all uint64, filter *dataDescriptor) {
	p := enrolled(id)
	if p == nil {
		return
	}
	c := Control{Code: Code(code), Level: etw.Level(level), Any: any, All: all}
	if source != nil {
		c.Session = *source
	}
	if filter != nil && filter.pointer != nil {
		c.Filter = Filter{filter.kind, filter.bytes()}
	}
	p.changed(c)
}

// requestCallback is called by ETW for classic providers. A session of 0 means no session.
func requestCallback(id uintptr, session uint64, level uint8, flags uint32) {
	p := enrolled(id)
	if p == nil {
		return
	}
	c := Control{Code: Disable}
	if session != 0 {
		c = Control{Code: Enable, Level: etw.Level(level), Any: uint64(flags)}
	}
	p.session.Store(session)
	p.changed(c)
}
