package trace

import (
	"bytes"
	"io"
)

// minZeros is how many zeros a trace of EventPipe never ends with.
const minZeros = 512

// written returns the size of a file without the zeros at its end, where there are more of
// them than a trace ends with: a file system leaves them of a file that was not written to its
// end when the machine stopped. A reader would make events of them.
func written(src io.ReaderAt, size int64) (int64, error) {
	const piece = 64 << 10
	var buf [piece]byte
	for end := size; end > 0; {
		b := buf[:min(piece, end)]
		if end == size {
			b = buf[:min(minZeros, end)]
		}
		if _, err := src.ReadAt(b, end-int64(len(b))); err != nil && err != io.EOF {
			return 0, err
		}
		if rest := bytes.TrimRight(b, "\x00"); len(rest) > 0 {
			end += int64(len(rest) - len(b))
			if size-end < minZeros {
				return size, nil
			}
			return end, nil
		}
		end -= int64(len(b))
	}
	return size, nil
}
