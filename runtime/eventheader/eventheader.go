// Package eventheader decodes EventHeader events, which programs of Linux write as user_events.
// Use it for tracepoints of your own source: packages perfdata and trace decode those of the files
// that they read. The bytes of such an event say how it is laid out, as those of TraceLogging do
// on Windows.
//
//	var decoder eventheader.Decoder
//	if t, ok := eventheader.ParseName("Bakery_L4K1"); ok {
//		event, err := decoder.Decode(t, data) // without the fields that the kernel puts before
//		if err != nil {
//			return err
//		}
//		fmt.Println(event.Desc.Name, len(event.Payload))
//	}
//
// The payload of an event is written anew, where ETW lacks types: text of 32-bit units and of
// Latin-1 becomes UTF-8, big-endian numbers little-endian, and numbers that are texts or bytes
// of their size become numbers. A provider has no GUID there; it has the one that
// [etw.NameGUID] makes of its name.
package eventheader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Tracepoint is the contents of the name of a tracepoint.
type Tracepoint struct {
	Provider string
	Level    etw.Level
	Keywords uint64
	Group    string // of providers, "" if there is none
}

var tracepointName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+)_L([0-9a-f]{1,2})K([0-9a-f]{1,16})((?:[A-Z][0-9a-z]*)*)$`)
})

// ParseName takes the name of a tracepoint apart, such as Bakery_L4K1, and reports whether it
// is one of EventHeader.
func ParseName(name string) (t Tracepoint, ok bool) {
	m := tracepointName().FindStringSubmatch(name)
	if m == nil {
		return t, false
	}
	level, err := strconv.ParseUint(m[2], 16, 8)
	keywords, err2 := strconv.ParseUint(m[3], 16, 64)
	if err != nil || err2 != nil {
		return t, false
	}
	t = Tracepoint{Provider: m[1], Level: etw.Level(level), Keywords: keywords}
	if _, group, found := strings.Cut(m[4], "G"); found {
		t.Group = group[:len(group)-len(strings.TrimLeft(group, "0123456789abcdefghijklmnopqrstuvwxyz"))]
	}
	return t, true
}

// Is reports whether a tracepoint with these fields is one of EventHeader: behind the
// kernel's fields of all events.
func Is(fields []etw.FieldDesc) bool {
	return len(fields) > commonFields && fields[commonFields].Name == "eventheader_flags"
}

// CommonSize is how many bytes the kernel has before all events of tracepoints, of which
// Decode takes the rest.
const CommonSize = 8

const commonFields = 4 // common_type, common_flags, common_preempt_count, common_pid

// An Event is one that was decoded. Its payload is valid until the next one is.
type Event struct {
	Desc                          *etw.EventDesc
	Payload                       []byte
	ActivityID, RelatedActivityID etw.GUID
}

// A Decoder decodes events. It keeps a description for those that are alike.
type Decoder struct {
	providers map[string]*etw.ProviderDesc
	descs     map[string]*etw.EventDesc
	key, out  []byte
}

// The memory of a Decoder.
const (
	maxDescs = 1 << 14
	maxKey   = 1 << 12
)

// The flags of an event, and the kinds of extensions behind its header.
const (
	flagLittle    = 2
	flagExtension = 4

	headSize = 8

	kindMetadata = 1
	kindActivity = 2
	kindChain    = 0x8000
)

var errShort = errors.New("eventheader: it is shorter than it says")

var errEncoding = errors.New("an encoding that is not known")

// Decode decodes an event of a tracepoint, of which b has the bytes behind the fields of the
// kernel.
func (d *Decoder) Decode(t Tracepoint, b []byte) (e Event, err error) {
	if len(b) < headSize {
		return e, errShort
	}
	order := binary.ByteOrder(binary.BigEndian)
	if b[0]&flagLittle != 0 {
		order = binary.LittleEndian
	}
	desc := etw.EventDesc{ID: order.Uint16(b[2:]), Version: b[1], Opcode: etw.Opcode(b[6]), Level: etw.Level(b[7]), Keywords: t.Keywords, Named: true}
	var metadata []byte
	more := b[0]&flagExtension != 0
	for b = b[headSize:]; more; {
		if len(b) < 4 {
			return e, errShort
		}
		size, kind := int(order.Uint16(b)), order.Uint16(b[2:])
		if size > len(b)-4 {
			return e, errShort
		}
		data := b[4:][:size]
		b, more = b[4+size:], kind&kindChain != 0
		switch kind &^ kindChain {
		case kindMetadata:
			metadata = data
		case kindActivity:
			if len(data) >= 16 {
				e.ActivityID = networkGUID(data)
			}
			if len(data) >= 32 {
				e.RelatedActivityID = networkGUID(data[16:])
			}
		}
	}
	m := metadataReader{b: metadata}
	name := m.name()
	if m.bad {
		return e, errors.New("eventheader: it has no name")
	}
	w := writer{order: order, in: b, out: d.out[:0], variants: d.key[:0]}
	if desc.Fields, err = w.list(m, len(metadata)+1, nil); err != nil {
		return e, fmt.Errorf("eventheader: %s: %w", name, err)
	}
	d.out, e.Payload = w.out, w.out
	desc.Name = name
	e.Desc = d.intern(t.Provider, &desc, metadata, w.variants)
	return e, nil
}

// intern returns the description that all events have which are alike.
func (d *Decoder) intern(provider string, desc *etw.EventDesc, metadata, variants []byte) *etw.EventDesc {
	if d.descs == nil {
		d.descs, d.providers = make(map[string]*etw.EventDesc), make(map[string]*etw.ProviderDesc)
	}
	n := len(variants)
	key := binary.LittleEndian.AppendUint64(append(variants, byte(n), desc.Version, byte(desc.Opcode), byte(desc.Level)), desc.Keywords)
	key = append(binary.LittleEndian.AppendUint16(append(append(key, metadata...), 0), desc.ID), provider...)
	d.key = key
	if known := d.descs[string(key)]; known != nil {
		return known
	}
	p := d.providers[provider]
	if p == nil {
		p = &etw.ProviderDesc{Name: provider, GUID: etw.NameGUID(provider)}
		if len(d.providers) < maxDescs {
			d.providers[provider] = p
		}
	}
	made := *desc
	made.Provider = p
	if len(d.descs) < maxDescs && len(key) <= maxKey {
		d.descs[string(key)] = &made
	}
	return &made
}

// Apply decodes a record of a tracepoint in place, and reports whether it was one of
// EventHeader. One that is damaged stays as it is.
func (d *Decoder) Apply(r *etw.Record) bool {
	if r.Schema == nil || len(r.Payload) < CommonSize || !Is(r.Schema.Fields) {
		return false
	}
	t, ok := ParseName(r.Schema.Name)
	if !ok {
		return false
	}
	e, err := d.Decode(t, r.Payload[CommonSize:])
	if err != nil {
		return false
	}
	r.Provider, r.ProviderName, r.Schema, r.Payload = e.Desc.Provider.GUID, e.Desc.Provider.Name, e.Desc, e.Payload
	r.ID, r.Version, r.Opcode, r.Level, r.Keywords = e.Desc.ID, e.Desc.Version, e.Desc.Opcode, e.Desc.Level, e.Desc.Keywords
	r.ActivityID, r.RelatedActivityID = e.ActivityID, e.RelatedActivityID
	return true
}

// networkGUID reads a UUID whose numbers are big-endian.
func networkGUID(b []byte) (g etw.GUID) {
	copy(g[:], b)
	g[0], g[1], g[2], g[3] = b[3], b[2], b[1], b[0]
	g[4], g[5], g[6], g[7] = b[5], b[4], b[7], b[6]
	return g
}
