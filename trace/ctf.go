package trace

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/etwgen/etwgen/runtime/ctf"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A ctfReader is a trace of LTTng, which is a folder.
type ctfReader struct{ *ctf.Reader }

// A ctfFormat is that of the metadata of such a trace, beside which its streams stand.
type ctfFormat struct{}

func (ctfFormat) recognizes(head []byte) bool { return ctf.Recognizes(head) }

func (ctfFormat) extensions() []string { return nil }

// file opens the trace whose metadata a path leads to.
func (ctfFormat) file(o *opening, _ io.ReaderAt, _ int64) ([]*File, error) {
	if filepath.Base(o.name) != ctf.Metadata {
		return nil, &foreignError{&foreign{is: "the metadata of a trace of LTTng (CTF)", use: useFolder}}
	}
	return o.folder(filepath.Dir(o.name))
}

// folder opens the traces of LTTng in a folder, and in those within.
func (o *opening) folder(dir string) (files []*File, err error) {
	defer o.close()
	parts := map[string][]string{}
	var dirs []string
	seen := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxMembers {
			return fmt.Errorf("the folder has more than %d files", maxMembers)
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		in := filepath.Dir(path)
		if parts[in] = append(parts[in], path); d.Name() == ctf.Metadata {
			dirs = append(dirs, in)
		}
		return nil
	})
	for _, in := range dirs {
		m := *o
		m.name, m.size, m.closers = in, 0, nil
		f, failed := m.recording(parts[in])
		if failed != nil {
			m.close()
			return files, failed
		}
		files = append(files, f)
	}
	if err == nil && len(files) == 0 {
		err = errors.New("is a folder")
	}
	return files, err
}

// recording opens the trace with these files.
func (o *opening) recording(paths []string) (*File, error) {
	var list []ctf.File
	for _, path := range paths {
		f, err := o.openFile(path)
		if err != nil {
			return nil, err
		}
		o.closers = append(o.closers, f)
		size, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		list = append(list, ctf.File{Name: filepath.Base(path), Data: o.through(f), Size: size})
	}
	return o.ctf(list)
}

// ctf opens the trace that is these files.
func (o *opening) ctf(list []ctf.File) (*File, error) {
	r, err := ctf.NewReader(list)
	if err != nil {
		return nil, err
	}
	o.size = 0
	for _, f := range list {
		o.size += f.Size
	}
	return o.found(&ctfReader{r}), nil
}

// recorded opens the trace of an archive whose metadata f has.
func (o *opening) recorded(f *zip.File, archive *zip.Reader, shared *shared) (_ *File, err error) {
	m := *o
	dir := path.Dir(f.Name)
	m.name, m.read = o.name+":"+dir, nil
	shared.users++
	m.closers = []io.Closer{shared}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	var list []ctf.File
	for _, s := range archive.File {
		if path.Dir(s.Name) != dir || s.FileInfo().IsDir() {
			continue
		}
		r, err := s.Open()
		if err != nil {
			return nil, err
		}
		spooled, err := newSpool(&unpacker{r, o.allowed})
		r.Close()
		if err != nil {
			return nil, err
		}
		if m.closers = append(m.closers, spooled); m.failed == nil {
			m.failed = spooled.failed
		}
		list = append(list, ctf.File{Name: path.Base(s.Name), Data: spooled, Size: spooled.size})
	}
	return m.ctf(list)
}

func (r *ctfReader) reader() etw.Source { return r.Reader }

func (*ctfReader) format() string { return "CTF 1.8" }

func (r *ctfReader) clock() etw.Clock { return r.Header().Clock }

func (r *ctfReader) stats() Stats {
	s := r.Stats()
	return Stats{Records: s.Records, Lost: s.Lost, Undecodable: s.Undecodable}
}

func (r *ctfReader) head() Head {
	h := r.Header()
	return Head{Recorder: Linux, Identity: identity("ctf\x00"+h.Host+"\x00"+h.Domain+"\x00"+h.Begun, h.Clock.Origin)}
}

func (r *ctfReader) share(*File) float64 { return r.Progress() }

func (r *ctfReader) facts(of *File) facts {
	var f facts
	f.packing(of.packing)
	h, s := r.Header(), r.Stats()
	f.text("machine", h.Host)
	f.text("kernel", h.System)
	f.text("recorder", h.Tracer)
	f.text("domain", h.Domain)
	if start := h.Clock.Start; start != 0 {
		f.time("start", start)
	}
	f.number("packets", s.Packets, "")
	f.number("lost", s.Lost, "")
	f.nonzero("lostPackets", s.LostPackets, "whose numbers are missing")
	f.conclude(of)
	return f
}
