package trace

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
)

// Limits of searching an archive. Those that profilers make hold one trace, and some hundred
// files of symbols beside it.
const (
	maxMembers = 1 << 16
	maxTraces  = 64
)

// flagEncrypted says in the flags of a member that it is.
const flagEncrypted = 1

// A zipFormat is an archive.
type zipFormat struct{}

func (zipFormat) recognizes(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

func (zipFormat) extensions() []string { return []string{"zip", "diagsession"} }

func (zipFormat) packing() string { return "zip" }

// kindOf returns the kind of an archive: that of the diagnostics tools of Visual Studio has a
// list of its contents.
func kindOf(archive *zip.Reader) string {
	listed := 0
	for _, f := range archive.File {
		if f.Name == "[Content_Types].xml" || f.Name == "metadata.xml" {
			listed++
		}
	}
	if listed == 2 {
		return "diagsession of Visual Studio"
	}
	return "zip"
}

// file opens the traces of an archive.
func (z zipFormat) file(o *opening, src io.ReaderAt, size int64) (files []*File, err error) {
	if err := o.pack(z.packing(), nil, size); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(src, size)
	if err != nil {
		return nil, err
	}
	o.packing[len(o.packing)-1] = kindOf(archive)
	if len(archive.File) > maxMembers {
		return nil, fmt.Errorf("the archive has %d files, more than %d", len(archive.File), maxMembers)
	}
	shared := &shared{closers: o.closers, users: 1}
	o.closers = nil
	defer shared.Close() // which closes the archive if no trace of it is open
	var refused error    // of what may be no trace
	var failed []error
	excess, given := 0, o.perf
	collected := collectedBy(archive)
	for _, f := range archive.File {
		of, err := collected.format(f)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		if p, ok := of.(packed); ok {
			refused = fmt.Errorf("%s: %s within zip is not supported; unpack it first", f.Name, p.packing())
			continue
		}
		if of != nil && len(files) == maxTraces {
			excess++
		}
		if of == nil || len(files) == maxTraces {
			continue
		}
		var s *File
		if _, ok := of.(ctfFormat); ok {
			s, err = o.recorded(f, archive, shared)
		} else {
			o.perf = collected.options(given, o.allowed)
			s, err = o.member(f, of, shared)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		files = append(files, s)
	}
	if collected.unread != nil {
		failed = append(failed, collected.unread)
	}
	if excess > 0 {
		failed = append(failed, fmt.Errorf("the archive has %d traces, of which %d are read", len(files)+excess, len(files)))
	}
	switch {
	case len(files) > 0 && len(failed) > 0:
		last := files[len(files)-1]
		last.archive, last.rest = o.name, severally(failed)
		fallthrough
	case len(files) > 0:
		return files, nil
	case len(failed) > 0:
		return nil, failed[0]
	case refused != nil:
		return nil, refused
	}
	return nil, fmt.Errorf("none of the %d files in the archive is a trace", len(archive.File))
}

// severally returns an error with the text of the first of some, and the number of
// the others.
func severally(errs []error) error {
	text := errs[0].Error()
	if n := len(errs) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return &incomplete{errors.New(text)}
}

// memberFormat returns the format of a file of an archive, or nil.
func memberFormat(f *zip.File) (format, error) {
	if f.FileInfo().IsDir() || f.UncompressedSize64 == 0 {
		return nil, nil
	}
	if f.Flags&flagEncrypted != 0 {
		return nil, errors.New("it is encrypted")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var head [magicSize]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	switch of := formatOf(head[:n]).(type) {
	case profileFormat: // which a recorder put beside its traces
		if path.Base(f.Name) != perfText {
			return nil, nil
		}
		return of, nil
	case foreignFormat:
		if kind := foreignOf(head[:n]); kind.use == useFolder {
			return nil, &foreignError{kind}
		}
		return nil, nil
	default:
		return of, nil
	}
}

// member opens one trace of an archive.
func (o *opening) member(f *zip.File, of format, archive *shared) (file *File, err error) {
	m := *o
	m.name = o.name + ":" + f.Name
	m.read = nil
	m.size = -1
	if f.UncompressedSize64 < 1<<62 {
		m.size = int64(f.UncompressedSize64)
	}
	if !f.Modified.IsZero() {
		m.modified = f.Modified
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	archive.users++
	m.closers = []io.Closer{r, archive}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	unpacked := m.count(&unpacker{r, o.allowed})
	var one []*File
	if s, ok := of.(streamed); ok {
		m.packed = unpacked
		one, err = s.stream(&m, unpacked)
	} else {
		var spooled *spool
		if spooled, err = newSpool(unpacked); err != nil {
			return nil, err
		}
		m.closers = append(m.closers, spooled)
		m.failed = spooled.failed
		one, err = of.file(&m, spooled, spooled.size)
	}
	if err != nil {
		return nil, err
	}
	return one[0], nil
}

// A shared archive is closed with the last of its members.
type shared struct {
	closers []io.Closer
	users   int
}

func (s *shared) Close() error {
	if s.users--; s.users > 0 {
		return nil
	}
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}
