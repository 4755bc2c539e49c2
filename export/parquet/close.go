package parquet

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/order"
)

// makeTemp makes the folder of unfinished files, and notes the other folders made for it.
func (w *Writer) makeTemp() error {
	for dir := filepath.Dir(w.temp); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		w.made = append(w.made, dir)
	}
	return makeFolder(w.temp)
}

// Abort ends an export that is not closed, and leaves nothing of it: no folder, either,
// that it made and nobody else has put something into.
func (w *Writer) Abort() {
	_ = w.pool.Close() // its error was returned
	_ = os.RemoveAll(w.temp)
	_ = os.Remove(filepath.Dir(w.temp)) // if no other export is under way
	for _, dir := range w.made {
		if os.Remove(dir) != nil && !isGone(dir) {
			break
		}
	}
}

func isGone(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// Close ends all files and makes them visible, in place of an earlier export of the same
// recording. complete says that the trace was read to its end.
func (w *Writer) Close(losses Losses, complete bool) (*Manifest, error) {
	defer w.Abort()
	if err := w.pool.Close(); err != nil {
		return nil, err
	}
	if err := w.sealAll(); err != nil {
		return nil, err
	}
	if err := w.summary(losses, complete); err != nil {
		return nil, err
	}
	for _, p := range w.others {
		if err := w.finish(w.own, p); err != nil {
			return nil, err
		}
	}
	m := &w.m
	m.Losses, m.Complete, m.Files = losses, complete, w.files
	runs, err := runsOf(w.opts.Dir, m.TraceID)
	if err != nil {
		return nil, err
	}
	m.Date = dateOf(w.opts.Start)
	m.Run = newRun(runs)
	moves := make([]move, len(w.files))
	for i, f := range w.files {
		f.finish()
		f.Path = w.pathOf(f)
		m.Bytes += f.Bytes
		moves[i] = move{filepath.Join(w.temp, strconv.Itoa(i)), filepath.Join(w.opts.Dir, filepath.FromSlash(f.Path))}
	}
	order.Sort(m.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	if err := commit(m, filepath.Join(manifestsOf(w.opts.Dir, m.TraceID), m.fileName()), w.temp, moves); err != nil {
		return nil, err
	}
	return m, removeOlder(w.opts.Dir, m.TraceID)
}

// unknownDate is the folder of a day that is not known: engines read it as null.
const unknownDate = "__HIVE_DEFAULT_PARTITION__"

// dateOf returns the day of a time in UTC.
func dateOf(t time.Time) string {
	if t.IsZero() {
		return unknownDate
	}
	return t.UTC().Format(time.DateOnly)
}

// pathOf returns where a file belongs.
func (w *Writer) pathOf(f *File) string {
	name := folderName(filepath.Base(filepath.ToSlash(w.opts.Trace)))
	if len(name) > 60 {
		name = name[:60]
	}
	name += "-" + w.m.TraceID + "-" + w.m.Run
	if f.number > 0 {
		name += "-" + strconv.Itoa(f.number)
	}
	return path.Join(f.folder, "date="+w.m.Date, name+".parquet")
}
