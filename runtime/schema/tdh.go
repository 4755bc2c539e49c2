package schema

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Tools that merge traces store the recording system's descriptions of their events, as its
// own structures: TRACE_EVENT_INFO and EVENT_MAP_INFO. In both, strings and lists lie at
// offsets from the start.

// storedClass is the class MetaData of the records that hold them.
var storedClass = etw.MustParseGUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")

// Opcodes of storedClass.
const (
	storedEventInfo = 32 // TRACE_EVENT_INFO
	storedMapInfo   = 33 // GUID of the provider, EVENT_MAP_INFO
)

// Where the decoding of an event is described, by TRACE_EVENT_INFO.
const (
	decodingManifest = 0
	decodingWBEM     = 1 // a class of classic events
)

// Sizes of structures.
const (
	eventInfoSize    = 0x70
	propertyInfoSize = 24
	mapInfoSize      = 0x10
	mapEntrySize     = 8
)

// Flags of a property.
const (
	propertyStruct      = 0x01
	propertyParamLength = 0x02 // the length is another property
	propertyParamCount  = 0x04 // the count is another property
	propertyFixedCount  = 0x20 // an array, whatever the count
)

// stored is the descriptions that merge tools stored, but for the events of providers.
type stored struct {
	classes map[classKey]*etw.EventDesc
	maps    map[mapKey]*etw.MapDesc
	// waiting are descriptions that name maps which are not known yet.
	waiting map[mapKey][]*waiting
	bytes   int // of waiting
}

// A classKey identifies the layout of a classic event.
type classKey struct {
	class   etw.GUID
	opcode  etw.Opcode
	version uint8
}

// A mapKey names a map of a provider.
type mapKey struct {
	provider etw.GUID
	name     string
}

// A waiting is a description to be read again once its maps are known.
type waiting struct {
	payload []byte
	desc    *etw.EventDesc
}

// maxWaiting bounds the bytes of descriptions that wait for maps.
const maxWaiting = 4 << 20

func (s *stored) addClass(d *etw.EventDesc) {
	if s.classes == nil {
		s.classes = make(map[classKey]*etw.EventDesc)
	}
	s.classes[classKey{d.Class, d.Opcode, d.Version}] = d
}

// addMap adds a map, and returns the fields that have waited for it.
func (s *stored) addMap(key mapKey, desc *etw.MapDesc) []*waiting {
	if s.maps == nil {
		s.maps = make(map[mapKey]*etw.MapDesc)
	}
	s.maps[key] = desc
	waited := s.waiting[key]
	delete(s.waiting, key)
	return waited
}

// wait keeps w until the maps of the given keys are known.
func (s *stored) wait(keys []mapKey, w *waiting) {
	if s.bytes += len(w.payload); s.bytes > maxWaiting {
		return
	}
	if s.waiting == nil {
		s.waiting = make(map[mapKey][]*waiting)
	}
	for _, key := range keys {
		s.waiting[key] = append(s.waiting[key], w)
	}
}

// parseMapInfo reads the payload of a MetaData/EventMapInfo record.
func parseMapInfo(p []byte, text *textArena) (mapKey, *etw.MapDesc, error) {
	if len(p) < 16+mapInfoSize {
		return mapKey{}, nil, errSchema
	}
	key := mapKey{provider: etw.GUID(p[:16])}
	p = p[16:]
	key.name = text.stringAt(p, 0)
	m := &etw.MapDesc{Name: key.name, Flags: binary.LittleEndian.Uint32(p[4:])&2 != 0}
	n := binary.LittleEndian.Uint32(p[8:])
	if uint64(n)*mapEntrySize > uint64(len(p)-mapInfoSize) {
		return mapKey{}, nil, errSchema
	}
	m.Entries = make([]etw.MapEntry, n)
	for i := range m.Entries {
		at := mapInfoSize + mapEntrySize*i
		m.Entries[i].Name = text.stringAt(p, at)
		m.Entries[i].Value = binary.LittleEndian.Uint32(p[at+4:])
	}
	return key, m, nil
}

// stringAt returns the text that the offset at position at of p points to, or ""
// where that is 0 or outside. Names end with a space that does not belong to them.
func (a *textArena) stringAt(p []byte, at int) string {
	off := binary.LittleEndian.Uint32(p[at:])
	if off == 0 || uint64(off) >= uint64(len(p)) {
		return ""
	}
	text, _ := etw.CutUTF16(p[off:])
	return strings.TrimRight(a.utf16(text), " ")
}

// An eventInfo is a TRACE_EVENT_INFO.
type eventInfo struct {
	p          []byte
	properties int
	maps       map[mapKey]*etw.MapDesc
	arena      *descArena
	desc       *etw.EventDesc
	missing    []mapKey  // that the event names and maps does not have
	used       []bool    // properties that have been put somewhere
	scopes     [][]int32 // the properties in each list of fields that is open
}

// parseEventInfo reads the payload of a MetaData/EventInfo record. missing are the
// maps that it names and maps does not have.
func parseEventInfo(p []byte, maps map[mapKey]*etw.MapDesc, arena *descArena) (desc *etw.EventDesc, missing []mapKey, err error) {
	if len(p) < eventInfoSize {
		return nil, nil, errSchema
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(p[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(p[at:]) }
	text := &arena.text
	provider := &etw.ProviderDesc{GUID: etw.GUID(p[0x00:0x10]), Name: text.stringAt(p, 0x34)}
	kind := etw.KindManifest
	switch u32(0x30) {
	case decodingManifest:
	case decodingWBEM:
		// Records carry the class, which such a schema calls the event.
		kind = etw.KindClassic
		provider.GUID = etw.GUID(p[0x10:0x20])
	default:
		return nil, nil, fmt.Errorf("%w: decoding source %d", errSchema, u32(0x30))
	}
	desc = arena.event()
	*desc = etw.EventDesc{
		Provider: provider, Kind: kind,
		ID: u16(0x20), Version: p[0x22], Channel: p[0x23], Level: etw.Level(p[0x24]), Opcode: etw.Opcode(p[0x25]), Task: u16(0x26),
		Keywords: binary.LittleEndian.Uint64(p[0x28:]),
		TaskName: text.stringAt(p, 0x44), OpcodeName: text.stringAt(p, 0x48), Message: text.stringAt(p, 0x4c),
	}
	desc.OpcodeName = strings.TrimPrefix(desc.OpcodeName, "win:")
	if kind == etw.KindClassic {
		desc.Class = provider.GUID
	}
	count, top := u32(0x64), u32(0x68)
	if uint64(count)*propertyInfoSize > uint64(len(p)-eventInfoSize) || top > count {
		return nil, nil, errSchema
	}
	e := eventInfo{
		p: p, properties: int(count), maps: maps, arena: arena, desc: desc,
		used: make([]bool, count),
	}
	desc.Fields, err = e.fields(0, int(top))
	return desc, e.missing, err
}

// fields reads n properties from index first on. A property belongs to one list
// only, which also rules out structs that contain themselves.
func (e *eventInfo) fields(first, n int) ([]etw.FieldDesc, error) {
	if n > e.properties-first || first < 0 || n < 0 || len(e.scopes) > maxSchemaDepth {
		return nil, errSchema
	}
	e.scopes = append(e.scopes, nil)
	defer func() { e.scopes = e.scopes[:len(e.scopes)-1] }()
	fields := e.arena.list(n)
	for i := first; i < first+n; i++ {
		if e.used[i] {
			return nil, errSchema
		}
		e.used[i] = true
		f, err := e.field(i)
		if err != nil {
			return nil, err
		}
		fields[i-first] = f
		top := &e.scopes[len(e.scopes)-1]
		*top = append(*top, int32(i))
	}
	return fields, nil
}

// field reads property i.
func (e *eventInfo) field(i int) (f etw.FieldDesc, err error) {
	at := eventInfoSize + propertyInfoSize*i
	p := e.p[at : at+propertyInfoSize]
	flags := binary.LittleEndian.Uint32(p)
	f.Name = e.arena.text.stringAt(e.p, at+4)

	count := binary.LittleEndian.Uint16(p[0x10:])
	switch {
	case flags&propertyParamCount != 0:
		if f.Count, err = e.reference(count); err != nil {
			return f, err
		}
	case flags&propertyFixedCount != 0 || count > 1:
		f.Count = etw.Size{Kind: etw.SizeConst, N: uint32(count)}
	}
	if flags&propertyStruct != 0 {
		f.Type = etw.InStruct
		f.Fields, err = e.fields(int(binary.LittleEndian.Uint16(p[8:])), int(binary.LittleEndian.Uint16(p[10:])))
		return f, err
	}
	f.Type, f.Length = tdhType(binary.LittleEndian.Uint16(p[8:]))
	if out := binary.LittleEndian.Uint16(p[10:]); out <= uint16(etw.OutDateTimeUTC) {
		f.Out = etw.OutType(out)
	}
	if name := binary.LittleEndian.Uint32(p[12:]); name != 0 {
		key := mapKey{e.desc.Provider.GUID, e.arena.text.stringAt(e.p, at+12)}
		if f.Map = e.maps[key]; f.Map == nil {
			e.missing = append(e.missing, key)
		}
	}
	length := binary.LittleEndian.Uint16(p[0x12:])
	switch f.Type {
	case etw.InUnicodeString, etw.InAnsiString, etw.InBinary, etw.InSID:
		switch {
		case flags&propertyParamLength != 0:
			f.Length, err = e.reference(length)
		case length > 0:
			f.Length = etw.Size{Kind: etw.SizeConst, N: uint32(length)}
		case f.Type == etw.InBinary:
			f.Length = binaryLength(f.Out)
		}
	}
	return f, err
}

// reference returns the size that property i holds, which must be one that comes
// earlier in an open list.
func (e *eventInfo) reference(i uint16) (etw.Size, error) {
	for up := range e.scopes {
		for n, property := range e.scopes[len(e.scopes)-1-up] {
			if property == int32(i) {
				return etw.Size{Kind: etw.SizeField, Up: uint8(up), N: uint32(n)}, nil
			}
		}
	}
	return etw.Size{}, fmt.Errorf("%w: property %d does not come before it", errSchema, i)
}

// classicTypes are those of classic events that have sizes of their own. 308 is a size, as wide as a pointer.
var classicTypes = map[uint16]etw.InType{
	300: etw.InCountedUnicodeString, 301: etw.InCountedAnsiString, 306: etw.InChar16, 307: etw.InChar8,
	308: etw.InPointer, 309: etw.InLongBinary, 310: etw.InWBEMSID,
}

// tdhType returns the type of a property. Those from 300 on are of classic events.
func tdhType(in uint16) (etw.InType, etw.Size) {
	rest := etw.Size{Kind: etw.SizeRest}
	switch in {
	case 304:
		return etw.InUnicodeString, rest
	case 305:
		return etw.InAnsiString, rest
	}
	if typ, ok := classicTypes[in]; ok {
		return typ, etw.Size{}
	}
	if in <= uint16(etw.InHexInt64) || in == 22 || in == 23 || in == 25 {
		return etw.InType(in), etw.Size{}
	}
	// A type that is not known has no size that is.
	return etw.InBinary, rest
}
