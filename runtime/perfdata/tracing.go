package perfdata

import (
	"bytes"
	"strings"

	"github.com/etwgen/etwgen/internal/tracepoint"
	"github.com/etwgen/etwgen/runtime/etw"
)

// maxFormats bounds how many events of the kernel a file may describe.
const maxFormats = 1 << 14

// tracing takes the kernel's formats of its events, and its functions.
func (r *Reader) tracing(b []byte) bool {
	p := parts{order: r.order, b: b}
	if magic := p.take(10); !bytes.HasPrefix(magic, []byte("\x17\x08\x44tracing")) {
		return false
	}
	p.line()  // the version
	p.take(1) // the byte order, which is that of the file
	p.take(1) // the size of long
	p.u32()   // and of a page
	for range 2 {
		p.line() // header_page and header_event
		p.take(long(p.u64()))
	}
	for n := p.u32(); n > 0 && !p.bad; n-- {
		r.format("ftrace", p.take(long(p.u64())))
	}
	for n := p.u32(); n > 0 && !p.bad; n-- {
		group := p.line()
		for n := p.u32(); n > 0 && !p.bad; n-- {
			r.format(group, p.take(long(p.u64())))
		}
	}
	list := p.take(int(min(p.u32(), 1<<30)))
	if !p.bad {
		r.kallsyms = list
	}
	return !p.bad
}

func long(n uint64) int { return int(min(n, 1<<30)) }

// format takes the description of an event of the kernel.
func (r *Reader) format(group string, text []byte) {
	d, err := tracepoint.Parse(group, text)
	if err != nil || len(r.formats) >= maxFormats {
		return // such an event has no fields
	}
	d.Provider = r.provider(group)
	if r.formats == nil {
		r.formats = make(map[uint16]*etw.EventDesc)
	}
	r.formats[d.ID] = d
}

// provider returns the description of a group of events, which all of these share.
func (r *Reader) provider(group string) *etw.ProviderDesc {
	p := r.providers[group]
	if p == nil {
		group = strings.Clone(group)
		p = &etw.ProviderDesc{Name: group, GUID: etw.NameGUID(group)}
		if r.providers == nil {
			r.providers = make(map[string]*etw.ProviderDesc)
		}
		r.providers[group] = p
	}
	return p
}
