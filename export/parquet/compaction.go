package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A compaction has the rows of many recordings of a day or a longer period, in a few files for each type of event
// and each table. Its manifest lies in the folder _compacted of a lake.
//
// A recording is read where the newest compaction says that has this export of it, and otherwise
// from files of its own. So nothing has to be changed for all recordings at once, an export that
// comes later holds, and the order in which compactions of the same recordings end is of no matter.
// Rows of a recording that is read from elsewhere are stale: see [Lake.View].
type compaction struct {
	Schema int    `json:"schema"`
	Run    string `json:"run"`
	Date   string `json:"date"`             // the first of the period
	Period Period `json:"period,omitempty"` // a day, if it is left out
	// Recordings has the run of each, by its trace id.
	Recordings map[string]string `json:"recordings"`
	Bytes      int64             `json:"bytes"` // of all files
	Files      []*File           `json:"files"`

	live  []*Manifest // the recordings that are read from it
	stale []string    // trace ids of the others
}

// check refuses a compaction with files or recordings that no lake has.
func (c *compaction) check(name string) error {
	for id := range c.Recordings {
		if !isTraceID(id) {
			return fmt.Errorf("%s: %q is no id of a recording", name, id)
		}
	}
	return checkFiles(name, c.Files)
}

const compactionFolder = "_compacted"

// period returns the period of the recordings.
func (c *compaction) period() Period { return cmp.Or(c.Period, Day) }

// path returns where the manifest is, from the lake.
func (c *compaction) path() string { return compactionFolder + "/" + c.Run + ".json" }

// compactionsOf returns the names of the manifests of compactions, that of the newest last.
func compactionsOf(dir string) ([]string, error) {
	list, err := os.ReadDir(filepath.Join(dir, compactionFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if len(e.Name()) == runDigits+len(".json") && strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// readCompactions reads all compactions, and finds out which recordings are read from which.
func (l *Lake) readCompactions() error {
	for range 10 {
		names, err := compactionsOf(l.Dir)
		if err != nil {
			return err
		}
		l.compactions = nil
		var gone error
		for _, name := range names {
			c := new(compaction)
			path := compactionFolder + "/" + name
			switch err := readJSON(filepath.Join(l.Dir, filepath.FromSlash(path)), c, &c.Schema); {
			case errors.Is(err, fs.ErrNotExist):
				gone = err // another has come in its place, which may not be in the list
			case err != nil:
				l.Damaged[path] = err
			case c.check(path) != nil:
				l.Damaged[path] = c.check(path)
			default:
				c.Run = runOf(name)
				l.compactions = append(l.compactions, c)
			}
		}
		if gone == nil {
			l.assign()
			return nil
		}
	}
	return fmt.Errorf("%s: compactions come and go", l.Dir)
}

// assign finds out from which compaction each recording is read.
func (l *Lake) assign() {
	l.in = make(map[*Manifest]*compaction)
	for _, m := range l.Manifests {
		for _, c := range l.compactions {
			if c.Recordings[m.TraceID] == m.Run {
				l.in[m] = c
			}
		}
		if c := l.in[m]; c != nil {
			c.live = append(c.live, m)
		}
	}
	for _, c := range l.compactions {
		live := make(map[string]bool)
		for _, m := range c.live {
			live[m.TraceID] = true
		}
		for _, id := range slices.Sorted(maps.Keys(c.Recordings)) {
			if !live[id] {
				c.stale = append(c.stale, id)
			}
		}
		for _, f := range c.Files {
			f.stale = c.stale
		}
	}
}

// checkRows finds files of a compaction that do not have as many rows as the manifests of its
// recordings say, by type.
func (c *compaction) checkRows() (faults []string) {
	rows := make(map[string]int64)
	for _, m := range c.live {
		for _, f := range m.Files {
			rows[folderOf(f.Path)] += f.Rows
		}
	}
	for _, f := range c.Files {
		rows[folderOf(f.Path)] -= f.Rows
	}
	for _, folder := range slices.Sorted(maps.Keys(rows)) {
		if n := rows[folder]; n > 0 || n < 0 && len(c.stale) == 0 {
			faults = append(faults, fmt.Sprintf("%s: of %s it has %d rows less than its recordings", c.path(), folder, n))
		}
	}
	return faults
}

// remove removes a compaction that nothing is read from: the manifest first.
func (c *compaction) remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(c.path()))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removeFiles(dir, c.Files)
	return nil
}

// folderOf returns the folder of the type of events or table that a path leads through.
func folderOf(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}
