package trace

import (
	"io"
	"os"
	"slices"
)

// A format is how files are laid out. The particulars of one are in its adapter, such as
// etl.go: a type with these methods, which has a place in formats, and a reader. Formats
// that can more have the methods of the interfaces below, too.
type format interface {
	// recognizes reports whether a file begins with head, of up to magicSize bytes.
	recognizes(head []byte) bool
	// extensions returns how the names of files end.
	extensions() []string
	// file opens a file that can be read in any order.
	file(o *opening, src io.ReaderAt, size int64) ([]*File, error)
}

// A streamed format can be read from front to back.
type streamed interface {
	stream(o *opening, src io.Reader) ([]*File, error)
}

// An excerpted format can be read in part. Excerpt returns how many bytes that are, and nil
// if the file is to be read whole.
type excerpted interface {
	excerpt(o *opening, src io.ReaderAt, size int64) (reader, int64, error)
}

// A merged format has a reader for several files of one session.
type merged interface {
	session(paths []string, o *options) (reader, error)
}

// A packed format packs files of others.
type packed interface{ packing() string }

// formats are asked in this order. The last one also looks behind the beginning of a file
// that none recognizes.
var formats = []format{zipFormat{}, gzipFormat{}, evtxFormat{}, perfFormat{}, ctfFormat{}, foreignFormat{}, gcdumpFormat{}, nettraceFormat{}, profileFormat{}, etlFormat{}}

// magicSize is how many bytes tell the format of a file.
const magicSize = 0x50

// formatOf returns the format of a file by its first bytes, or nil.
func formatOf(head []byte) format {
	for _, f := range formats {
		if f.recognizes(head) {
			return f
		}
	}
	return nil
}

// Extensions returns how the names of files end that may be traces.
func Extensions() (all []string) {
	for _, f := range slices.Backward(formats) {
		all = append(all, f.extensions()...)
	}
	return all
}

// formatOfFile returns the format of the file at path, or nil if it is not regular.
func formatOfFile(path string) format {
	if path == Stdin {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var head [magicSize]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil
	}
	return formatOf(head[:n])
}
