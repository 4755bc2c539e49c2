package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/profile"
)

// A profileReader is a profile of another tool, which has no records.
type profileReader struct{ *profile.Reader }

// A profileFormat is that of such a profile: which one, package profile knows.
type profileFormat struct{}

func (profileFormat) recognizes(head []byte) bool { return profile.Recognizes(head) }

func (profileFormat) extensions() []string {
	return []string{"pprof", "pb", "speedscope", "json", "folded", "collapsed"}
}

// A profile that is packed may unpack to this many bytes, and to so many times its size: it
// is taken into memory whole.
const (
	profileFree  = 64 << 20
	profileRatio = 100
)

func (profileFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	if o.readProfile == nil {
		return nil, &foreignError{&foreign{is: "at most a profile of another tool", use: "a profile has no events"}} // only a reader could say more
	}
	if most := int64(profileFree) + o.packedSize()*profileRatio; len(o.packing) > 0 && o.unpackLimit == 0 && size > most {
		return nil, fmt.Errorf("%w of %d bytes for profiles", ErrUnpack, most)
	}
	data, err := io.ReadAll(o.whole(src, size))
	if err == nil {
		err = o.failed
	}
	if err != nil {
		return nil, err
	}
	p, err := o.readProfile(data)
	if errors.Is(err, profile.ErrFormat) {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err != nil {
		return nil, err
	}
	return []*File{o.found(&profileReader{profile.NewReader(p)})}, nil
}

// packedSize is the number of bytes read of the file so far, or its size.
func (o *opening) packedSize() int64 {
	if o.allowed == nil {
		return 0
	}
	if o.allowed.packed != nil {
		return o.allowed.packed.n
	}
	return max(o.allowed.size, 0)
}

// Profiles returns the profiles among the files of a trace.
func (t *Trace) Profiles() (list []*profile.Profile) {
	for _, f := range t.files {
		if p := f.Profile(); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// Profile returns the profile that the file is, nil if it is a trace. A profile has no
// records.
func (f *File) Profile() *profile.Profile {
	if r, ok := f.r.(*profileReader); ok {
		return r.Profile()
	}
	return nil
}

func (r *profileReader) reader() etw.Source { return r.Reader }

func (r *profileReader) format() string { return r.Profile().Format }

func (r *profileReader) clock() etw.Clock { return etw.Clock{} }

func (r *profileReader) stats() Stats { return Stats{} }

func (r *profileReader) head() Head { return Head{} }

func (r *profileReader) share(*File) float64 { return -1 }

func (r *profileReader) Close() error { return nil }

func (r *profileReader) facts(of *File) facts {
	p := r.Profile()
	var f facts
	f.packing(of.packing)
	f.text("title", p.Name)
	var types []string
	for i, t := range p.Types {
		text := t.Name
		if t.Unit != "" && t.Unit != "count" {
			text += " in " + t.Unit
		}
		if i == p.Default && len(p.Types) > 1 {
			text += " (shown unless --of says another)"
		}
		types = append(types, text)
	}
	f.add("values", p.Types, strings.Join(types, ", "))
	f.number("samples", int64(len(p.Samples)), "")
	f.number("functions", int64(len(p.Functions)), "")
	if n := len(p.Threads); n > 0 {
		f.number("threads", int64(n), "")
	}
	if p.Start > 0 {
		f.time("start", etw.FileTimeOf(time.Unix(0, p.Start)))
	}
	if p.Duration > 0 {
		f.duration(time.Duration(p.Duration))
	}
	if p.Period > 0 {
		f.text("period", strings.TrimSpace(fmt.Sprintf("%d %s of %s", p.Period, p.PeriodType.Unit, p.PeriodType.Name)))
	}
	if len(p.Comments) > 0 {
		f.add("comments", p.Comments, strings.Join(p.Comments, "; "))
	}
	if len(p.Warnings) > 0 {
		f.add("warnings", p.Warnings, strings.Join(p.Warnings, "; "))
	}
	return f
}
