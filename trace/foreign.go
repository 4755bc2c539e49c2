package trace

import "io"

// A foreignFormat is that of a file of another world, which is named with the program that
// reads it, so that nobody takes it for a damaged trace.
type foreignFormat struct{}

func (foreignFormat) recognizes(head []byte) bool { return foreignOf(head) != nil }

func (foreignFormat) extensions() []string { return nil }

func (f foreignFormat) file(_ *opening, src io.ReaderAt, size int64) ([]*File, error) {
	return f.refuse(io.NewSectionReader(src, 0, size))
}

func (f foreignFormat) stream(_ *opening, src io.Reader) ([]*File, error) { return f.refuse(src) }

// refuse names the kind of a file.
func (foreignFormat) refuse(src io.Reader) ([]*File, error) {
	head := make([]byte, magicSize)
	n, err := readFull(src, head)
	if what := foreignOf(head[:n]); what != nil {
		return nil, &foreignError{what}
	}
	return nil, err // which kept the rest of the head from being read
}

// A foreignError names the kind of a file of another world.
type foreignError struct{ *foreign }

func (e *foreignError) Error() string { return "it is no trace, but " + e.is + "; " + e.use }

// Is makes it an ErrFormat.
func (e *foreignError) Is(target error) bool { return target == ErrFormat }
