package parquet

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A spool is a file that is open only while a row group is written, since there are
// as many as there are types of events.
type spool struct {
	path string
	w    *Writer
}

// Write writes through the buffer that all spools share.
func (s *spool) Write(p []byte) (int, error) { return s.w.buf.Write(p) }

// with opens the file for do, which writes to it.
func (s *spool) with(do func() error) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	s.w.buf.Reset(f)
	err = do()
	if flush := s.w.buf.Flush(); err == nil {
		err = flush
	}
	if end := f.Close(); err == nil {
		err = end
	}
	return err
}

// A part is a file that is being written: one of a table, most often the only one.
type part struct {
	out  *spool
	w    *file.Writer
	said *File // in the manifest
}

// flush writes the rows that are held.
func (p *part) flush(keep bool) error {
	return p.out.with(func() error { return p.w.Flush(keep) })
}

// newPart begins a file in a folder.
func (w *Writer) newPart(folder string, number int, nodes []*file.Node) *part {
	name := w.base
	if number > 0 {
		name += fmt.Sprintf("-%d", number)
	}
	out := &spool{path: filepath.Join(w.temp, fmt.Sprint(len(w.files))), w: w}
	said := &File{Path: folder + "/host=" + w.host + "/" + name + ".parquet"}
	w.files = append(w.files, said)
	meta := [][2]string{{"etwgen.trace", w.opts.Trace}, {"etwgen.id", w.opts.ID}, {"etwgen.host", w.opts.Host}}
	return &part{out, file.NewWriter(out, w.enc, nodes, meta), said}
}

// finish ends a file, which is not yet where it belongs.
func (w *Writer) finish(p *part) error {
	err := p.out.with(func() error { return p.w.Close() })
	p.said.Rows, p.said.Bytes = p.w.Rows(), p.w.Size()
	return err
}

// An events is the table of one type of events.
type events struct {
	w        *Writer
	folder   string
	provider string
	event    string
	shape    *shape
	layouts  map[*etw.EventDesc]*layout
	recent   *layout // of desc
	desc     *etw.EventDesc
	part     *part // nil before the first row, and where it was closed
	leaves   []*file.Leaf
	head     []*file.Leaf
	parts    int // that were begun
	rows     int64
	ids      map[uint16]bool
	versions *[256]int64
}

// A layout says where the fields of one description go.
type layout struct {
	columns []*column    // by field; nil of one that is in none
	values  []*file.Leaf // of bits, their numbers; nil of others
	missing []*file.Leaf
}

// layout returns where the fields of d go, nil of a payload of which nothing is known.
func (t *events) layout(d *etw.EventDesc) (*layout, error) {
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
		if err := t.seal(); err != nil {
			return nil, err
		}
	}
	if t.part == nil {
		t.part = t.w.newPart(t.folder, t.parts, append(headNodes(), cloneNodes(t.shape.nodes)...))
		t.parts++
		all := t.part.w.Leaves()
		t.head, t.leaves = all[:headColumns], all[headColumns:]
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
	starts := make([]int, 0, len(t.shape.nodes))
	at := 0
	for _, n := range t.shape.nodes {
		starts = append(starts, at)
		at += n.Leaves()
	}
	used := make([]bool, len(t.shape.nodes))
	for i := range f.columns {
		var c *column
		var value *file.Leaf
		if k := f.columns[i]; k >= 0 {
			n := t.shape.nodes[k]
			used[k] = true
			c = bind(n, &d.Fields[i], t.leaves[starts[k]:starts[k]+n.Leaves()], 0)
		}
		if k := f.values[i]; k >= 0 {
			used[k] = true
			value = t.leaves[starts[k]]
		}
		l.columns = append(l.columns, c)
		l.values = append(l.values, value)
	}
	for k, n := range t.shape.nodes {
		if !used[k] && (d != nil || k != t.shape.raw) {
			l.missing = append(l.missing, t.leaves[starts[k]:starts[k]+n.Leaves()]...)
		}
	}
	return l
}

// cloneNodes copies nodes: those of a file do not change any more.
func cloneNodes(nodes []*file.Node) []*file.Node {
	var list []*file.Node
	for _, n := range nodes {
		c := *n
		c.Fields = cloneNodes(n.Fields)
		list = append(list, &c)
	}
	return list
}

// add adds a row.
func (t *events) add(r *etw.Record, values etw.Described) error {
	var d *etw.EventDesc
	if values != nil {
		d = values.EventDesc()
	}
	l, err := t.layout(d)
	if err != nil {
		return err
	}
	t.addHead(r)
	s := &t.w.shred
	for i, c := range l.columns {
		if c == nil {
			continue
		}
		v := values.FieldValue(i)
		s.add(c, v, 0, 0)
		if n := l.values[i]; n != nil {
			if v.Kind() == etw.ValueNone {
				n.Null(0, 0)
			} else {
				n.Number(v.Uint(), 0)
			}
		}
	}
	if d == nil {
		t.leaves[t.rawLeaf()].Text(r.Payload, 0)
	}
	nulls(l.missing, 0, 0)
	t.part.w.EndRow()
	t.rows++
	t.versions[r.Version]++
	return nil
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
func (t *events) addHead(r *etw.Record) {
	h := t.head
	ns, ok := int64(0), false
	if r.Clock != nil {
		ns, ok = nanosecondsOf(r.Clock.FileTime(r.Timestamp))
	}
	putNumber(h[colTime], uint64(ns), ok)
	putNumber(h[colProcess], uint64(r.ProcessID), r.ProcessID >= 0)
	putNumber(h[colThread], uint64(r.ThreadID), r.ThreadID >= 0)
	putNumber(h[colProcessor], uint64(r.Processor), r.Processor >= 0)
	putGUID(h[colActivity], r.ActivityID)
	putGUID(h[colRelated], r.RelatedActivityID)
	h[colVersion].Number(uint64(r.Version), 0)
	h[colTrace].Text(t.w.trace, 0)
	if ok {
		t.part.said.see(ns)
	}
}

func putNumber(l *file.Leaf, v uint64, ok bool) {
	if !ok {
		l.Null(0, 0)
		return
	}
	l.Number(v, 0)
}

func putGUID(l *file.Leaf, g etw.GUID) {
	if g.IsZero() {
		l.Null(0, 0)
		return
	}
	u := textOrder(g)
	l.Text(u[:], 0)
}

// seal ends the file of the table. Further rows come into another one.
func (t *events) seal() error {
	p := t.part
	if p == nil {
		return nil
	}
	t.part, t.recent, t.layouts, t.leaves, t.head = nil, nil, nil, nil, nil
	p.said.Provider, p.said.Event = t.provider, t.event
	p.said.setVersions(t.versions, t.ids)
	clear(t.versions[:])
	return t.w.finish(p)
}
