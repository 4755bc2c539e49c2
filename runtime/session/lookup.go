package session

import (
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// maxAsked bounds how many kinds of events Windows is asked about.
const maxAsked = 1 << 16

// A lookup asks Windows for the descriptions of events that nothing in the session
// describes, once for each kind.
type lookup struct {
	sys   system
	set   schema.Set
	asked map[etw.Key]bool
}

// eventDescriptor is EVENT_DESCRIPTOR.
type eventDescriptor struct {
	id      uint16
	version uint8
	channel uint8
	level   uint8
	opcode  uint8
	task    uint16
	keyword uint64
}

// describe describes r, if Windows knows its provider.
func (l *lookup) describe(r *etw.Record) {
	if r.Kind != etw.KindManifest || r.Schema != nil {
		return
	}
	if key := r.Key(); !l.asked[key] && len(l.asked) < maxAsked {
		l.asked[key] = true
		d := &eventDescriptor{r.ID, r.Version, r.Channel, uint8(r.Level), uint8(r.Opcode), r.Task, uint64(r.Keywords)}
		if info := l.ask(r.Provider, d); info != nil {
			l.set.LearnEventInfo(info)
		}
	}
	l.set.Describe(r)
}

// ask returns Windows' description of an event, or nil. It is asked for the size first.
func (l *lookup) ask(provider etw.GUID, d *eventDescriptor) []byte {
	size := uint32(0)
	if l.sys.eventInformation(&provider, d, nil, &size) != codeInsufficientBuffer || size == 0 || size > 1<<20 {
		return nil
	}
	info := make([]byte, size)
	if l.sys.eventInformation(&provider, d, &info[0], &size) != codeSuccess || int(size) > len(info) {
		return nil
	}
	return info[:size]
}
