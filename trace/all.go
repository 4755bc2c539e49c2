package trace

import (
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/internal/same"
)

// Open opens the trace at path. Those of an archive that holds several are read
// as one.
func Open(path string, opts ...Option) (*Trace, error) { return OpenAll([]string{path}, opts...) }

// OpenAll opens traces to be read as one, in the order of time. All of them must
// open. Several .etl files of one session, as a tool leaves them that records the
// kernel and programs apart, are merged to the tick.
func OpenAll(paths []string, opts ...Option) (*Trace, error) {
	return openAll(paths, newOptions(opts))
}

func openAll(paths []string, o options) (*Trace, error) {
	if len(paths) == 0 {
		return nil, errors.New("no trace to open")
	}
	if err := givenTwice(paths); err != nil {
		return nil, err
	}
	o.inFileOrder = o.inFileOrder && len(paths) == 1
	if f := openSession(paths, o); f != nil {
		return Merge(f), nil
	}
	var files []*File
	for _, path := range paths {
		more, err := openFiles(path, o)
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			return nil, err
		}
		files = append(files, more...)
	}
	t := Merge(files...)
	t.once = same.NewOnce(!o.repeated && slices.ContainsFunc(files, func(f *File) bool { return f.part != nil }))
	return t, nil
}

// ErrTwice says that a file is given twice. Its events would count double.
var ErrTwice = errors.New("it is given twice")

// givenTwice returns an error if two paths lead to one file.
func givenTwice(paths []string) error {
	bySize := make(map[int64][]os.FileInfo)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // what is wrong with it is for whoever opens it to say
		}
		same := bySize[info.Size()]
		if slices.ContainsFunc(same, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return inFile(path, ErrTwice)
		}
		bySize[info.Size()] = append(same, info)
	}
	return nil
}

// openSession opens several files by the merge of their format, which for .etl
// files of one session is exact to the tick. It returns nil for other files.
func openSession(paths []string, opts options) *File {
	if len(paths) < 2 || opts.apart {
		return nil
	}
	first, ok := formatOfFile(paths[0]).(merged)
	for _, path := range paths[1:] {
		if ok = ok && formatOfFile(path) == first.(format); !ok {
			break
		}
	}
	if !ok {
		return nil
	}
	r, err := first.session(paths, &opts)
	if err != nil {
		return nil // opening them one by one says what is wrong
	}
	o := &opening{options: opts, name: paths[0] + " and " + strconv.Itoa(len(paths)-1) + " more", size: -1}
	return o.found(r)
}
