package tlg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// blob reads the blob at a place of a region, and returns its size, or 0 if that is not known.
func (r *reader) blob(at, end int, g *Region) (int, error) {
	if at >= end {
		return 0, errors.New("the region goes on where its section ends")
	}
	b := r.data[at:end]
	switch b[0] {
	case blobNothing:
		g.Padding++
		return 1, nil
	case blobEnd:
		g.End++
		return 1, nil
	case blobProvider, blobOldProvider:
		n, err := r.provider(b, int64(at))
		g.Providers += int64(n)
		return n, err
	case blobEvent, blobOldEvent:
		n, err := r.event(b, int64(at))
		g.Events += int64(n)
		return n, err
	}
	return 0, fmt.Errorf("metadata of the unknown kind %d; what follows in the region is not read", b[0])
}

// sized returns the part of b that its first two bytes give the size of.
func sized(b []byte) ([]byte, error) {
	if len(b) < 2 {
		return nil, errors.New("metadata end with the section")
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n < 3 || n > len(b) { // a name has at least its end
		return nil, fmt.Errorf("metadata have %d bytes, of %d that are left; what follows in the region is not read", n, len(b))
	}
	return b[:n], nil
}

// traitGroup is the type of the trait that is the GUID of a provider's group.
const traitGroup = 1

// provider reads a provider.
func (r *reader) provider(b []byte, offset int64) (int, error) {
	p := &Provider{Offset: offset}
	head := 1
	if b[0] == blobProvider {
		head += copy(p.GUID[:], b[1:])
	}
	traits, err := sized(b[head:])
	if err != nil {
		return 0, fmt.Errorf("provider: %w", err)
	}
	size := head + len(traits)
	name, rest, ok := bytes.Cut(traits[2:], []byte{0})
	if !ok {
		return size, errors.New("provider: its name has no end")
	}
	p.Name = string(bytes.ToValidUTF8(name, []byte("\uFFFD")))
	if len(r.file.Providers) == maxProviders {
		return 0, fmt.Errorf("provider: there are more than %d, and the rest is not read", maxProviders)
	}
	r.file.Providers = append(r.file.Providers, p)
	for len(rest) > 0 {
		trait, err := sized(rest)
		if err != nil {
			return size, fmt.Errorf("provider %q: traits: %w", p.Name, err)
		}
		if trait[2] == traitGroup && len(trait) == 3+guidSize {
			p.Group = etw.GUID(trait[3:])
		}
		rest = rest[len(trait):]
	}
	return size, nil
}

// event reads an event, by the reader of the same metadata in traces.
func (r *reader) event(b []byte, offset int64) (int, error) {
	if len(b) < eventHead {
		return 0, errors.New("event: metadata end with the section")
	}
	metadata, err := sized(b[eventHead:])
	if err != nil {
		return 0, fmt.Errorf("event: %w", err)
	}
	size := eventHead + len(metadata)
	if len(r.file.Events) == maxEvents {
		return 0, fmt.Errorf("event: there are more than %d, and the rest is not read", maxEvents)
	}
	rec := etw.Record{
		Kind: etw.KindManifest, Channel: b[1], Level: etw.Level(b[2]), Opcode: etw.Opcode(b[3]),
		Keywords: binary.LittleEndian.Uint64(b[4:]),
		Extended: []etw.ExtendedItem{{Type: etw.ExtSchema, Data: metadata}},
	}
	if r.set.Describe(&rec); rec.Schema == nil {
		return size, errors.New("event: its fields are malformed")
	}
	d := *rec.Schema
	d.Provider = nil
	r.file.Events = append(r.file.Events, &Event{Desc: &d, Offset: offset})
	return size, nil
}
