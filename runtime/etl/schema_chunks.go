package etl

import (
	"bytes"
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An EventSource writes its own instrumentation manifest into the trace, as
// events of the id manifestID. The XML is cut into chunks: each has 8 bytes of
// header (format, major and minor version, a magic number, the number of chunks,
// and which of them it is) and its part of the text.
const (
	manifestID         = 0xfffe
	manifestMagic      = 0x5b
	manifestFormat     = 1
	manifestHeaderSize = 8
)

// A manifest is the XML that an EventSource wrote, put together from its chunks.
type manifest struct {
	provider etw.GUID
	process  int64
	text     []byte
}

// A chunkKey tells apart manifests whose chunks may come mixed.
type chunkKey struct {
	provider        etw.GUID
	process, thread int64
	version         uint16
}

// assemble puts the chunks of manifests together. A process may write its
// manifest several times: whatever is complete counts.
func assemble(all []metadata) (complete []manifest) {
	open := make(map[chunkKey][][]byte)
	for i := range all {
		m := &all[i]
		p := m.payload
		if m.provider == metadataClass || len(p) < manifestHeaderSize || p[0] != manifestFormat || p[3] != manifestMagic {
			continue
		}
		total, number := binary.LittleEndian.Uint16(p[4:]), binary.LittleEndian.Uint16(p[6:])
		if number >= total {
			continue
		}
		key := chunkKey{m.provider, m.process, m.thread, binary.LittleEndian.Uint16(p[1:])}
		chunks := open[key]
		// Chunks of one writing come in order.
		if int(number) != len(chunks) {
			if number != 0 {
				continue
			}
			chunks = nil
		}
		chunks = append(chunks, p[manifestHeaderSize:])
		open[key] = chunks
		if len(chunks) == int(total) {
			complete = append(complete, manifest{m.provider, m.process, bytes.Join(chunks, nil)})
			delete(open, key)
		}
	}
	return complete
}

// addManifest adds a manifest of the provider. Most are equal to one before, and
// share its text.
func (p *providerSchemas) addManifest(m manifest) {
	for i := range p.manifests {
		if bytes.Equal(p.manifests[i].text, m.text) {
			if p.manifests[i].process == m.process {
				return
			}
			m.text = p.manifests[i].text
			break
		}
	}
	p.manifests = append(p.manifests, m)
}

// readManifests reads the manifests of a provider. Mostly they are all the same.
// Where they are not, programs were built with different versions of it: each
// process then goes by its own, and others by the last one.
func (p *providerSchemas) readManifests(arena *descArena) {
	read := make(map[string]map[uint32]*etw.EventDesc)
	for _, m := range p.manifests {
		events, ok := read[string(m.text)]
		if !ok {
			name, parsed, err := parseManifest(m.text, m.provider, arena)
			if err == nil {
				events = parsed
				if name != "" {
					p.name = name
				}
			}
			read[string(m.text)] = events
		}
		if events == nil {
			continue
		}
		if p.events != nil && len(read) > 1 {
			if p.byProcess == nil {
				p.byProcess = make(map[int64]map[uint32]*etw.EventDesc)
				for _, before := range p.manifests {
					p.byProcess[before.process] = read[string(before.text)]
				}
			}
		}
		if p.byProcess != nil {
			p.byProcess[m.process] = events
		}
		p.events = events
	}
	p.manifests = nil
}
