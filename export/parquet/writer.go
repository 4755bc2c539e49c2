package parquet

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Options say what is written, and where.
type Options struct {
	Dir string // of the lake, which is made if there is none
	// Trace is the name of the trace, as the column trace has it.
	Trace string
	// ID tells traces of the same name apart, and is the same whenever the same trace
	// is exported: its files then replace those of the last time. Without it the name
	// has to do.
	ID   string
	Host string // that the trace is from; "" is unknown
	// Providers are those whose events are known, such as clr.Provider. Columns are
	// made of all versions that they have of an event.
	Providers []*etw.Provider
	// Decoder decodes the events. Nil is etw.NewDecoder(Providers...).
	Decoder *etw.Decoder
	// Source is kept in the manifest.
	Source map[string]string
	// MaxMemory is about how many bytes of rows are held, 0 for 48 MiB; RowGroup is
	// how many rows a row group has at most, 0 for 262,144.
	MaxMemory int
	RowGroup  int
}

// The defaults, and the limit of types of events whose files are written at a time.
const (
	defaultMemory   = 48 << 20
	defaultRowGroup = 1 << 18
	maxTables       = 1024
)

// A Writer exports one trace. Its files are where they belong, all of them, once it is
// closed; before that there are none.
type Writer struct {
	opts    Options
	host    string // as the folder is called
	base    string // of names of files
	temp    string
	made    []string // folders that were not there, the innermost first
	trace   []byte
	decoder *etw.Decoder
	known   *catalogue
	enc     *file.Encoder
	buf     *bufio.Writer
	shred   shredder

	byKind  []*events // by the index of the event
	tables  map[string]*events
	open    int // tables that have a file
	others  []*part
	files   []*File
	pending int // bytes of payloads since memory was looked at
	m       Manifest
}

// New begins the export of a trace.
func New(o Options) (*Writer, error) {
	o.Host = cmp.Or(o.Host, "unknown")
	o.ID = cmp.Or(o.ID, o.Trace)
	if o.MaxMemory <= 0 {
		o.MaxMemory = defaultMemory
	}
	if o.RowGroup <= 0 {
		o.RowGroup = defaultRowGroup
	}
	if o.Decoder == nil {
		o.Decoder = etw.NewDecoder(o.Providers...)
	}
	enc, err := file.NewEncoder()
	if err != nil {
		return nil, err
	}
	w := &Writer{opts: o, host: folderName(o.Host), base: baseName(o.Trace, o.ID), trace: []byte(strings.ToValidUTF8(o.Trace, "\uFFFD")),
		decoder: o.Decoder, known: newCatalogue(o.Providers, o.Decoder.Find), enc: enc, buf: bufio.NewWriterSize(nil, 64<<10), tables: make(map[string]*events)}
	w.m = Manifest{Schema: ManifestSchema, Trace: o.Trace, ID: o.ID, Host: o.Host, Source: o.Source}
	w.temp = filepath.Join(o.Dir, manifestFolder, w.base+".partial")
	if err := os.RemoveAll(w.temp); err != nil {
		return nil, err
	}
	return w, w.makeTemp()
}

// makeTemp makes the folder of what is not finished, and notes which others that takes.
func (w *Writer) makeTemp() error {
	for dir := filepath.Dir(w.temp); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		w.made = append(w.made, dir)
	}
	var err error
	for range 10 { // another export may remove one that it has made, too
		if err = os.MkdirAll(w.temp, 0o777); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return err
}

// Export exports all records of src. An error of the source is in the manifest, which
// then is not Complete; what came before is exported. Other errors leave nothing.
// losses, unless it is nil, is asked at the end what the trace lacks.
func Export(ctx context.Context, src etw.Source, o Options, losses func() Losses) (*Manifest, error) {
	w, err := New(o)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	var r etw.Record
	var trouble []error
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err := src.Next(&r)
		if err == io.EOF {
			break
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if trouble = append(trouble, err); len(trouble) == maxTrouble {
				break
			}
			continue
		}
		if err := w.Add(&r); err != nil {
			return nil, err
		}
	}
	var l Losses
	if losses != nil {
		l = losses()
	}
	for _, err := range trouble {
		l.Problems = append(l.Problems, err.Error())
	}
	return w.Close(l, len(trouble) == 0)
}

// maxTrouble is how often a source may fail: it has one error before the end.
const maxTrouble = 16

// Add adds an event.
func (w *Writer) Add(r *etw.Record) error {
	values, err := w.decoder.Decode(r)
	return w.AddDecoded(r, w.decoder.Event(r), values, err)
}

// AddDecoded adds an event that is decoded already: info and values are what the
// decoder of the options has for it, and fault is its error.
func (w *Writer) AddDecoded(r *etw.Record, info *etw.EventInfo, values etw.Described, fault error) error {
	for info.Index >= len(w.byKind) {
		w.byKind = append(w.byKind, nil)
	}
	t := w.byKind[info.Index]
	if t == nil {
		t = w.table(r, info)
		w.byKind[info.Index] = t
	}
	w.m.Events++
	w.m.PayloadBytes += int64(len(r.Payload))
	switch {
	case values == nil:
		w.m.Undescribed++
	case fault != nil:
		w.m.Undecodable++
	}
	fresh := t.part == nil
	if err := t.add(r, values); err != nil {
		return err
	}
	if fresh {
		w.open++
	}
	if t.part.w.Pending() >= int64(w.opts.RowGroup) {
		if err := t.part.flush(true); err != nil {
			return err
		}
	}
	if w.pending += len(r.Payload) + 100; w.pending >= w.opts.MaxMemory/64 || w.open > maxTables {
		w.pending = 0
		return w.relieve()
	}
	return nil
}

// table returns the table of events like r.
func (w *Writer) table(r *etw.Record, info *etw.EventInfo) *events {
	name := typeName(info, r)
	folder := "event=" + TypeName(info, r)
	key := strings.ToLower(folder)
	t := w.tables[key]
	if t == nil {
		t = &events{w: w, folder: folder, provider: info.Provider, event: name, shape: newShape(),
			ids: make(map[uint16]bool), versions: new([256]int64)}
		w.tables[key] = t
	}
	t.ids[r.Key().ID] = true
	if info.Desc != nil && t.part == nil {
		// Room for the fields of all versions, before any row is written.
		for _, d := range w.known.versions(r, info.Desc) {
			t.shape.fit(d)
		}
	}
	return t
}

// relieve writes rows if too many are held.
func (w *Writer) relieve() error {
	sum, most := 0, 0
	var largest *events
	for _, t := range w.tables {
		if t.part == nil {
			continue
		}
		n := t.part.w.Memory()
		sum += n
		if n > most || n == most && t.folder < largest.folder {
			largest, most = t, n
		}
	}
	switch {
	case sum <= w.opts.MaxMemory && w.open <= maxTables:
		return nil
	case most >= w.opts.MaxMemory/8 && largest.part.w.Pending() > 0 && w.open <= maxTables:
		return largest.part.flush(false)
	}
	return w.sealAll() // there are many, and all of them small
}

// sealAll ends the files of all tables.
func (w *Writer) sealAll() error {
	w.open = 0
	for _, key := range slices.Sorted(maps.Keys(w.tables)) {
		if err := w.tables[key].seal(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all files and puts them where they belong, in place of what an earlier
// export of the same trace has left. complete says that the trace was read to its end.
func (w *Writer) Close(losses Losses, complete bool) (*Manifest, error) {
	defer w.Abort()
	if err := w.sealAll(); err != nil {
		return nil, err
	}
	for _, p := range w.others {
		if err := w.finish(p); err != nil {
			return nil, err
		}
	}
	m := &w.m
	m.Losses, m.Complete, m.Files = losses, complete, w.files
	before, err := ReadManifest(w.opts.Dir, w.opts.Trace, w.opts.ID)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		before = nil // it is damaged, and is replaced
	}
	kept := make(map[string]bool)
	for i, f := range w.files {
		f.finish()
		m.Bytes += f.Bytes
		kept[f.Path] = true
		to := filepath.Join(w.opts.Dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(w.temp, strconv.Itoa(i)), to); err != nil {
			return nil, err
		}
	}
	if before != nil {
		for _, f := range before.Files {
			if !kept[f.Path] && filepath.IsLocal(filepath.FromSlash(f.Path)) {
				_ = os.Remove(filepath.Join(w.opts.Dir, filepath.FromSlash(f.Path))) // it may be gone
			}
		}
	}
	order.Sort(m.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return m, m.write(manifestPath(w.opts.Dir, w.base))
}

// Abort ends an export that is not closed, and leaves nothing of it: no folder, either,
// that it made and nobody else has put something into.
func (w *Writer) Abort() {
	_ = os.RemoveAll(w.temp)
	for _, dir := range w.made {
		if os.Remove(dir) != nil {
			break
		}
	}
}

// TypeName returns what all versions of an event are called, with their provider, as a part
// of a path that all systems can have.
func TypeName(info *etw.EventInfo, r *etw.Record) string {
	return folderName(info.Provider + "." + typeName(info, r))
}

// typeName returns what all versions of an event are called.
func typeName(info *etw.EventInfo, r *etw.Record) string {
	name := info.Name
	if info.Desc != nil && info.Desc.Name != "" {
		return withoutVersion(name)
	}
	if r.Kind == etw.KindManifest && !strings.HasSuffix(name, fmt.Sprint(r.ID)) {
		// Several events of a provider can have the same task and opcode.
		name += "." + strconv.Itoa(int(r.ID))
	}
	return name
}

// withoutVersion returns a name without the number of a version at its end.
func withoutVersion(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if short, ok := strings.CutSuffix(base, "_V"); ok && base != name && short != "" {
		return short
	}
	return name
}

// maxFolder is how long the name of a folder may be, in bytes.
const maxFolder = 180

// folderName returns a name that all systems and engines can have as part of a path:
// a stroke becomes a dot, a space an underscore, and other characters than letters,
// digits, dots, minus and underscores become percent signs and numbers. Engines decode it, and
// refuse a whole lake for a name that is no UTF-8, so it is cut between characters.
func folderName(name string) string {
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(name, "\ufffd") {
		before := b.Len()
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			b.WriteRune(c)
		case c == '/':
			b.WriteByte('.')
		case c == ' ':
			b.WriteByte('_')
		default:
			for _, x := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02X", x)
			}
		}
		if b.Len() > maxFolder {
			return b.String()[:before] + "~" + hex8(sha256.Sum256([]byte(name)))
		}
	}
	if !utf8.ValidString(name) {
		b.WriteString("~" + hex8(sha256.Sum256([]byte(name))))
	}
	return b.String()
}

// baseName returns the name, without a suffix, of the files of a trace.
func baseName(trace, id string) string {
	name := folderName(filepath.Base(filepath.ToSlash(trace)))
	if len(name) > 60 {
		name = name[:60]
	}
	return name + "-" + hex8(sha256.Sum256([]byte(trace+"\x00"+id)))
}
