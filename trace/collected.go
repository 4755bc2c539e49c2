package trace

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/etwgen/etwgen/runtime/ctf"
	"github.com/etwgen/etwgen/runtime/perfdata"
)

// The names of the recording of perf in the .trace.zip of perfcollect, of which the first one
// that is there has all that the others have, and is exact. The last one is text of perf script.
var perfNames = []string{"perf.data", "perf-jit.data", perfText}

const perfText = "perf.data.txt"

// A collected is the part of an archive that perfcollect has put into it.
type collected struct {
	names  map[string]bool
	maps   []*zip.File // perf-PID.map
	unread error       // the first stream of LTTng without metadata beside it
}

// collectedBy looks through the names of an archive.
func collectedBy(archive *zip.Reader) *collected {
	c := &collected{names: make(map[string]bool)}
	for _, f := range archive.File {
		c.names[f.Name] = true
		if pidOf(f.Name) > 0 {
			c.maps = append(c.maps, f)
		}
	}
	return c
}

// pidOf returns the number of the process of perf-PID.map, 0 of other files.
func pidOf(name string) (pid int32) {
	name = path.Base(name)
	if _, err := fmt.Sscanf(name, "perf-%d.map", &pid); err != nil || name != fmt.Sprintf("perf-%d.map", pid) {
		return 0
	}
	return pid
}

// surplus reports whether another file in the same folder has the same recording.
func (c *collected) surplus(name string) bool {
	dir, base := path.Split(name)
	at := slices.Index(perfNames, base)
	return at > 0 && slices.ContainsFunc(perfNames[:at], func(better string) bool { return c.names[dir+better] })
}

// format returns the format of a file of the archive that is to be read, else nil. It notes that
// a stream of LTTng is not read, of which one stands for all.
func (c *collected) format(f *zip.File) (format, error) {
	if c.surplus(f.Name) {
		return nil, nil
	}
	of, err := memberFormat(f)
	if foreign := (*foreignError)(nil); errors.As(err, &foreign) {
		if c.unread == nil && !c.names[path.Join(path.Dir(f.Name), ctf.Metadata)] {
			c.unread = fmt.Errorf("%s: %w", f.Name, err)
		}
		return nil, nil
	}
	return of, err
}

// options returns options for a perf.data, with the names of compiled code.
func (c *collected) options(given []perfdata.Option, allowed *allowance) []perfdata.Option {
	list := slices.Clone(given)
	for _, f := range c.maps {
		list = append(list, perfdata.WithMap(pidOf(f.Name), func() (io.ReadCloser, error) {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			return &mapReader{unpacker{r, allowed}, r}, nil
		}))
	}
	return list
}

// A mapReader reads one, within the allowance of its archive.
type mapReader struct {
	unpacker
	io.Closer
}
