package blocks

import (
	"bytes"
	"io"
	"math"
	"os"
	"time"
)

// An Index has the places in a .nettrace file where one can begin to read, so that events
// behind a time are found without all those before them. It is a list of some hundred places
// for each gigabyte, which takes a look at the header of each block to make, and no file.
type Index struct {
	head   int64   // bytes at the begin that are read in any case
	tables []Block // that events refer to, behind the head
	points []indexPoint
}

// An indexPoint is a place where one can begin: the events before it are delivered before
// those that follow, and no stack from before is meant behind it.
type indexPoint struct {
	at     int64   // offset
	before float64 // when the last event before it was, in milliseconds
	tables int     // how many of the tables stand before it
}

// indexHead is how much of the begin is read in any case: a process says its name there.
const indexHead = 1 << 20

// NewIndex returns the index of a file. It returns nil if there is no place but the begin: in a
// small file, a packed one, one of another format or without sequence points.
func NewIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	x, last := new(Index), math.Inf(-1)
	// An error of the list is a fault of the file from some place on. Who reads it will see that.
	_ = List(f, info.Size(), func(b Block) error {
		if b.Offset+b.Size <= indexHead {
			x.head = b.Offset + b.Size
		}
		switch b.Kind {
		case "EventBlock":
			if !b.Times || b.First == 0 && b.Last == 0 { // it does not say when its events are
				last = math.Inf(1)
			}
			last = max(last, b.Last)
		case "MetadataBlock":
			if b.Offset >= x.head {
				b.Detail = ""
				x.tables = append(x.tables, b)
			}
		case "SPBlock":
			if b.Offset > x.head {
				x.points = append(x.points, indexPoint{b.Offset, last, len(x.tables)})
			}
		}
		return nil
	})
	if len(x.points) == 0 {
		return nil, nil
	}
	return x, nil
}

// Later returns a stream of the file with the records from a time since the start of the session on,
// and few of those before, or nil if there is no place but the begin. The stream has the begin of the
// file, all that records refer to, and the rest behind the last place before which all are older. Its
// losses and faults are not those of the file.
func (x *Index) Later(src io.ReaderAt, size int64, from time.Duration) (io.Reader, error) {
	ms := float64(from)/1e6 - 1 // the times of blocks are rounded
	var p *indexPoint
	for i := range x.points {
		if x.points[i].before >= ms || x.points[i].at >= size {
			break
		}
		p = &x.points[i]
	}
	if p == nil {
		return nil, nil
	}
	w := &Copier{Src: src, Out: make([]byte, x.head)}
	if err := ReadWhole(src, w.Out, 0); err != nil {
		return nil, err
	}
	for i := range x.tables[:p.tables] {
		if err := w.Add(&x.tables[i]); err != nil {
			return nil, err
		}
	}
	w.Align(p.at)
	return io.MultiReader(bytes.NewReader(w.Out), io.NewSectionReader(src, p.at, size-p.at)), nil
}
