package schema

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

// A chunkKey tells apart manifests whose chunks may come mixed.
type chunkKey struct {
	provider        etw.GUID
	process, thread int64
	version         uint16
}

// chunks puts manifests together.
type chunks struct {
	open  map[chunkKey][][]byte // of manifests that are not complete
	bytes int                   // of open
}

// maxOpenChunks bounds the bytes of incomplete manifests. If they are more, all of
// them are given up.
const maxOpenChunks = 16 << 20

// chunkSize is about the size of a chunk without its text.
const chunkSize = 100

// add takes the chunk that r holds, and returns the text that it completes.
// Unless ok, it holds none, or one that follows none.
func (c *chunks) add(r *etw.Record) (text []byte, ok bool) {
	p := r.Payload
	if len(p) < manifestHeaderSize || p[0] != manifestFormat || p[3] != manifestMagic {
		return nil, false
	}
	total, number := int(binary.LittleEndian.Uint16(p[4:])), int(binary.LittleEndian.Uint16(p[6:]))
	key := chunkKey{r.Provider, r.ProcessID, r.ThreadID, binary.LittleEndian.Uint16(p[1:])}
	before := c.open[key]
	// Chunks of one writing come in order. A process may write its manifest
	// several times, and break off.
	if number >= total || number != len(before) && number != 0 {
		return nil, false
	}
	chunk := p[manifestHeaderSize:]
	if total == 1 {
		return chunk, true
	}
	if number == 0 {
		c.drop(key)
		before = nil
	}
	if number == total-1 {
		text = bytes.Join(append(before, chunk), nil)
		c.drop(key)
		return text, true
	}
	c.keep(key, append(before, bytes.Clone(chunk)), len(chunk)+chunkSize)
	return nil, true
}

// drop gives up the manifest of key.
func (c *chunks) drop(key chunkKey) {
	for _, chunk := range c.open[key] {
		c.bytes -= len(chunk) + chunkSize
	}
	delete(c.open, key)
}

// keep sets the chunks of key, which have become n bytes more.
func (c *chunks) keep(key chunkKey, chunks [][]byte, n int) {
	if c.bytes += n; c.open == nil || c.bytes > maxOpenChunks {
		c.open, c.bytes = make(map[chunkKey][][]byte), n
		if len(chunks) > 1 {
			c.bytes = 0
			return
		}
	}
	c.open[key] = chunks
}

// A manifest is one text that processes wrote.
type manifest struct {
	text   string
	events events // nil until it is read, and if it cannot be
}

// manifests are those of one provider. Mostly they are all the same. Where they
// are not, programs were built with different versions of it: each process then
// goes by its own, and others by the one that was new last.
type manifests struct {
	texts     map[string]*manifest
	byProcess map[int64]*manifest
	unread    []*manifest
	last      events
}

// add adds the manifest that a process wrote, and reports whether it is a new
// one.
func (m *manifests) add(process int64, text []byte) bool {
	one := m.texts[string(text)]
	isNew := one == nil
	if isNew {
		if m.texts == nil {
			m.texts, m.byProcess = make(map[string]*manifest), make(map[int64]*manifest)
		}
		one = &manifest{text: string(text)}
		m.texts[one.text] = one
		m.unread = append(m.unread, one)
	}
	m.byProcess[process] = one
	return isNew
}

// read reads the manifests that are unread, and returns the name of the provider
// if any of them says it.
func (m *manifests) read(guid etw.GUID, arena *descArena) (name string) {
	for _, one := range m.unread {
		given, events, err := parseManifest(one.text, guid, arena)
		if err != nil {
			continue
		}
		name, one.events, m.last = given, events, events
	}
	m.unread = nil
	return name
}

// event returns the description of an event of a process.
func (m *manifests) event(key uint32, process int64) *etw.EventDesc {
	if len(m.texts) > 1 {
		if own := m.byProcess[process]; own != nil {
			if d := own.events[key]; d != nil {
				return d
			}
		}
	}
	return m.last[key]
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
