package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/export/parquet/internal/file"
)

// A result is the table of an analysis.
type result struct {
	w    *Writer
	part *part
	next int // the leaf of the next value
}

// newResult begins the table of an analysis. Its rows begin with time and pid.
func (w *Writer) newResult(name string, columns ...*file.Node) *result {
	head := []*file.Node{{Name: "time", Type: file.Timestamp}, {Name: "time_ns", Type: file.Int64}, {Name: "pid", Type: file.Int64}}
	for _, c := range columns {
		same := func(n *file.Node) bool { return strings.EqualFold(n.Name, c.Name) }
		if slices.ContainsFunc(slices.Concat(head, constantNodes()), same) || slices.Contains(reserved, strings.ToLower(c.Name)) {
			c.Name = "field_" + c.Name
		}
	}
	r := &result{w: w, part: w.newPart("table="+folderName(name), 0, head, columns)}
	r.part.said.Table = name
	w.others = append(w.others, r.part)
	return r
}

func column1(name string, t file.Type) *file.Node { return &file.Node{Name: name, Type: t} }

// leaf returns that of the next value.
func (r *result) leaf() *file.Leaf {
	r.next++
	return r.part.own[r.next-1]
}

// begin begins a row.
func (r *result) begin(ns, pid int64) {
	r.next = 0
	r.part.moment(ns, true)
	putNumber(r.part.head[2], uint64(pid), pid >= 0)
}

func (r *result) integer(v int64) { r.leaf().Number(uint64(v), 0) }

// text adds a text; an empty one is null.
func (r *result) text(s string) {
	if s == "" {
		r.leaf().Null(0, 0)
		return
	}
	r.leaf().Text([]byte(s), 0)
}

// end ends a row.
func (r *result) end() error {
	p := r.part
	p.w.EndRow()
	n := p.w.Pending()
	if n >= int64(r.w.opts.RowGroup) || n%4096 == 0 && p.w.Memory() > r.w.opts.MaxMemory/2 {
		return p.flush(r.w.own, true)
	}
	return nil
}

// Table writes a view of an analysis, with all its columns but the names of processes and
// threads. start is when the session began, which the times of the result are counted from:
// the time of a row is the first of these.
func (w *Writer) Table(name string, v table.View, start time.Time) error {
	var heads []int
	var columns []*file.Node
	moment, owner := -1, -1
	for i, h := range v.Heads {
		switch {
		case h.Owner && h.Kind == table.Whole:
			owner = i
			continue
		case h.Kind == table.Process || h.Kind == table.Thread || h.Audience == table.People:
			continue
		case h.Moment && moment < 0:
			moment = i
		}
		heads, columns = append(heads, i), append(columns, column1(h.Name, fileTypes[h.Kind]))
	}
	t := w.newResult(name, columns...)
	for row := range v.Rows {
		at, pid := start.UnixNano(), int64(-1)
		if moment >= 0 {
			ms, _ := v.At(row, moment).Float()
			at += int64(math.Round(ms * 1e6))
		}
		if owner >= 0 {
			pid = v.At(row, owner).Int()
		}
		t.begin(at, pid)
		for _, i := range heads {
			t.value(v.At(row, i), v.Heads[i].Kind)
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// fileTypes are those of the kinds of values.
var fileTypes = map[table.Kind]file.Type{table.TextKind: file.Text, table.Bool: file.Bool, table.Whole: file.Int64, table.Real: file.Double}

// value adds a value, or null where it is unknown.
func (r *result) value(v table.Value, kind table.Kind) {
	switch kind {
	case table.Real:
		f, ok := v.Float()
		putNumber(r.leaf(), math.Float64bits(f), ok)
	case table.Whole:
		putNumber(r.leaf(), uint64(v.Int()), v.Known())
	case table.Bool:
		r.integer(int64(b2u(v.Bool())))
	default:
		r.text(v.Text())
	}
}

// Samples writes a table of samples, such as those of the processor or allocations: a row for
// each, with its values, its labels, the name of the innermost frame and the id of its stack,
// which the table stacks has.
func (w *Writer) Samples(name string, p *stacks.Profile) error {
	var keys []string
	for s := range p.Samples() {
		for _, l := range s.Labels {
			if !slices.Contains(keys, l.Key) {
				keys = append(keys, l.Key)
			}
		}
	}
	slices.Sort(keys)
	columns := []*file.Node{column1("tid", file.Int64)}
	for _, t := range p.Types {
		columns = append(columns, column1(valueName(t), file.Int64))
	}
	for _, k := range keys {
		columns = append(columns, column1(camel("label", k), file.Text))
	}
	t := w.newResult(name, append(columns, column1("method", file.Text), column1("stack_id", file.Text))...)
	ids := make(map[stacks.ID]string)
	for s := range p.Samples() {
		t.begin(s.Time, s.Process)
		putNumber(t.leaf(), uint64(s.Thread), s.Thread >= 0)
		for i := range p.Types {
			t.integer(s.Values[i])
		}
		for _, k := range keys {
			i := slices.IndexFunc(s.Labels, func(l stacks.Label) bool { return l.Key == k })
			if i < 0 {
				t.text("")
			} else {
				t.text(s.Labels[i].Value)
			}
		}
		id, ok := ids[s.Stack]
		if !ok {
			var err error
			if id, err = w.stack(p, s.Stack); err != nil {
				return err
			}
			ids[s.Stack] = id
		}
		t.text(innermost(p, s.Stack))
		t.text(id)
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// innermost returns the name of the frame where a sample was, or nothing of one without a stack.
func innermost(p *stacks.Profile, id stacks.ID) string {
	for f := range p.Stack(id) {
		return frameName(&p.Frames[f])
	}
	return ""
}

// InModule begins the name of a function that stands for a place in a file: the offset follows.
const InModule = "+0x"

// frameName returns the name of a frame. A place in a file without names is module+0xoffset.
func frameName(f *stacks.Frame) string {
	if f.Nameless {
		return strings.Replace(f.Name, "!"+InModule, InModule, 1)
	}
	return f.Name
}

// stack returns the id of a stack, which is made of the names of its frames, and so the same in
// all recordings; it becomes a row of the table stacks. The id of no stack is "".
func (w *Writer) stack(p *stacks.Profile, id stacks.ID) (string, error) {
	h := sha256.New()
	depth := 0
	for f := range p.Stack(id) {
		name := frameName(&p.Frames[f])
		fmt.Fprintf(h, "%d:%s", len(name), name)
		depth++
	}
	if depth == 0 {
		return "", nil
	}
	text := hex.EncodeToString(h.Sum(nil)[:16])
	if w.stacks == nil {
		list := &file.Node{Name: "frames", Type: file.List, Fields: []*file.Node{column1("element", file.Text)}}
		w.stacks = w.newResult("stacks", column1("stack_id", file.Text), column1("depth", file.Int32), list)
		w.written = make(map[string]bool)
	}
	if w.written[text] {
		return text, nil
	}
	w.written[text] = true
	t := w.stacks
	t.next = 0
	t.part.moment(0, false)
	t.part.head[2].Null(0, 0)
	t.text(text)
	t.integer(int64(depth))
	l, rep := t.leaf(), uint8(0)
	for f := range p.Stack(id) {
		l.Text([]byte(frameName(&p.Frames[f])), rep)
		rep = 1
	}
	return text, t.end()
}

// valueName returns the name of the column of a value, with its unit.
func valueName(t stacks.ValueType) string {
	unit := t.Unit
	switch unit {
	case "nanoseconds":
		unit = "ns"
	case "count":
		unit = ""
	}
	return camel(append(strings.Split(t.Name, "_"), unit)...)
}

// camel joins words to one name.
func camel(words ...string) string {
	name := words[0]
	for _, word := range words[1:] {
		c, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			name += string(unicode.ToUpper(c)) + word[size:]
		}
	}
	return name
}
