package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A layout is how a file has a profile.
type layout struct {
	name string
	// recognizes reports whether a file begins with head. Text is in UTF-8.
	recognizes func(head []byte) bool
}

// layouts are asked in this order.
var layouts = [...]layout{
	{"pprof", isPprof},
	{"gperftools", isGperftools},
	{"OTLP", isOTLP},
	{"perf script", isPerfScript},
	{"JSON", isJSON},
	{"folded stacks", isFolded},
}

// readers are those of the layouts. They stand apart from these, so that a program that only
// recognizes profiles does not contain them.
var readers = [len(layouts)]func(p *Profile, data []byte) error{readPprof, readGperftools, readOTLP, readPerfScript, readJSON, readFolded}

// Recognizes reports whether a file that begins with head, of up to some hundred bytes, may
// be a profile. Of text and of JSON only [Read] can say.
func Recognizes(head []byte) bool { return layoutOf(utf8Of(head)) >= 0 }

// layoutOf returns the place of a layout among layouts, or -1.
func layoutOf(head []byte) int {
	return slices.IndexFunc(layouts[:], func(l layout) bool { return l.recognizes(head) })
}

// Read reads a file, which must be unpacked. An error says where the file is wrong, and is
// an [*etw.Damage] if that is at an offset.
func Read(data []byte) (*Profile, error) {
	if len(data) > maxSize {
		return nil, fmt.Errorf("profiles of more than %d bytes are not supported", maxSize)
	}
	text := utf8Of(data)
	i := layoutOf(text[:min(len(text), 512)])
	if i < 0 {
		return nil, ErrFormat
	}
	p := &Profile{Format: layouts[i].name}
	if err := readers[i](p, text); err != nil {
		return nil, err
	}
	if err := p.finish(len(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Format, err)
	}
	return p, nil
}

// utf8Of returns text in UTF-8 without a mark, of text in UTF-16 with one: some shells write
// redirected output so. Anything else is as it is.
func utf8Of(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for data = data[2:]; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return []byte(string(utf16.Decode(units)))
}

func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '[' {
		return len(head) > 0 && head[0] == '{'
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n") // [waiting] is a frame
	return len(head) > 0 && bytes.IndexByte([]byte(`{["]`), head[0]) >= 0
}

// readJSON reads the profile that a document is, as its keys tell.
func readJSON(p *Profile, data []byte) error {
	var d document
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		return &formatError{"it is a list in JSON, as traces of Chrome are, and no profile"}
	}
	if err := p.decode("", data, &d); err != nil {
		return err
	}
	switch {
	case d.Profiles != nil && d.Shared != nil:
		return readSpeedscope(p, &d)
	case d.Meta != nil && d.Threads != nil:
		return readFirefox(p, &d)
	case d.Nodes != nil:
		return readCPUProfile(p, data)
	case d.TraceEvents != nil:
		return &formatError{"it is a trace of Chrome, which has what happened when, and no profile; https://ui.perfetto.dev opens it"}
	case d.ResourceProfiles != nil:
		return &formatError{"it is a profile of OpenTelemetry in JSON; the binary form of it is read"}
	}
	return &formatError{"it is JSON, but no profile of speedscope, the Firefox Profiler or V8"}
}

// A Reader is a profile where a trace is expected: an [etw.Source] without records.
type Reader struct{ profile *Profile }

// NewReader returns the reader of a profile.
func NewReader(p *Profile) *Reader { return &Reader{p} }

// Profile returns the profile.
func (r *Reader) Profile() *Profile { return r.profile }

// Next returns io.EOF: a profile has no records.
func (r *Reader) Next(*etw.Record) error { return io.EOF }
