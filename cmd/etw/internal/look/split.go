package look

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/lanes"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Split prints the events of traces as [Dump] does, each type to a file of its own.
type Split struct {
	In     pick.Input
	Sel    pick.Selection
	Format string
	Folder string
	// Name returns how the files of all versions of an event begin.
	Name func(*etw.EventInfo, *etw.Record) string

	// Written by Run.
	Events int64
	Files  int
	Bytes  int64
}

// errOnce says why the standard input cannot be split.
var errOnce = errors.New("a file for each type takes two passes, and the standard input can be read only once")

// Run writes the files. Where it fails none is there that was not before.
func (s *Split) Run(cmd *cobra.Command, args []string) error {
	d := &Dump{In: s.In, Sel: s.Sel, Cmd: cmd}
	d.Out.Format, d.Style.enums = s.Format, "name"
	if slices.Contains(args, trace.Stdin) {
		return cli.Usagef("%w", errOnce)
	}
	var err error
	if d.Selector, err = s.Sel.Of(cmd, &s.In, args); err != nil {
		return err
	}
	w := &splitter{of: s, d: d, parts: make(map[string]*part)}
	if err := d.foresee(args); err != nil {
		return err
	}
	if err := w.meet(args); err != nil {
		return err
	}
	t, trouble, err := d.In.Open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	d.Selector.Resolve(t)
	if err := d.Selector.CheckFields(w.met.Descs, true); err != nil {
		return err
	}
	_, missing := os.Stat(s.Folder)
	if err := os.MkdirAll(s.Folder, 0o777); err != nil {
		return err
	}
	w.pool = lanes.New(func() *queued { return new(queued) }, w.handle, func() error { return nil })
	w.values = make([]etw.Dynamic, w.pool.Workers())
	defer w.abandon(missing != nil)
	d.writer, d.P = w, d.Out.Open(cmd, false)
	err = d.Run(t, t)
	if err != nil && err != cli.ErrReported || cmd.Context().Err() != nil {
		return cmp.Or(err, cmd.Context().Err())
	}
	return cmp.Or(w.finish(), err, trouble)
}

// A splitter is an eventWriter that prints nothing, and writes files.
type splitter struct {
	of     *Split
	d      *Dump
	met    *pick.Meeting
	parts  map[string]*part // by name, in lower case
	byKind []*part          // by the index of the event
	err    error            // of the first file that cannot be written

	pool    *lanes.Pool[*part, *queued]
	values  []etw.Dynamic // of the workers of the pool
	pending int           // bytes of the batch
}

// A queued is an event that becomes text later, or at once.
type queued struct {
	now  *pick.Shot // nil of those that become text later
	shot pick.Shot
	rec  etw.Record     // of shot
	desc *etw.EventDesc // of the values; nil if there are none
}

// batchBytes is about how much events take that become text at the same time, and queuedBytes
// what one does beside its payload.
const (
	batchBytes  = 1 << 20
	queuedBytes = 400
)

// A part is a file of one type of event.
type part struct {
	lanes.Lane
	path  string
	descs []*etw.EventDesc
	w     eventWriter
	b     []byte // to be written
	begun bool
	size  int64 // of what is written
}

// partBytes is how much of a file is held.
const partBytes = 64 << 10

// meet takes note of all events that are chosen: their fields are the first line.
func (w *splitter) meet(args []string) error {
	in := w.of.In
	in.Quiet = true
	t, _, err := in.Open(w.d.Cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	w.d.Selector.Resolve(t)
	w.met = pick.NewMeeting(w.d.Selector, t)
	w.met.Names = w.d.names.Before
	return pick.Once(w.d.Cmd, t, func(rec *etw.Record) error {
		w.met.Meet(rec)
		p := w.part(w.d.Selector.Decoder.Event(rec), rec)
		if e := w.d.Selector.Decoder.Event(rec); e.Desc != nil && !slices.Contains(p.descs, e.Desc) {
			p.descs = append(p.descs, e.Desc)
		}
		return nil
	})
}

// part returns the file of events like r.
func (w *splitter) part(e *etw.EventInfo, r *etw.Record) *part {
	for e.Index >= len(w.byKind) {
		w.byKind = append(w.byKind, nil)
	}
	if p := w.byKind[e.Index]; p != nil {
		return p
	}
	name := w.of.Name(e, r)
	p := w.parts[strings.ToLower(name)]
	if p == nil {
		p = &part{path: filepath.Join(w.of.Folder, name+"."+w.of.Format)}
		w.parts[strings.ToLower(name)] = p
	}
	w.byKind[e.Index] = p
	return p
}

func (w *splitter) begin(b []byte) []byte { return b }

func (w *splitter) append(b []byte, s *pick.Shot) []byte {
	p := w.part(s.Event, s.Record)
	if p.w == nil && w.err == nil {
		p.w, w.err = w.writer(p)
	}
	if w.err != nil {
		return b
	}
	w.of.Events++
	q := w.pool.Next(p)
	if w.pool.Direct() {
		q.now = s
	} else {
		w.pending += q.set(s, w.pool.Keep(s.Payload))
	}
	w.err = w.pool.Add()
	if w.pending >= batchBytes {
		w.pending = 0
		w.err = w.pool.End()
	}
	return b
}

// set takes all of an event that becomes text, and returns how many bytes that is.
func (q *queued) set(s *pick.Shot, payload []byte) int {
	q.shot, q.rec, q.desc = *s, *s.Record, nil
	q.rec.Payload, q.rec.Stack, q.rec.Extended = payload, etw.Stack{}, nil
	q.shot.Rest = payload[len(payload)-len(s.Rest):]
	if s.Values != nil {
		q.shot.Values, q.desc = nil, s.Values.EventDesc()
	}
	return len(payload) + queuedBytes
}

// handle appends the text of an event to its file.
func (w *splitter) handle(worker int, p *part, q *queued) error {
	s := q.now
	if s == nil {
		s = &q.shot
		s.Record = &q.rec
		if q.desc != nil {
			v := &w.values[worker]
			_, _ = v.DecodeLoose(q.desc, q.rec.Payload, q.rec.PointerSize) // the fault is in the shot
			s.Values = v
		}
	}
	if len(p.b) == 0 && !p.begun {
		p.b = p.w.begin(p.b)
	}
	if p.b = p.w.append(p.b, s); len(p.b) < partBytes {
		return nil
	}
	return p.flush()
}

// writer returns the formatter of the events of a file, whose columns are its own.
func (w *splitter) writer(p *part) (eventWriter, error) {
	own := *w.met
	own.Descs = p.descs
	own.Operations = slices.ContainsFunc(p.descs, func(d *etw.EventDesc) bool { return pick.IsOperation(d) })
	return w.d.Style.writer(&w.d.Out, w.d.Selector, &own, true)
}

// end ends all files.
func (w *splitter) end(b []byte) []byte {
	w.err = cmp.Or(w.err, w.pool.Close())
	for _, p := range w.parts {
		if p.w == nil || w.err != nil {
			continue
		}
		p.b = p.w.end(p.b)
		w.err = p.flush()
		w.of.Files++
		w.of.Bytes += p.size
	}
	return b
}

// unfinished is how a file is called until all are written.
func (p *part) unfinished() string { return p.path + ".part" }

func (p *part) flush() error {
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if p.begun {
		how = os.O_WRONLY | os.O_APPEND
	}
	p.begun = true
	f, err := os.OpenFile(p.unfinished(), how, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(p.b)
	p.size += int64(len(p.b))
	p.b = p.b[:0]
	return cmp.Or(err, f.Close())
}

// finish has all files be called as they are to be.
func (w *splitter) finish() error {
	for _, p := range w.parts {
		if p.begun && w.err == nil {
			w.err = os.Rename(p.unfinished(), p.path)
			p.begun = w.err != nil
		}
	}
	return w.err
}

// abandon removes files that were not finished, and a new folder without any.
func (w *splitter) abandon(made bool) {
	_ = w.pool.Close() // its error was returned
	for _, p := range w.parts {
		if p.begun {
			_ = os.Remove(p.unfinished()) // nothing is to be done about it
		}
	}
	if made {
		_ = os.Remove(w.of.Folder) // which fails where there are files
	}
}
