package etl

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A schemas knows the schemas that a trace contains. There are three sources of
// them, of which the first that has one for a record is taken:
//
//  1. an extended item of the record itself: TraceLogging;
//  2. what a merge tool stored of the recording system's knowledge: TDH;
//  3. the manifest that an EventSource wrote into the trace.
//
// The first is read when it is met, and kept by its bytes. The others may come
// after the events they describe. They are collected beforehand, and read when
// the first event of their provider asks for them.
type schemas struct {
	providers map[etw.GUID]*providerSchemas
	classes   map[classKey]*etw.EventDesc

	maps  map[mapKey]*etw.MapDesc
	arena descArena
	// described is how many bytes of TraceLogging schemas are kept.
	described int
	keyBuffer []byte
}

// maxDescribed bounds the bytes of TraceLogging schemas that are kept. Programs
// have fixed ones, of some hundred bytes; a trace with more makes new ones for
// each event.
const maxDescribed = 2 << 20

// A classKey identifies the layout of a classic event.
type classKey struct {
	class   etw.GUID
	opcode  uint8
	version uint8
}

// A providerSchemas is what is known of one provider.
type providerSchemas struct {
	// name is that of its manifest or of the traits it was last seen with.
	name   string
	traits []byte
	desc   *etw.ProviderDesc // of TraceLogging events

	stored      map[uint32]*etw.EventDesc // by TDH
	manifests   []manifest                // not read yet
	events      map[uint32]*etw.EventDesc // by manifest
	byProcess   map[int64]map[uint32]*etw.EventDesc
	traceLogged map[string]*etw.EventDesc
}

// A metadata is a record that holds a schema, or a part of one.
type metadata struct {
	key      int64
	place    place
	provider etw.GUID
	process  int64
	thread   int64
	opcode   uint8 // of the class MetaData; manifest chunks have none
	payload  []byte
}

// isMetadata reports whether p is a record that holds a schema.
func isMetadata(p []byte) bool {
	if p[3] != markerRecord {
		return false
	}
	switch p[2] {
	case kindEvent32, kindEvent64:
		return binary.LittleEndian.Uint16(p[0x28:]) == manifestID
	case kindFull32, kindFull64:
		return etw.GUID(p[0x18:0x28]) == metadataClass && (p[4] == metadataEvent || p[4] == metadataMap)
	}
	return false
}

// A metadataFinding is what one goroutine of the first pass has found.
type metadataFinding struct {
	list []metadata
	// payloads holds each payload once: programs write the same manifest whenever
	// they start.
	payloads map[uint64][]byte
	bytes    int
}

// maxMetadata bounds the bytes of schemas that a goroutine keeps. Compressed, they
// could come from a file that is a thousand times smaller.
const (
	maxMetadata  = 64 << 20
	metadataSize = 100 // of a record without its payload, about
)

var payloadSeed = maphash.MakeSeed()

// add keeps the record p.
func (f *metadataFinding) add(key int64, at place, b *block, p []byte) {
	if f.bytes > maxMetadata {
		return
	}
	var rec etw.Record
	fill(&rec, b, p, key, nil)
	sum := maphash.Bytes(payloadSeed, rec.Payload)
	payload, ok := f.payloads[sum]
	if !ok || !bytes.Equal(payload, rec.Payload) {
		payload = bytes.Clone(rec.Payload)
		if f.payloads == nil {
			f.payloads = make(map[uint64][]byte)
		}
		f.payloads[sum] = payload
		f.bytes += len(payload)
	}
	f.list = append(f.list, metadata{
		key: key, place: at, provider: rec.Provider, process: rec.ProcessID, thread: rec.ThreadID,
		opcode: rec.Opcode, payload: payload,
	})
	f.bytes += metadataSize
}

// newSchemas puts in order what the goroutines of the first pass have found.
func newSchemas(findings []finding) *schemas {
	var all []metadata
	for i := range findings {
		all = append(all, findings[i].metadata.list...)
	}
	slices.SortFunc(all, func(a, b metadata) int {
		return cmp.Or(
			cmp.Compare(a.key, b.key),
			cmp.Compare(a.place.block, b.place.block),
			cmp.Compare(a.place.entry, b.place.entry))
	})
	s := &schemas{
		providers: make(map[etw.GUID]*providerSchemas),
		classes:   make(map[classKey]*etw.EventDesc),
		maps:      make(map[mapKey]*etw.MapDesc),
	}
	s.readMaps(all)
	s.readEvents(all)
	for _, m := range assemble(all) {
		s.provider(m.provider).addManifest(m)
	}
	return s
}

func (s *schemas) provider(guid etw.GUID) *providerSchemas {
	p := s.providers[guid]
	if p == nil {
		p = new(providerSchemas)
		s.providers[guid] = p
	}
	return p
}

// readMaps reads the maps that TDH schemas refer to.
func (s *schemas) readMaps(all []metadata) {
	for i := range all {
		if m := &all[i]; m.provider == metadataClass && m.opcode == metadataMap {
			if key, desc, err := parseMapInfo(m.payload, &s.arena.text); err == nil {
				s.maps[key] = desc
			}
		}
	}
}

// readEvents reads the TDH schemas.
func (s *schemas) readEvents(all []metadata) {
	for i := range all {
		m := &all[i]
		if m.provider != metadataClass || m.opcode != metadataEvent {
			continue
		}
		desc, classic, err := parseEventInfo(m.payload, s.maps, &s.arena)
		if err != nil {
			continue
		}
		if classic {
			s.classes[classKey{desc.Provider.GUID, desc.Opcode, desc.Version}] = desc
			continue
		}
		p := s.provider(desc.Provider.GUID)
		if p.stored == nil {
			p.stored = make(map[uint32]*etw.EventDesc)
		}
		p.name = desc.Provider.Name
		p.stored[eventKey(desc.ID, desc.Version)] = desc
	}
}

// describe sets the ProviderName and Schema of rec to what the trace says.
func (s *schemas) describe(rec *etw.Record) {
	switch rec.Kind {
	case etw.Classic:
		if len(s.classes) == 0 {
			return
		}
		if d := s.classes[classKey{rec.Provider, rec.Opcode, rec.Version}]; d != nil {
			rec.Schema, rec.ProviderName = d, d.Provider.Name
		}
		return
	case etw.Message:
		return
	}
	var schema, traits []byte
	for i := range rec.Extended {
		switch item := &rec.Extended[i]; item.Type {
		case etw.ExtSchema:
			schema = item.Data
		case etw.ExtProviderTraits:
			traits = item.Data
		}
	}
	p := s.providers[rec.Provider]
	if p == nil {
		if schema == nil && traits == nil {
			return
		}
		p = s.provider(rec.Provider)
	}
	if traits != nil && !bytes.Equal(traits, p.traits) {
		p.setTraits(traits)
	}
	rec.ProviderName = p.name
	switch {
	case schema != nil:
		rec.Schema = s.traceLogged(p, rec, schema)
	case rec.ID == manifestID:
		s.read(p)
		rec.Schema = manifestData
	default:
		rec.Schema = s.event(p, rec)
	}
	if rec.ProviderName == "" {
		rec.ProviderName = p.name
	}
}

// setTraits takes the name of the provider from its traits.
func (p *providerSchemas) setTraits(traits []byte) {
	p.traits = bytes.Clone(traits)
	if name, ok := parseTraits(traits); ok && name != p.name {
		p.name = name
		p.desc, p.traceLogged = nil, nil
	}
}

// traceLogged returns the description that the record carries. Descriptions are
// kept by the bytes they were read from and what of the record's header they
// include.
func (s *schemas) traceLogged(p *providerSchemas, rec *etw.Record, schema []byte) *etw.EventDesc {
	key := append(s.keyBuffer[:0], byte(rec.ID), byte(rec.ID>>8), rec.Version, rec.Channel, rec.Level, rec.Opcode)
	key = binary.LittleEndian.AppendUint16(key, rec.Task)
	key = binary.LittleEndian.AppendUint64(key, rec.Keywords)
	key = append(key, schema...)
	s.keyBuffer = key
	if d, ok := p.traceLogged[string(key)]; ok {
		return d
	}
	if p.desc == nil {
		p.desc = &etw.ProviderDesc{Name: p.name, GUID: rec.Provider}
	}
	name, fields, err := parseTraceLogging(schema, &s.arena)
	var d *etw.EventDesc
	if err == nil {
		d = s.arena.events.one()
		*d = etw.EventDesc{
			Provider: p.desc, ID: rec.ID, Version: rec.Version, Channel: rec.Channel, Level: rec.Level,
			Opcode: rec.Opcode, Task: rec.Task, Keywords: rec.Keywords,
			Name: name, Fields: fields,
		}
	}
	if s.described += len(key); s.described > maxDescribed {
		s.described = len(key)
		for _, p := range s.providers {
			p.traceLogged = nil
		}
	}
	if p.traceLogged == nil {
		p.traceLogged = make(map[string]*etw.EventDesc)
	}
	p.traceLogged[string(key)] = d
	return d
}

// event returns the description of a manifest event.
func (s *schemas) event(p *providerSchemas, rec *etw.Record) *etw.EventDesc {
	key := eventKey(rec.ID, rec.Version)
	if d := p.stored[key]; d != nil {
		return d
	}
	s.read(p)
	if p.byProcess != nil {
		if d := p.byProcess[rec.ProcessID][key]; d != nil {
			return d
		}
	}
	return p.events[key]
}

// read reads the manifests of a provider if that has not been done.
func (s *schemas) read(p *providerSchemas) {
	if p.manifests != nil {
		p.readManifests(&s.arena)
	}
}

// manifestData describes the records that hold the chunks of a manifest.
var manifestData = &etw.EventDesc{
	Provider: &etw.ProviderDesc{},
	ID:       manifestID, Opcode: manifestID & 0xff, Task: manifestID,
	Name: "ManifestData", TaskName: "ManifestData",
	Fields: []etw.FieldDesc{
		{Name: "Format", Type: etw.InUInt8},
		{Name: "MajorVersion", Type: etw.InUInt8},
		{Name: "MinorVersion", Type: etw.InUInt8},
		{Name: "Magic", Type: etw.InUInt8, Out: etw.OutHexInt8},
		{Name: "TotalChunks", Type: etw.InUInt16},
		{Name: "ChunkNumber", Type: etw.InUInt16},
		{Name: "Data", Type: etw.InAnsiString, Length: etw.Size{Kind: etw.SizeRest}, Out: etw.OutUTF8},
	},
}
