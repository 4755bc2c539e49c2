package parquet

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/internal/lanes"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Options choose the tables to write, and the place.
type Options struct {
	Dir string // of the lake, which is made if there is none
	// Trace is the name of the trace, as the column trace has it.
	Trace string
	// ID stands for the content, such as [ContentID]: a trace with the same ID and the same
	// host is the same recording, whatever its name, and takes the place of an earlier
	// export of it. Without it each export is a recording of its own.
	ID       string
	Host     string   // that the trace is from, [KeyHost] of the Resource; "" is unknown
	Resource Resource // whose recording it is
	// Start is when the recording was begun; without it, the first event says.
	Start time.Time
	Types Types
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

// maxTables is the limit of types of events whose files are written at a time.
const maxTables = 1024

// minBatch is how many bytes of payloads are handled at a time, at least.
const minBatch = 256 << 10

// A Writer exports one trace. Its files are where they belong, all of them, once it is
// closed; before that there are none.
type Writer struct {
	opts    Options
	temp    string
	made    []string // folders that were not there, the innermost first
	fixed   *constants
	decoder *etw.Decoder
	known   *catalogue
	pool    *lanes.Pool[*events, *row]
	hands   []*hand // of the workers of the pool
	own     *hand   // of the caller

	byKind  []*events // by the index of the event
	tables  map[string]*events
	others  []*part
	stacks  *result         // the table of stacks, once there is one
	written map[string]bool // the ids of these
	pending int             // bytes of payloads of the batch
	m       Manifest

	mu     sync.Mutex // of what follows
	files  []*File
	opened []*events // tables that have a file
}

// A hand has all that rows are put into columns with, and columns into files.
type hand struct {
	enc    *file.Encoder
	buf    *bufio.Writer
	shred  shredder
	values etw.Dynamic
}

func newHand() (*hand, error) {
	enc, err := file.NewEncoder()
	return &hand{enc: enc, buf: bufio.NewWriterSize(nil, 64<<10)}, err
}

// New begins the export of a trace.
func New(o Options) (*Writer, error) {
	if strings.Contains(o.Dir, "://") {
		return nil, fmt.Errorf("parquet: %s is no folder, but a URL", o.Dir)
	}
	o.Resource = maps.Clone(o.Resource)
	if o.Host = cmp.Or(o.Host, o.Resource[KeyHost]); o.Host != "" {
		if o.Resource == nil {
			o.Resource = make(Resource)
		}
		o.Resource[KeyHost] = o.Host
	}
	if o.ID == "" {
		o.ID = "once-" + rand.Text()
	}
	if o.MaxMemory <= 0 {
		o.MaxMemory = defaultMemory
	}
	if o.RowGroup <= 0 {
		o.RowGroup = defaultRowGroup
	}
	if o.Decoder == nil {
		o.Decoder = etw.NewDecoder(o.Providers...)
	}
	own, err := newHand()
	if err != nil {
		return nil, err
	}
	id := TraceID(o.Host, o.ID)
	w := &Writer{opts: o, fixed: constantsOf(o.Trace, id, o.Resource),
		decoder: o.Decoder, known: newCatalogue(o.Providers, o.Decoder.Find), own: own, tables: make(map[string]*events)}
	w.m = Manifest{Schema: ManifestSchema, TraceID: id, Trace: o.Trace, ID: o.ID, Host: o.Host, Resource: o.Resource, Source: o.Source}
	w.temp = filepath.Join(o.Dir, runFolder, rand.Text())
	if err := w.makeTemp(); err != nil {
		return nil, err
	}
	w.pool = lanes.New(func() *row { return new(row) }, w.handle, w.relieve)
	for range w.pool.Workers() {
		h, err := newHand()
		if err != nil {
			w.Abort()
			return nil, err
		}
		w.hands = append(w.hands, h)
	}
	return w, nil
}

// Export exports all records of src. An error of the source is in the manifest, which then
// is not Complete; the part before it is exported. Other errors leave nothing. losses,
// unless it is nil, is asked at the end for the losses of the trace.
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

// AddDecoded adds an event that is decoded already: info and values are the output of the
// decoder of the options, and fault is its error.
func (w *Writer) AddDecoded(r *etw.Record, info *etw.EventInfo, values etw.Described, fault error) error {
	for info.Index >= len(w.byKind) {
		w.byKind = append(w.byKind, nil)
	}
	t := w.byKind[info.Index]
	var met *kind
	if t == nil {
		t, met = w.table(r, info)
		w.byKind[info.Index] = t
	}
	x := w.pool.Next(t)
	x.set(r, met, values)
	if w.m.Events == 0 && w.opts.Start.IsZero() && r.Clock != nil {
		w.opts.Start = r.Clock.FileTime(r.Timestamp).Time()
	}
	w.m.Events++
	w.m.PayloadBytes += int64(len(r.Payload))
	switch {
	case values == nil:
		w.m.Undescribed++
	case fault != nil:
		w.m.Undecodable++
	}
	if !w.pool.Direct() {
		x.payload, x.values = w.pool.Keep(r.Payload), nil
	}
	if err := w.pool.Add(); err != nil {
		return err
	}
	if w.pending += len(r.Payload) + 100; w.pending >= max(w.opts.MaxMemory/64, minBatch) || w.pool.Lanes() >= maxTables {
		w.pending = 0
		return w.pool.End()
	}
	return nil
}

// handle adds a row to its table.
func (w *Writer) handle(worker int, t *events, x *row) error {
	h := w.hands[worker]
	if err := t.add(h, x); err != nil {
		return err
	}
	if t.part.w.Pending() >= int64(w.opts.RowGroup) {
		return t.part.flush(h, true)
	}
	return nil
}

// table returns the table of events like r, which is the first of its kind.
func (w *Writer) table(r *etw.Record, info *etw.EventInfo) (*events, *kind) {
	name := typeName(info, r)
	folder := "event=" + TypeName(info, r)
	key := strings.ToLower(folder)
	t := w.tables[key]
	if t == nil {
		t = &events{w: w, folder: folder, provider: info.Provider, event: name, shape: newShape(w.opts.Types),
			ids: make(map[uint16]bool), versions: new([256]int64)}
		w.tables[key] = t
	}
	k := &kind{id: r.Key().ID}
	if info.Desc != nil {
		k.versions = w.known.versions(r, info.Desc)
	}
	return t, k
}

// relieve writes rows if too many are held.
func (w *Writer) relieve() error {
	sum, most := 0, 0
	var largest *events
	for _, t := range w.opened {
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
	case sum <= w.opts.MaxMemory && len(w.opened) <= maxTables:
		return nil
	case most >= w.opts.MaxMemory/8 && largest.part.w.Pending() > 0 && len(w.opened) <= maxTables:
		return largest.part.flush(w.hands[0], false)
	}
	return w.sealAll() // there are many, and all of them small
}

// sealAll ends the files of all tables, when nobody adds rows.
func (w *Writer) sealAll() error {
	list := w.opened
	w.opened = nil
	return lanes.Each(len(w.hands), len(list), func(worker, i int) error {
		list[i].listed = false
		return list[i].seal(w.hands[worker])
	})
}

// TypeName returns the name of all versions of an event, with their provider, as a part of a
// path that all systems can have.
func TypeName(info *etw.EventInfo, r *etw.Record) string {
	return folderName(info.Provider + "." + typeName(info, r))
}

// typeName returns the name of all versions of an event.
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
