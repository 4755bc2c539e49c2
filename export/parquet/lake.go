package parquet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/order"
)

// A Lake is the contents of its folder, and the part that holds.
type Lake struct {
	Dir string
	// Manifests are those that hold, one of each recording, in order of their trace ids.
	Manifests []*Manifest
	// Replaced are the files of manifests in whose place others have come, and Damaged those
	// that cannot be read, with the error. Both are paths from the lake, with slashes.
	Replaced []string
	Damaged  map[string]error

	compactions []*compaction             // in order of their runs
	in          map[*Manifest]*compaction // that recordings are read from
}

// OpenLake reads all manifests of a lake.
func OpenLake(dir string) (*Lake, error) {
	folders, err := os.ReadDir(filepath.Join(dir, manifestFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no lake: it has no folder %s: %w", dir, manifestFolder, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	l := &Lake{Dir: dir, Damaged: make(map[string]error)}
	for _, f := range folders {
		if f.IsDir() {
			if err := l.read(manifestFolder + "/" + f.Name()); err != nil {
				return nil, err
			}
		}
	}
	return l, l.readCompactions()
}

// read reads the manifests in a folder.
func (l *Lake) read(folder string) error {
	list, err := os.ReadDir(filepath.Join(l.Dir, filepath.FromSlash(folder)))
	if err != nil {
		return err
	}
	for i, e := range list {
		id, _, ok := parseManifestName(e.Name())
		if !ok {
			continue
		}
		path := folder + "/" + e.Name()
		if i+1 < len(list) {
			if next, _, ok := parseManifestName(list[i+1].Name()); ok && next == id {
				l.Replaced = append(l.Replaced, path)
				continue
			}
		}
		m, err := readManifest(filepath.Join(l.Dir, filepath.FromSlash(path)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // an export has come in its place
		case err != nil:
			l.Damaged[path] = err
		default:
			l.Manifests = append(l.Manifests, m)
		}
	}
	return nil
}

// Files returns the files that hold, in order of their paths.
func (l *Lake) Files() []*File {
	var list []*File
	for _, m := range l.Manifests {
		if l.in[m] == nil {
			list = append(list, m.Files...)
		}
	}
	for _, c := range l.compactions {
		if len(c.live) > 0 {
			list = append(list, c.Files...)
		}
	}
	order.Sort(list, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// A Report says how a lake is.
type Report struct {
	Recordings, Files int
	Rows, Bytes       int64
	// Missing are files that manifests list and that are not there, or not as they were
	// written: their rows are lost until the trace is exported again.
	Missing []string
	// Orphans are files of which no manifest speaks, such as those of an export that was
	// killed, and Unfinished the folders of exports that are under way, or were. Nobody
	// sees either; [Lake.Clean] removes them.
	Orphans, Unfinished []string
	OrphanBytes         int64
}

// Check holds the files against the manifests.
func (l *Lake) Check() (*Report, error) {
	r := &Report{Recordings: len(l.Manifests)}
	listed := make(map[string]*File)
	for _, f := range l.Files() {
		listed[f.Path] = f
		r.Files++
		r.Bytes += f.Bytes
		if err := l.checkFile(f); err != nil {
			r.Missing = append(r.Missing, f.Path+": "+err.Error())
		}
	}
	for _, m := range l.Manifests {
		for _, f := range m.Files {
			r.Rows += f.Rows
		}
	}
	for _, c := range l.compactions {
		r.Missing = append(r.Missing, c.checkRows()...)
	}
	err := l.walk(func(path string, info fs.FileInfo) {
		if listed[path] == nil {
			r.Orphans = append(r.Orphans, path)
			r.OrphanBytes += info.Size()
		}
	})
	if err != nil {
		return nil, err
	}
	err = l.walkRuns(func(path string, _ time.Time) { r.Unfinished = append(r.Unfinished, path) })
	return r, err
}

// checkFile reports the fault of a file that a manifest lists: it is not there, has another
// size, or no end of a file of Parquet.
func (l *Lake) checkFile(f *File) error {
	local := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(local) {
		return errors.New("lies outside of the lake")
	}
	r, err := os.Open(filepath.Join(l.Dir, local))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("is not there")
	}
	if err != nil {
		return err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.Bytes {
		return fmt.Errorf("has %d bytes, not %d", info.Size(), f.Bytes)
	}
	var end [4]byte
	if _, err := r.ReadAt(end[:], max(0, f.Bytes-4)); err != nil && err != io.EOF {
		return err
	}
	if string(end[:]) != "PAR1" {
		return errors.New("is no whole file of Parquet")
	}
	return nil
}

// walk calls do for each file of Parquet in the folders of events and tables.
func (l *Lake) walk(do func(path string, info fs.FileInfo)) error {
	return fs.WalkDir(os.DirFS(l.Dir), ".", func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another export has removed it
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != "." && !isDataFolder(path) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".parquet") {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			do(path, info)
		}
		return err
	})
}

// isDataFolder reports whether a path leads to files of events or tables.
func isDataFolder(path string) bool {
	return strings.HasPrefix(path, "event=") || strings.HasPrefix(path, "table=")
}

// Clean removes files that nobody sees and nobody has touched for an age, which has to be longer
// than an export takes: files of which no manifest speaks, manifests in whose place others have
// come, and leftovers of exports that were killed. It returns the paths of the removed files.
func (l *Lake) Clean(age time.Duration) ([]string, error) {
	limit := time.Now().Add(-age)
	var removed []string
	for _, path := range l.Replaced {
		if err := removeExport(l.Dir, filepath.Join(l.Dir, filepath.FromSlash(path))); err != nil {
			return removed, err
		}
		removed = append(removed, path)
	}
	if len(l.Damaged) > 0 { // and what they listed is not known
		return removed, nil
	}
	if err := l.removeDead(func(path string) { removed = append(removed, path) }); err != nil {
		return removed, err
	}
	listed := make(map[string]bool)
	for _, f := range l.Files() {
		listed[f.Path] = true
	}
	var orphans []string
	err := l.walk(func(path string, info fs.FileInfo) {
		if !listed[path] && info.ModTime().Before(limit) {
			orphans = append(orphans, path)
		}
	})
	if err != nil {
		return removed, err
	}
	if err := l.walkRuns(func(path string, touched time.Time) {
		if touched.Before(limit) {
			orphans = append(orphans, path)
		}
	}); err != nil {
		return removed, err
	}
	for _, path := range orphans {
		if err := os.RemoveAll(filepath.Join(l.Dir, filepath.FromSlash(path))); err != nil {
			return removed, err
		}
		removed = append(removed, path)
	}
	return removed, nil
}

// walkRuns calls do for each folder of unfinished files, with the time when something was
// written there last.
func (l *Lake) walkRuns(do func(path string, touched time.Time)) error {
	runs, err := os.ReadDir(filepath.Join(l.Dir, runFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, run := range runs {
		path := runFolder + "/" + run.Name()
		var touched time.Time
		_ = fs.WalkDir(os.DirFS(l.Dir), path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // it is gone, or of no concern
			}
			if info, err := e.Info(); err == nil && info.ModTime().After(touched) {
				touched = info.ModTime()
			}
			return nil
		})
		if !touched.IsZero() {
			do(path, touched)
		}
	}
	return err
}

// ManifestPaths returns where the manifests of the compactions and the recordings that hold are,
// from the lake.
func (l *Lake) ManifestPaths() (compactions, recordings []string) {
	for _, c := range l.compactions {
		if len(c.live) > 0 {
			compactions = append(compactions, c.path())
		}
	}
	for _, m := range l.Manifests {
		recordings = append(recordings, manifestFolder+"/"+m.TraceID[:2]+"/"+m.fileName())
	}
	return compactions, recordings
}
