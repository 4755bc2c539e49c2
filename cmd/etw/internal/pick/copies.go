package pick

import (
	"bytes"
	"io"
	"os"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A heldFile is a file whose content others are held against.
type heldFile struct {
	os.FileInfo
	path string
}

// RefuseCopies returns an error if two files have one content: events in both would count
// double, and the time between two events of a thread be none. That one path is given twice
// is found out where it is opened.
func RefuseCopies(paths []string) error {
	bySize := make(map[int64][]heldFile)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue // what is wrong with it is for whoever opens it to say
		}
		same := bySize[info.Size()]
		for _, other := range same {
			if !os.SameFile(info, other.FileInfo) && sameContent(path, other.path) {
				return cli.Usagef("%s is a copy of %s: all would count double", path, other.path)
			}
		}
		bySize[info.Size()] = append(same, heldFile{info, path})
	}
	return nil
}

// sameContent reports whether two files of one size have the same bytes. Those of two
// recordings differ from the begin on.
func sameContent(a, b string) bool {
	f, err := os.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, x)
		m, _ := io.ReadFull(g, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if err != nil {
			return err == io.EOF || err == io.ErrUnexpectedEOF
		}
	}
}
