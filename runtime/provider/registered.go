package provider

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Registration is a provider of one process, or one that a session has enabled before
// any process has it.
type Registration struct {
	ProcessID uint32 // 0 of the second kind
	Classic   bool
	Enabled   []EnabledBy // what sessions want of it
}

// An EnabledBy is a session's request to a provider.
type EnabledBy struct {
	Session  uint16 // the low 16 bits of its handle
	Level    etw.Level
	Any, All uint64
	Property uint32 // as of EVENT_ENABLE_PROPERTY_...
}

// The classes of questions about providers.
const (
	queryList = 0
	queryInfo = 1
)

// Registered returns the GUIDs of all providers of the machine that are registered or
// enabled. Where there is no ETW, it fails with errors.ErrUnsupported.
func Registered() ([]etw.GUID, error) { return listOf(windows) }

func listOf(c calls) ([]etw.GUID, error) {
	b, err := query(c, queryList, nil)
	if err != nil {
		return nil, err
	}
	var list []etw.GUID
	for g := range slices.Chunk(b, 16) {
		if len(g) == 16 {
			list = append(list, etw.GUID(g))
		}
	}
	return list, nil
}

// Registrations returns the processes that have a provider, and the requests of sessions to
// it. A provider that no process has, and no session wants, has none. Where there is no ETW,
// it fails with errors.ErrUnsupported.
func Registrations(id etw.GUID) ([]Registration, error) { return registrationsOf(windows, id) }

func registrationsOf(c calls, id etw.GUID) ([]Registration, error) {
	b, err := query(c, queryInfo, id[:])
	if failed, ok := errors.AsType[*Error](err); ok && failed.Code == codeGUIDNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseRegistrations(b), nil
}

// maxAnswer bounds the memory for an answer, of which the system says how large it is.
const maxAnswer = 64 << 20

// query asks the system. How large the answer is may change meanwhile.
func query(c calls, class uint32, in []byte) ([]byte, error) {
	if c == nil {
		return nil, unsupported{}
	}
	size := uint32(1 << 16)
	for {
		out := make([]byte, size)
		n, code := c.enumerateTraceGuids(class, in, out)
		switch {
		case code == 0:
			return out[:min(n, size)], nil
		case (code == codeInsufficientBuffer || code == codeMoreData) && size < maxAnswer:
			size = min(max(n, 2*size), maxAnswer)
		default:
			return nil, system{c}.failed("EnumerateTraceGuidsEx", code)
		}
	}
}

// parseRegistrations reads an answer:
//
//	number of registrations, u32, 4 bytes of nothing
//	of each: offset of the next one from here, u32; number of sessions, u32; process, u32;
//	         flags, u32
//	         of each session: enabled, u32; level, u8; nothing, u8; session, u16;
//	         properties, u32; nothing, u32; any, u64; all, u64
func parseRegistrations(b []byte) []Registration {
	const header, size, sessionSize, classic = 8, 16, 32, 1
	if len(b) < header {
		return nil
	}
	var list []Registration
	count := binary.LittleEndian.Uint32(b)
	for b = b[header:]; count > 0 && len(b) >= size; count-- {
		next, sessions := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		r := Registration{ProcessID: binary.LittleEndian.Uint32(b[8:]), Classic: binary.LittleEndian.Uint32(b[12:])&classic != 0}
		for s := b[size:]; sessions > 0 && len(s) >= sessionSize; s, sessions = s[sessionSize:], sessions-1 {
			if binary.LittleEndian.Uint32(s) != 0 {
				r.Enabled = append(r.Enabled, EnabledBy{
					Session: binary.LittleEndian.Uint16(s[6:]), Level: etw.Level(s[4]), Property: binary.LittleEndian.Uint32(s[8:]),
					Any: binary.LittleEndian.Uint64(s[16:]), All: binary.LittleEndian.Uint64(s[24:]),
				})
			}
		}
		list = append(list, r)
		if next < size || uint64(next) > uint64(len(b)) {
			break
		}
		b = b[next:]
	}
	return list
}
