package tlg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// ErrNone is returned for files that have no events of TraceLogging.
var ErrNone = errors.New("the file has no events of TraceLogging")

// A File is the events described in a program or library.
type File struct {
	Providers []*Provider // in the order of the file
	Events    []*Event
	Regions   []Region
	// Damage names the places of malformed parts. The readable parts are there.
	Damage []error
}

// A Provider is one that the file registers.
type Provider struct {
	Name   string
	GUID   etw.GUID // the zero GUID in the oldest form, which has none
	Group  etw.GUID // of providers that sessions enable together, or the zero GUID
	Offset int64    // in the file
}

// An Event is one that the file writes.
type Event struct {
	Desc   *etw.EventDesc // without its provider
	Owners []*Provider    // who writes it: one of these
	Offset int64          // in the file
}

// A Region is where metadata lie, and the uses of its bytes. Size is the sum of the others.
type Region struct {
	Offset, Size                            int64
	Header, Events, Providers, Padding, End int64
}

// The layout of a region: a header, then blobs, each with its type first, up to one that is
// the end.
const (
	headSize = 16
	magic    = "ETW0\x10\x00\x00" // the size of the header and its version 0 follow the letters
	mark     = 0xBB8A052B88040E86

	blobNothing     = 0 // a byte of padding
	blobEnd         = 1
	blobOldProvider = 2 // without a GUID
	blobOldEvent    = 3
	blobProvider    = 4
	blobEvent       = 6

	eventHead = 12 // the type, channel, level, opcode and keywords
	guidSize  = 16

	// Bounds of reading a file. The largest programs have some thousand events.
	maxEvents    = 1 << 16
	maxProviders = 1 << 10
	maxRegions   = 1 << 8 // a program that was linked of others may have several
)

// Read reads a program or a library. The error is [ErrNone] if it has no events of this kind,
// and no other error if anything could be read: see [File.Damage].
func Read(data []byte) (*File, error) {
	image, err := ecma335.ParseImage(data)
	if err != nil {
		return nil, err
	}
	r := &reader{data: data, image: image, file: new(File)}
	for at := 0; at < len(data); {
		n := bytes.Index(data[at:], []byte(magic))
		if n < 0 {
			break
		}
		at += n
		if b := data[at:]; len(b) < headSize || binary.LittleEndian.Uint64(b[8:]) != mark {
			at += len(magic) // the letters are also the name of a section
			continue
		}
		if len(r.file.Regions) == maxRegions {
			r.damage(at, "there are more than %d regions, and the rest is not read", maxRegions)
			break
		}
		at += r.region(at)
	}
	f := r.file
	if len(f.Events)+len(f.Providers) == 0 {
		return nil, errors.Join(append(f.Damage, ErrNone)...)
	}
	a := &attribution{file: f, image: image, data: data, events: make(map[uint32]int), handles: make(map[uint32][]int), low: 1<<32 - 1}
	a.decide()
	return f, nil
}

// A reader reads the regions of a file.
type reader struct {
	data  []byte
	image *ecma335.Image
	file  *File
	set   schema.Set
}

func (r *reader) damage(at int, format string, args ...any) {
	r.file.Damage = append(r.file.Damage, fmt.Errorf("offset %#x: "+format, append([]any{at}, args...)...))
}

// region reads the region at a place, and returns its size.
func (r *reader) region(from int) int {
	end := r.endOf(from)
	g := Region{Offset: int64(from), Header: headSize}
	at := from + headSize
	for g.End == 0 {
		n, err := r.blob(at, end, &g)
		if err != nil {
			r.damage(at, "%w", err)
		}
		if n == 0 { // there is no knowing where the next one begins
			break
		}
		at += n
	}
	g.Size = int64(at - from)
	r.file.Regions = append(r.file.Regions, g)
	return at - from
}

// endOf returns where the section ends that has a place, or the file.
func (r *reader) endOf(at int) int {
	for _, s := range r.image.Sections {
		if end := uint64(s.Offset) + uint64(s.Size); uint64(at) >= uint64(s.Offset) && uint64(at) < end {
			return int(min(end, uint64(len(r.data))))
		}
	}
	return len(r.data)
}
