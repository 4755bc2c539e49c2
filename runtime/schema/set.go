package schema

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Set is the descriptions learned of the events of a trace or session. The zero Set knows
// nothing and is ready to use. It must not be used by several goroutines at once.
type Set struct {
	providers map[etw.GUID]*provider
	last      *provider // that was asked for, if it is still one of them
	stored    stored
	chunks    chunks
	arena     descArena

	learned   int // bytes of what was learned
	described int // bytes of what records said of themselves and their providers
	keyBuffer []byte
}

// A provider holds the descriptions of one.
type provider struct {
	guid etw.GUID
	// name is that of its manifest or of the traits it was last seen with, and
	// before it is said the one that registered providers have.
	name        string
	said        bool // the trace says it
	traits      []byte
	desc        *etw.ProviderDesc // of TraceLogging events
	traceLogged map[string]*etw.EventDesc
	stored      events
	manifests   manifests
}

// Limits of a Set.
const (
	// maxLearned bounds the bytes of schemas. More is not learned.
	maxLearned = 64 << 20
	// maxDescribed bounds the bytes of TraceLogging schemas. Programs have fixed
	// ones, of some hundred bytes; a trace with more makes new ones for each event,
	// and those are forgotten.
	maxDescribed = 2 << 20
	// providerSize is about the size of a provider.
	providerSize = 256
)

var errSchema = errors.New("malformed schema")

// Holds reports whether events of the key k hold schemas of others, for Learn.
func Holds(k etw.Key) bool {
	return HoldsID(k.Kind, k.ID) && (k.Kind == etw.KindManifest || k.Provider == storedClass)
}

// HoldsID reports whether events of a kind with that id, which of classic ones is the
// opcode, may hold schemas of others: those of some providers do, as Holds says.
func HoldsID(kind etw.Kind, id uint16) bool {
	switch kind {
	case etw.KindManifest:
		return id == manifestID
	case etw.KindClassic:
		return id == storedEventInfo || id == storedMapInfo
	}
	return false
}

// Learn takes descriptions of other events from r, and reports whether it did. It keeps
// nothing of r's memory.
func (s *Set) Learn(r *etw.Record) bool {
	switch {
	case !Holds(r.Key()) || s.learned > maxLearned:
		return false
	case r.Kind == etw.KindManifest:
		return s.learnChunk(r)
	case r.Opcode == storedMapInfo:
		return s.learnMap(r.Payload)
	}
	return s.learnEvent(r.Payload)
}

// learnChunk takes a chunk of a manifest.
func (s *Set) learnChunk(r *etw.Record) bool {
	text, ok := s.chunks.add(r)
	if text != nil && s.provider(r.Provider).manifests.add(r.ProcessID, text) {
		s.learned += len(text)
	}
	return ok
}

// learnMap takes a map that a merge tool stored.
func (s *Set) learnMap(payload []byte) bool {
	key, desc, err := parseMapInfo(payload, &s.arena.text)
	if err != nil {
		return false
	}
	s.learned += len(payload)
	for _, w := range s.stored.addMap(key, desc) {
		if s.storedLike(w.desc) == w.desc {
			w.desc, _, _ = parseEventInfo(w.payload, s.stored.maps, &s.arena)
			s.store(w.desc)
		}
	}
	return true
}

// LearnEventInfo takes a TRACE_EVENT_INFO, as TdhGetEventInformation of Windows gives one, and
// reports whether it could be read. It keeps nothing of info.
func (s *Set) LearnEventInfo(info []byte) bool { return s.learned <= maxLearned && s.learnEvent(info) }

// learnEvent takes a description that a merge tool stored.
func (s *Set) learnEvent(payload []byte) bool {
	desc, missing, err := parseEventInfo(payload, s.stored.maps, &s.arena)
	if err != nil {
		return false
	}
	s.learned += len(payload)
	s.store(desc)
	if len(missing) > 0 {
		s.stored.wait(missing, &waiting{bytes.Clone(payload), desc})
	}
	return true
}

// store puts a description that a merge tool stored in its place.
func (s *Set) store(d *etw.EventDesc) {
	if d.Kind == etw.KindClassic {
		s.stored.addClass(d)
		return
	}
	p := s.provider(d.Provider.GUID)
	if p.stored == nil {
		p.stored = make(events)
	}
	p.stored[eventKey(d.ID, d.Version)] = d
	p.rename(d.Provider.Name)
}

// storedLike returns the description stored in the place of d.
func (s *Set) storedLike(d *etw.EventDesc) *etw.EventDesc {
	if d.Kind == etw.KindClassic {
		return s.stored.classes[classKey{d.Class, d.Opcode, d.Version}]
	}
	return s.provider(d.Provider.GUID).stored[eventKey(d.ID, d.Version)]
}

// provider returns the descriptions of a provider: of a new one, nothing.
func (s *Set) provider(guid etw.GUID) *provider {
	if s.last != nil && s.last.guid == guid {
		return s.last
	}
	p := s.providers[guid]
	if p == nil {
		s.keep(providerSize)
		if s.providers == nil {
			s.providers = make(map[etw.GUID]*provider)
		}
		p = &provider{guid: guid, name: ProviderName(guid)}
		s.providers[guid] = p
	}
	s.last = p
	return p
}

// rename notes the name of a provider where the trace says it.
func (p *provider) rename(name string) {
	if name == "" {
		return
	}
	p.said = true
	if name != p.name {
		p.name = name
		p.desc, p.traceLogged = nil, nil
	}
}

// keep counts n more bytes of records' own descriptions. If they are too many, all of that
// is forgotten: records say it again.
func (s *Set) keep(n int) {
	if s.described += n; s.described <= maxDescribed {
		return
	}
	s.described, s.last = n, nil
	for guid, p := range s.providers {
		p.traceLogged = nil
		if p.stored == nil && p.manifests.texts == nil {
			delete(s.providers, guid)
		}
	}
}

// Describe sets the ProviderName and the Schema of r to those of the trace. Values set
// already stay where the trace has none; a provider that nothing names has the name of
// [ProviderName], if there is one.
func (s *Set) Describe(r *etw.Record) {
	switch r.Kind {
	case etw.KindManifest:
		s.describe(r)
	case etw.KindClassic:
		if len(s.stored.classes) == 0 {
			return
		}
		if d := s.stored.classes[classKey{r.Provider, r.Opcode, r.Version}]; d != nil {
			r.Schema = d
			if r.ProviderName == "" {
				r.ProviderName = d.Provider.Name
			}
		}
	}
}

// describe describes an event that is identified by its provider.
func (s *Set) describe(r *etw.Record) {
	var schema, traits []byte
	for i := range r.Extended {
		switch item := &r.Extended[i]; item.Type {
		case etw.ExtSchema:
			schema = item.Data
		case etw.ExtProviderTraits:
			traits = item.Data
		}
	}
	p := s.provider(r.Provider)
	if traits != nil && !bytes.Equal(traits, p.traits) {
		p.setTraits(traits)
	}
	switch {
	case schema != nil:
		r.Schema = s.traceLogging(p, r, schema)
	case r.ID == manifestID:
		s.read(p, r.Provider)
		r.Schema = manifestData
	default:
		if d := s.event(p, r); d != nil {
			r.Schema = d
		}
	}
	if p.name != "" && (r.ProviderName == "" || p.said) {
		r.ProviderName = p.name
	}
}

// setTraits takes the name of the provider from its traits.
func (p *provider) setTraits(traits []byte) {
	p.traits = bytes.Clone(traits)
	p.rename(parseTraits(traits))
}

// traceLogging returns the description that the record carries. Descriptions are kept by the
// bytes they were read from and the parts of the record's header that they include.
func (s *Set) traceLogging(p *provider, r *etw.Record, schema []byte) *etw.EventDesc {
	key := append(s.keyBuffer[:0], byte(r.ID), byte(r.ID>>8), r.Version, r.Channel, byte(r.Level), byte(r.Opcode))
	key = binary.LittleEndian.AppendUint16(key, r.Task)
	key = binary.LittleEndian.AppendUint64(key, r.Keywords)
	key = append(key, schema...)
	s.keyBuffer = key
	if d, ok := p.traceLogged[string(key)]; ok {
		return d
	}
	if p.desc == nil {
		p.desc = &etw.ProviderDesc{Name: p.name, GUID: r.Provider}
	}
	name, fields, err := parseTraceLogging(schema, &s.arena)
	var d *etw.EventDesc
	if err == nil {
		d = s.arena.event()
		*d = etw.EventDesc{
			Provider: p.desc, ID: r.ID, Version: r.Version, Channel: r.Channel, Level: r.Level,
			Opcode: r.Opcode, Task: r.Task, Keywords: r.Keywords,
			Name: name, Named: name != "", Fields: fields,
		}
	}
	s.keep(len(key))
	if p.traceLogged == nil {
		p.traceLogged = make(map[string]*etw.EventDesc)
	}
	p.traceLogged[string(key)] = d
	return d
}

// event returns the description of an event that records do not carry.
func (s *Set) event(p *provider, r *etw.Record) *etw.EventDesc {
	key := eventKey(r.ID, r.Version)
	if d := p.stored[key]; d != nil {
		return d
	}
	s.read(p, r.Provider)
	return p.manifests.event(key, r.ProcessID)
}

// read reads the manifests of a provider that have not been read yet.
func (s *Set) read(p *provider, guid etw.GUID) {
	if len(p.manifests.unread) > 0 {
		p.rename(p.manifests.read(guid, &s.arena))
	}
}

// events are descriptions by id and version.
type events map[uint32]*etw.EventDesc

// eventKey is an id and a version as the key of events.
func eventKey(id uint16, version uint8) uint32 { return uint32(id)<<8 | uint32(version) }
