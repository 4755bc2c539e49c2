package parquet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/internal/order"
)

// maxCompacted is the size from which on rows go on in another file.
const maxCompacted = 128 << 20

// Compacted tells of the compaction of a period, which begins on a date.
type Compacted struct {
	Date       string
	Recordings int
	// Files and Bytes are those that the recordings had before, and have now.
	FilesBefore, FilesAfter int
	BytesBefore, BytesAfter int64
}

// A Period is the time that recordings are merged by.
type Period string

// The periods. Weeks begin on Mondays.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// Periods are all of them, the longest last.
var Periods = []Period{Day, Week, Month}

// first returns the first day of the period that a day is in.
func (p Period) first(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	switch {
	case err != nil: // it is not known
	case p == Week:
		date = t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
	case p == Month:
		date = date[:len(date)-2] + "01"
	}
	return date
}

// longer reports whether p is longer than q.
func (p Period) longer(q Period) bool { return slices.Index(Periods, p) > slices.Index(Periods, q) }

// Compact merges the files of recordings into a few for each period and each type of event or table,
// and calls done for each period of which it did so. It takes the recordings that have files of
// their own, and earlier compactions: those of shorter periods, and of these that are no larger than the rest or
// have stale rows. A recording with a file that cannot be read stays as it is, and the error names it.
func Compact(ctx context.Context, dir string, by Period, done func(Compacted)) error {
	var trouble []error
	skip := make(map[string]bool) // recordings and compactions, by trace id and run
	again := make(map[string]bool)
	for {
		l, err := OpenLake(dir)
		if err != nil {
			return err
		}
		for path, err := range l.Damaged { // rows of its recording would seem to be stale
			return fmt.Errorf("%s is damaged, and nothing can be merged before it is removed: %w", path, err)
		}
		err = l.compact(ctx, by, skip, done)
		bad, ok := errors.AsType[*sourceError](err)
		switch {
		case !ok:
			return errors.Join(append(trouble, err)...)
		case errors.Is(bad.err, fs.ErrNotExist) && !again[bad.path]:
			again[bad.path] = true // it may have been exported anew, or be in another compaction
		default:
			skip[bad.key] = true
			trouble = append(trouble, bad)
		}
	}
}

// compact compacts each period that has something to merge.
func (l *Lake) compact(ctx context.Context, by Period, skip map[string]bool, done func(Compacted)) error {
	periods := make(map[string]*periodMerge)
	at := func(date string) *periodMerge {
		date = by.first(date)
		if periods[date] == nil {
			periods[date] = &periodMerge{ctx: ctx, dir: l.Dir, date: date, by: by}
		}
		return periods[date]
	}
	for _, m := range l.Manifests {
		if l.in[m] == nil && !skip[m.TraceID] {
			d := at(m.Date)
			d.fresh = append(d.fresh, m)
			d.bytes += m.Bytes
		}
	}
	old := slices.Clone(l.compactions)
	order.Sort(old, func(a, b *compaction) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for _, c := range old {
		if len(c.live) == 0 || skip[c.Run] || c.period().longer(by) {
			continue
		}
		if d := at(c.Date); len(c.stale) > 0 || by.longer(c.period()) || c.Bytes <= d.bytes {
			d.old = append(d.old, c)
			d.bytes += c.Bytes
		}
	}
	for _, date := range slices.Sorted(maps.Keys(periods)) {
		d := periods[date]
		if len(d.fresh)+len(d.old) < 2 && (len(d.old) == 0 || len(d.old[0].stale) == 0) {
			continue
		}
		r, err := d.run()
		if err != nil {
			return err
		}
		done(*r)
	}
	return nil
}

// A sourceError is the fault of a file that is to be merged.
type sourceError struct {
	key  string // the recording, or the run of the compaction
	path string
	err  error
}

func (e *sourceError) Error() string { return e.path + ": " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// A source is a file that is merged.
type source struct {
	*File
	key    string
	filter *file.Filter
	group  int // of files whose columns fit together
}

// A periodMerge merges the files of a period.
type periodMerge struct {
	ctx   context.Context
	dir   string
	date  string // of the first day
	by    Period
	fresh []*Manifest
	old   []*compaction
	bytes int64

	temp    string
	c       compaction
	moves   []move
	enc     *file.Encoder
	decoder file.Decoder
}

// run merges them, and removes those that nobody reads any more.
func (d *periodMerge) run() (*Compacted, error) {
	names, err := compactionsOf(d.dir)
	if err != nil {
		return nil, err
	}
	d.c = compaction{Schema: ManifestSchema, Run: newRun(names), Date: d.date, Period: d.by, Recordings: make(map[string]string)}
	d.temp = filepath.Join(d.dir, runFolder, rand.Text())
	if err := makeFolder(d.temp); err != nil {
		return nil, err
	}
	defer func() {
		_ = os.RemoveAll(d.temp)
		_ = os.Remove(filepath.Dir(d.temp)) // if no export is under way
	}()
	if d.enc, err = file.NewEncoder(); err != nil {
		return nil, err
	}
	r := &Compacted{Date: d.date}
	sources, rows := d.sources(r)
	for _, folder := range slices.Sorted(maps.Keys(sources)) {
		n, err := d.merge(folder, sources[folder])
		if err != nil {
			return nil, err
		}
		if n != rows[folder] {
			return nil, fmt.Errorf("%s of %s: the files have %d rows, and their manifests list %d: nothing of that time is merged", folder, d.date, n, rows[folder])
		}
	}
	r.Recordings, r.FilesAfter, r.BytesAfter = len(d.c.Recordings), len(d.c.Files), d.c.Bytes
	if err := commit(&d.c, filepath.Join(d.dir, filepath.FromSlash(d.c.path())), d.temp, d.moves); err != nil {
		return nil, err
	}
	return r, d.removeMerged(names)
}

// sources returns the files to be merged by their folder, and how many rows they have there that
// count.
func (d *periodMerge) sources(r *Compacted) (map[string][]*source, map[string]int64) {
	sources, rows := make(map[string][]*source), make(map[string]int64)
	add := func(key string, filter *file.Filter, files []*File) {
		for _, f := range files {
			sources[folderOf(f.Path)] = append(sources[folderOf(f.Path)], &source{File: f, key: key, filter: filter})
			r.FilesBefore++
			r.BytesBefore += f.Bytes
		}
	}
	count := func(m *Manifest) {
		d.c.Recordings[m.TraceID] = m.Run
		for _, f := range m.Files {
			rows[folderOf(f.Path)] += f.Rows
		}
	}
	for _, m := range d.fresh {
		add(m.TraceID, nil, m.Files)
		count(m)
	}
	for _, c := range d.old {
		var filter *file.Filter
		if len(c.stale) > 0 {
			filter = &file.Filter{Column: "trace_id", Keep: func(id []byte) bool { return !slices.Contains(c.stale, string(id)) }}
		}
		add(c.Run, filter, c.Files)
		for _, m := range c.live {
			count(m)
		}
	}
	for _, list := range sources {
		order.Sort(list, func(a, b *source) int { return compareTimes(a.First, b.First) })
	}
	return sources, rows
}

func compareTimes(a, b *time.Time) int {
	return cmp.Or(a, new(time.Time)).Compare(*cmp.Or(b, new(time.Time)))
}

// open opens a file for do.
func (d *periodMerge) open(s *source, do func(r *file.Reader) error) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	var fault error // of do, which names its subject itself
	err := openFile(d.dir, s.Path, func(r *file.Reader) error {
		fault = do(r)
		return nil
	})
	if err != nil {
		return &sourceError{s.key, s.Path, err}
	}
	return fault
}

// openFile opens a file of a lake for do.
func openFile(dir, path string, do func(r *file.Reader) error) error {
	local := filepath.FromSlash(path)
	if !filepath.IsLocal(local) {
		return errors.New("lies outside of the lake")
	}
	f, err := os.Open(filepath.Join(dir, local))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := file.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	return do(r)
}

// merge merges the files of a folder, and returns how many rows they have.
func (d *periodMerge) merge(folder string, list []*source) (int64, error) {
	var groups [][]*file.Node
	for _, s := range list {
		err := d.open(s, func(r *file.Reader) error {
			for s.group = range groups {
				if both, ok := file.Merge(groups[s.group], r.Columns()); ok {
					groups[s.group] = both
					return nil
				}
			}
			s.group = len(groups)
			groups = append(groups, r.Columns())
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	all, number := int64(0), 0
	for i, columns := range groups {
		for rest := order.Delete(slices.Clone(list), func(s *source) bool { return s.group != i }); len(rest) > 0; number++ {
			n, used, err := d.write(folder, number, columns, rest)
			if err != nil {
				return 0, err
			}
			all += n
			rest = rest[used:]
		}
	}
	return all, nil
}

// write writes one file of the first of the list, and returns its rows and how many of the list it has.
func (d *periodMerge) write(folder string, number int, columns []*file.Node, list []*source) (rows int64, used int, err error) {
	to := &File{folder: folder, Versions: make(map[int]int64)}
	name := "compacted-" + d.c.Run
	if number > 0 {
		name += "-" + strconv.Itoa(number)
	}
	to.Path = path.Join(folder, "date="+d.date, name+".parquet")
	m := move{filepath.Join(d.temp, strconv.Itoa(len(d.moves))), filepath.Join(d.dir, filepath.FromSlash(to.Path))}
	out, err := os.Create(m.from)
	if err != nil {
		return 0, 0, err
	}
	defer out.Close()
	w := file.NewWriter(out, columns, [][2]string{{"etwgen.compaction", d.c.Run}})
	w.SortedBy(w.Leaves()[0])
	room := func() error {
		if w.Pending() >= defaultRowGroup || w.Memory() > defaultMemory {
			return w.Flush(d.enc, true)
		}
		return nil
	}
	for used < len(list) && w.Size() < maxCompacted {
		s := list[used]
		err := d.open(s, func(r *file.Reader) error {
			_, err := r.Copy(w, &d.decoder, s.filter, room)
			if err != nil {
				return &sourceError{s.key, s.Path, err}
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		to.describe(s.File)
		used++
	}
	if err := w.Close(d.enc); err != nil {
		return 0, 0, err
	}
	to.Rows, to.Bytes = w.Rows(), w.Size()
	if to.Rows == 0 {
		return 0, used, nil // all of it was stale
	}
	d.c.Files, d.c.Bytes, d.moves = append(d.c.Files, to), d.c.Bytes+to.Bytes, append(d.moves, m)
	return to.Rows, used, out.Close()
}

// describe adds to the description of f that of a file whose rows are in it.
func (f *File) describe(s *File) {
	f.Table, f.Provider, f.Event = s.Table, s.Provider, s.Event
	f.IDs = slices.Compact(slices.Sorted(slices.Values(append(f.IDs, s.IDs...))))
	for v, n := range s.Versions {
		f.Versions[v] += n
	}
	if s.First != nil && (f.First == nil || s.First.Before(*f.First)) {
		f.First = s.First
	}
	if s.Last != nil && (f.Last == nil || s.Last.After(*f.Last)) {
		f.Last = s.Last
	}
}

// removeMerged removes the files that are merged. before are the compactions that there were when it
// began; where there are newer ones, this one may be for nothing.
func (d *periodMerge) removeMerged(before []string) error {
	for _, m := range d.fresh {
		removeFiles(d.dir, m.Files)
	}
	for _, c := range d.old {
		if err := c.remove(d.dir); err != nil {
			return err
		}
	}
	now, err := compactionsOf(d.dir)
	if err != nil || len(now) == 0 || strings.HasPrefix(now[len(now)-1], d.c.Run) {
		return err
	}
	l, err := OpenLake(d.dir)
	if err != nil {
		return err
	}
	return l.removeDead(nil)
}

// removeDead removes compactions that nothing is read from, and calls removed for each.
func (l *Lake) removeDead(removed func(path string)) error {
	for _, c := range l.compactions {
		if len(c.live) > 0 {
			continue
		}
		if err := c.remove(l.Dir); err != nil {
			return err
		}
		if removed != nil {
			removed(c.path())
		}
	}
	return nil
}
