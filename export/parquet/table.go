package parquet

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/internal/lanes"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A spool is a file that is open only while a row group is written, since there are
// as many as there are types of events.
type spool struct {
	path string
	buf  *bufio.Writer // while it is open
}

// Write writes through the buffer of whoever opened the file.
func (s *spool) Write(p []byte) (int, error) { return s.buf.Write(p) }

// with opens the file for do, which writes to it.
func (s *spool) with(h *hand, do func() error) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	s.buf = h.buf
	s.buf.Reset(f)
	err = do()
	if flush := s.buf.Flush(); err == nil {
		err = flush
	}
	if end := f.Close(); err == nil {
		err = end
	}
	return err
}

// A part is a file that is being written: one of a table, most often the only one.
type part struct {
	of    *Writer
	out   *spool
	w     *file.Writer
	said  *File        // in the manifest
	head  []*file.Leaf // of what each row begins with
	fixed []*file.Leaf // of what is the same in all rows
	own   []*file.Leaf
	nodes []*file.Node // of own
}

// flush writes the rows that are held.
func (p *part) flush(h *hand, keep bool) error {
	p.fill()
	return p.out.with(h, func() error { return p.w.Flush(h.enc, keep) })
}

// fill adds to the rows that are held all that is the same in them.
func (p *part) fill() { p.of.fixed.fill(p.fixed, p.w.Pending()) }

// newPart begins a file in a folder: its rows have columns in the beginning, the first of which
// is the time, then those of all tables, and then their own.
func (w *Writer) newPart(folder string, number int, head, own []*file.Node) *part {
	said := &File{folder: folder, number: number}
	w.mu.Lock()
	out := &spool{path: filepath.Join(w.temp, fmt.Sprint(len(w.files)))}
	w.files = append(w.files, said)
	w.mu.Unlock()
	nodes := w.opts.Types.nodes(slices.Concat(head, constantNodes(), own))
	common := len(nodes) - len(own)
	numberNodes(nodes, common)
	meta := [][2]string{{"etwgen.trace", w.opts.Trace}, {"etwgen.trace_id", w.m.TraceID}}
	p := &part{of: w, out: out, w: file.NewWriter(out, nodes, meta), said: said, nodes: nodes[common:]}
	all := p.w.Leaves()
	p.head, p.fixed, p.own = all[:len(head)], all[len(head):len(head)+constantLeaves], all[len(head)+constantLeaves:]
	p.w.SortedBy(p.head[0])
	return p
}

// moment adds the time of a row, which may not be known.
func (p *part) moment(ns int64, ok bool) {
	unit := file.Micros
	if p.of.opts.Types == ExactTypes {
		unit = file.Timestamp
	}
	putNumber(p.head[colTime], timeIn(unit, ns), ok)
	putNumber(p.head[colTimeNS], uint64(ns), ok)
	if ok {
		p.said.see(ns)
	}
}

// finish ends a file, which is not yet where it belongs.
func (w *Writer) finish(h *hand, p *part) error {
	p.fill()
	err := p.out.with(h, func() error { return p.w.Close(h.enc) })
	p.said.Rows, p.said.Bytes = p.w.Rows(), p.w.Size()
	return err
}

// An events is the table of one type of events.
type events struct {
	lanes.Lane
	w        *Writer
	folder   string
	provider string
	event    string
	shape    *shape
	layouts  map[*etw.EventDesc]*layout
	recent   *layout // of desc
	desc     *etw.EventDesc
	part     *part // nil before the first row, and where it was closed
	listed   bool  // in the opened ones
	parts    int   // that were begun
	rows     int64
	ids      map[uint16]bool
	versions *[256]int64
}

// A row is an event, with all that becomes of it.
type row struct {
	met               *kind          // nil if it is not the first of it
	desc              *etw.EventDesc // nil if nothing is known of the payload
	values            etw.Described  // nil if they are to be decoded
	payload           []byte
	ns                int64 // since 1970
	timed             bool  // there is a time
	ptr               etw.PtrSize
	version           uint8
	processor         int32
	process, thread   int64
	activity, related etw.GUID
}

// A kind is those events of a table that have one description.
type kind struct {
	id       uint16
	versions []*etw.EventDesc // that are known of the event
}

// set makes x the row of a record.
func (x *row) set(r *etw.Record, met *kind, values etw.Described) {
	x.met, x.desc, x.values, x.payload = met, nil, values, r.Payload
	if values != nil {
		x.desc = values.EventDesc()
	}
	x.ptr, x.version, x.processor, x.process, x.thread = r.PointerSize, r.Version, r.Processor, r.ProcessID, r.ThreadID
	x.activity, x.related = r.ActivityID, r.RelatedActivityID
	x.ns, x.timed = 0, false
	if r.Clock != nil {
		x.ns, x.timed = nanosecondsOf(r.Clock.FileTime(r.Timestamp))
	}
}

// A layout says where the fields of one description go.
type layout struct {
	columns []*column    // by field; nil of one that is in none
	values  []*file.Leaf // of bits, their numbers; nil of others
	missing []*file.Leaf
}

// layout returns where the fields of d go, nil of a payload of which nothing is known.
func (t *events) layout(h *hand, d *etw.EventDesc) (*layout, error) {
	if t.recent != nil && t.desc == d && t.part != nil {
		return t.recent, nil
	}
	if l := t.layouts[d]; l != nil && t.part != nil {
		t.recent, t.desc = l, d
		return l, nil
	}
	changed := false
	f := fit{}
	if d == nil {
		if changed = t.shape.raw < 0; changed {
			t.shape.raw = len(t.shape.nodes)
			t.shape.nodes = append(t.shape.nodes, &file.Node{Name: payloadColumn, Type: file.Bytes})
		}
	} else {
		f, changed = t.shape.fit(d)
	}
	if changed && t.part != nil { // the file has columns already: another one goes on
		if err := t.seal(h); err != nil {
			return nil, err
		}
	}
	if t.part == nil {
		t.open()
		t.layouts = make(map[*etw.EventDesc]*layout)
	}
	l := t.bind(d, f)
	t.layouts[d] = l
	t.recent, t.desc = l, d
	return l, nil
}

// bind finds the leaves of the fields of d.
func (t *events) bind(d *etw.EventDesc, f fit) *layout {
	l := new(layout)
	nodes, leaves := t.part.nodes, t.part.own
	starts := make([]int, 0, len(nodes))
	at := 0
	for _, n := range nodes {
		starts = append(starts, at)
		at += n.Leaves()
	}
	used := make([]bool, len(nodes))
	for i := range f.columns {
		var c *column
		var value *file.Leaf
		if k := f.columns[i]; k >= 0 {
			n := nodes[k]
			used[k] = true
			c = bind(n, &d.Fields[i], leaves[starts[k]:starts[k]+n.Leaves()], 0)
		}
		if k := f.values[i]; k >= 0 {
			used[k] = true
			value = leaves[starts[k]]
		}
		l.columns = append(l.columns, c)
		l.values = append(l.values, value)
	}
	for k, n := range nodes {
		if !used[k] && (d != nil || k != t.shape.raw) {
			l.missing = append(l.missing, leaves[starts[k]:starts[k]+n.Leaves()]...)
		}
	}
	return l
}

// open begins a file.
func (t *events) open() {
	t.part = t.w.newPart(t.folder, t.parts, headNodes(), t.shape.nodes)
	t.parts++
	if t.listed {
		return
	}
	t.listed = true
	t.w.mu.Lock()
	t.w.opened = append(t.w.opened, t)
	t.w.mu.Unlock()
}

// meet takes note of a kind of events.
func (t *events) meet(k *kind) {
	t.ids[k.id] = true
	if t.part != nil {
		return
	}
	for _, d := range k.versions { // room for the fields of all versions, before any row is written
		t.shape.fit(d)
	}
}

// add adds a row.
func (t *events) add(h *hand, x *row) error {
	if x.met != nil {
		t.meet(x.met)
	}
	l, err := t.layout(h, x.desc)
	if err != nil {
		return err
	}
	t.addHead(h, x)
	values := x.values
	if values == nil && x.desc != nil {
		// Where it does not fit, the values before the fault are those that there are.
		_, _ = h.values.DecodeLoose(x.desc, x.payload, x.ptr)
		values = &h.values
	}
	for i, c := range l.columns {
		if c == nil {
			continue
		}
		v := values.FieldValue(i)
		h.shred.add(c, v, 0, 0)
		if n := l.values[i]; n != nil {
			number, ok := asNumber(v)
			putNumber(n, number, ok)
		}
	}
	if x.desc == nil {
		t.part.own[t.rawLeaf()].Text(x.payload, 0)
	}
	nulls(l.missing, 0, 0)
	t.part.w.EndRow()
	t.rows++
	t.versions[x.version]++
	return nil
}

// asNumber returns the bits that v is, or the time in ns.
func asNumber(v etw.Value) (uint64, bool) {
	switch v.Kind() {
	case etw.ValueNone:
		return 0, false
	case etw.ValueFileTime, etw.ValueSystemTime:
		ns, ok := nanoseconds(v)
		return uint64(ns), ok
	}
	return v.Uint(), true
}

// rawLeaf returns the index of the leaf of payloads.
func (t *events) rawLeaf() int {
	at := 0
	for _, n := range t.shape.nodes[:t.shape.raw] {
		at += n.Leaves()
	}
	return at
}

// addHead adds the values of the columns that each row has.
func (t *events) addHead(h *hand, x *row) {
	to := t.part.head
	t.part.moment(x.ns, x.timed)
	putNumber(to[colProcess], uint64(x.process), x.process >= 0)
	putNumber(to[colThread], uint64(x.thread), x.thread >= 0)
	putNumber(to[colProcessor], uint64(x.processor), x.processor >= 0)
	t.putGUID(h, to[colActivity], x.activity)
	t.putGUID(h, to[colRelated], x.related)
	to[colVersion].Number(uint64(x.version), 0)
}

func putNumber(l *file.Leaf, v uint64, ok bool) {
	if !ok {
		l.Null(0, 0)
		return
	}
	l.Number(v, 0)
}

func (t *events) putGUID(h *hand, l *file.Leaf, g etw.GUID) {
	switch {
	case g.IsZero():
		l.Null(0, 0)
	case t.w.opts.Types == ExactTypes:
		u := textOrder(g)
		l.Text(u[:], 0)
	default:
		h.shred.buf, _ = g.AppendText(h.shred.buf[:0])
		l.Text(h.shred.buf, 0)
	}
}

// seal ends the file of the table. Further rows come into another one.
func (t *events) seal(h *hand) error {
	p := t.part
	if p == nil {
		return nil
	}
	t.part, t.recent, t.layouts = nil, nil, nil
	p.said.Provider, p.said.Event = t.provider, t.event
	p.said.setVersions(t.versions, t.ids)
	clear(t.versions[:])
	return t.w.finish(h, p)
}
