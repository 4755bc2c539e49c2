package wevt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Options say how to read a binary form.
type Options struct {
	// Lenient keeps the readable part of a damaged resource.
	Lenient bool
	// NameOf returns the name of a provider that the resource does not name, as in
	// version 3, or "": it is called after its GUID then.
	NameOf func(etw.GUID) string
}

// UnknownName is the name that Decode gives to a provider of which it knows none.
func UnknownName(guid etw.GUID) string { return "Provider-" + guid.String() }

// Decode makes a manifest of resources. Every byte has to have the same meaning as in the
// output of mc.exe: the error is an [ErrorList]. In lenient mode the readable part is
// returned. The first list has the parts left out: parts that are not known and, in lenient
// mode, damaged ones. The name is that of the file, for messages.
func Decode(name string, res Resources, opts Options) (*manifest.Manifest, ErrorList, error) {
	d := &decoder{
		file: name, b: res.Templates, opts: opts,
		m:       &manifest.Manifest{File: name},
		seen:    make([]bool, len(res.Templates)),
		texts:   make(map[int]string),
		begun:   make(map[int]bool),
		strings: stringNames{ids: make(map[uint32]string), names: make(namer)},
	}
	d.messages(res.Messages)
	d.resource()
	d.account()
	if len(d.errors) == 0 || opts.Lenient && len(d.m.Providers) > 0 {
		return d.m, append(d.notes, d.errors...), nil
	}
	return nil, d.notes, d.errors
}

// A decoder reads a resource. It goes on behind whatever is wrong.
type decoder struct {
	file   string
	b      []byte
	opts   Options
	m      *manifest.Manifest
	errors ErrorList
	notes  ErrorList

	seen    []bool         // which bytes were read
	read    int            // how many, with those that were read again
	texts   map[int]string // by offset
	begun   map[int]bool   // sections that were read, so that none is twice
	major   uint16
	tables  []messageTable // in the order of m.Cultures
	strings stringNames
}

// maxErrors is how many errors are told of.
const maxErrors = 100

func (d *decoder) fail(at int, format string, args ...any) {
	if len(d.errors) < maxErrors {
		d.errors = append(d.errors, &Error{d.file, at, fmt.Sprintf(format, args...)})
	}
}

// maxRead is how often a byte is read on average: a part's head is, twice or more.
// Parts that lie within each other would take time beyond all proportion.
const maxRead = 4

// note names a part that is left out though it has no fault.
func (d *decoder) note(at int, format string, args ...any) {
	if len(d.notes) < maxErrors {
		d.notes = append(d.notes, &Error{d.file, at, fmt.Sprintf(format, args...)})
	}
}

// span returns n bytes at an offset, or nil if they are not there.
func (d *decoder) span(at, n int, what string) []byte {
	if at < 0 || n < 0 || at > len(d.b) || n > len(d.b)-at {
		d.fail(at, "%s of %d bytes is not within the %d bytes of the resource", what, n, len(d.b))
		return nil
	}
	if d.read += n; d.read > maxRead*len(d.b) {
		d.fail(at, "%s and what was read before it have bytes in common", what)
		return nil
	}
	for i := range n {
		d.seen[at+i] = true
	}
	return d.b[at : at+n]
}

// account holds the bytes that no part has against the only valid values: zeros that align
// the next part.
func (d *decoder) account() {
	for i, seen := range d.seen {
		if !seen && d.b[i] != 0 {
			end := i
			for end < len(d.b) && !d.seen[end] {
				end++
			}
			d.fail(i, "%d bytes belong to no part", end-i)
			return
		}
	}
}

// maxTables is how many languages can share the names of strings.
const maxTables = 64

// messages reads the message tables, English first: its texts are those that the
// manifest has by default.
func (d *decoder) messages(tables map[Language][]byte) {
	rank := func(l Language) int { return min(1, int(l^English)) }
	languages := slices.Collect(maps.Keys(tables))
	order.Sort(languages, func(a, b Language) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	for _, l := range languages[:min(len(languages), maxTables)] {
		t, err := decodeMessages(d.file+" ("+l.String()+")", tables[l])
		if e, ok := err.(*Error); ok {
			d.errors = append(d.errors, e)
		}
		d.tables = append(d.tables, t)
		d.m.Cultures = append(d.m.Cultures, &manifest.Culture{Name: l.String(), Strings: make(map[string]string)})
	}
}

// resource reads the header and the providers.
func (d *decoder) resource() {
	b := d.span(0, resourceHeader, "the header")
	if b == nil || string(b[:4]) != sigResource {
		d.fail(0, "no WEVT_TEMPLATE resource: it does not begin with %s", sigResource)
		return
	}
	size := int(binary.LittleEndian.Uint32(b[4:]))
	d.major = binary.LittleEndian.Uint16(b[8:])
	if size > len(d.b) {
		d.fail(4, "the resource has %d bytes of %d: it is cut off", len(d.b), size)
	}
	if d.major != version3 && d.major != version5 {
		d.fail(8, "version %d is not 3 or 5", d.major)
	}
	n := int(binary.LittleEndian.Uint32(b[12:]))
	if n < 1 || n > maxProviders {
		d.fail(12, "%d providers; a resource has 1 to %d", n, maxProviders)
		return
	}
	for i := range n {
		e := d.span(resourceHeader+i*resourceEntry, resourceEntry, "the entry of a provider")
		if e == nil {
			return
		}
		p := &manifest.Provider{}
		copy(p.GUID[:], e)
		d.provider(p, int(binary.LittleEndian.Uint32(e[16:])))
	}
}

// section checks the signature of a part and returns its contents, from its start, or nil.
// The header is as long as size says at least.
func (d *decoder) section(at int, sig string, header int) []byte {
	head := d.span(at, 8, "the head of "+sig)
	if head == nil {
		return nil
	}
	if string(head[:4]) != sig {
		d.fail(at, "%q where %s is expected", head[:4], sig)
		return nil
	}
	if d.begun[at] {
		d.fail(at, "%s is referred to twice", sig)
		return nil
	}
	d.begun[at] = true
	size := int(binary.LittleEndian.Uint32(head[4:]))
	if size == 0 { // as empty ones are
		if empty := d.span(at, header, "an empty "+sig); empty != nil && bytes.Count(empty[8:], []byte{0}) == header-8 {
			return empty
		}
	}
	if size < header || size > len(d.b)-at {
		d.fail(at, "%s of %d bytes is not within the resource", sig, size)
		return nil
	}
	d.span(at, header, sig)
	return d.b[at : at+size]
}

// entries returns the entries of a section, each of a size, or nil.
func (d *decoder) entries(at int, sig string, header, entry int) [][]byte {
	b := d.section(at, sig, header)
	if b == nil {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(b[8:]))
	if n < 0 || n > (len(b)-header)/entry {
		d.fail(at, "%s has %d entries, which do not fit in its %d bytes", sig, n, len(b))
		return nil
	}
	if d.span(at+header, n*entry, sig) == nil {
		return nil
	}
	list := make([][]byte, n)
	for i := range list {
		list[i] = b[header+i*entry:][:entry]
	}
	return list
}

// name reads a string with its size before it.
func (d *decoder) name(at uint32) string {
	off := int(at)
	if s, ok := d.texts[off]; ok {
		return s
	}
	head := d.span(off, 4, "a name")
	if head == nil {
		return ""
	}
	size := int(binary.LittleEndian.Uint32(head))
	if size < 6 || size%4 != 0 {
		d.fail(off, "a name of %d bytes is none", size)
		return ""
	}
	p := d.span(off, size, "a name")
	if p == nil {
		return ""
	}
	text := p[4:]
	end := 0
	for end+1 < len(text) && (text[end] != 0 || text[end+1] != 0) {
		end += 2
	}
	if end+1 >= len(text) || len(bytes.Trim(text[end:], "\x00")) > 0 {
		d.fail(off, "a name does not end where its size says")
	}
	s := etw.UTF16(text[:end]).String()
	if s == "" || !isText(s) {
		d.fail(off, "a name is %q, which is none", s)
		s = "Name_" + hexName(at)
	}
	d.texts[off] = s
	return s
}
