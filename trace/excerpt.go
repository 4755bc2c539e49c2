package trace

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// WithExcerpt reads only a part of a file that has more than so many bytes, up to a quarter
// of that number: its begin, its end, and of a .nettrace the first event of each kind. It is
// for those who want to know a trace. Its facts are those that need no more: events are not
// counted, losses not added up, and nothing is said of whether it ended cleanly, since the
// unread parts can be damaged. Where the part read has a fault, in a file that was cut off
// too, or that is of more blocks than are worth a list, the whole is read after all; so is a
// packed file, or comes through a pipe. See [File.Excerpt].
func WithExcerpt(over int64) Option { return func(o *options) { o.excerptOver = over } }

// Excerpt returns how many bytes of the file are read, and reports whether that is only
// a part of it.
func (f *File) Excerpt() (bytes int64, ok bool) { return f.excerpt, f.excerpt > 0 }

// excerptOf opens a part of a file if it is so large that no more is to be read. It
// returns nil if the file is to be read whole.
func (o *opening) excerptOf(f format, src io.ReaderAt, size int64) ([]*File, error) {
	x, ok := f.(excerpted)
	if !ok || o.excerptOver <= 0 || size <= o.excerptOver {
		return nil, nil
	}
	r, part, err := x.excerpt(o, src, size)
	if r == nil || err != nil {
		return nil, err
	}
	found := o.found(r)
	found.excerpt, found.size = part, size
	return []*File{found}, nil
}

const (
	// excerptParts is the number of parts that a file must exceed.
	excerptParts = 16
	// mostParts is how many of them an excerpt has at most.
	mostParts = 4
)

// drain reads records to their end and returns why there are no more.
func drain(src etw.Source) error {
	var rec etw.Record
	for {
		if err := src.Next(&rec); err != nil {
			return err
		}
	}
}
