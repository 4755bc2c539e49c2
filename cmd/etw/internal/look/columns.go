package look

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A headColumn is one of the common columns of events, in CSV and Markdown.
type headColumn struct {
	name   string
	number bool
	cell   func(w *columnWriter, b []byte, s *pick.Shot) []byte
}

// headColumns are all of them, in their order.
var headColumns = []headColumn{
	{"time", false, func(w *columnWriter, b []byte, s *pick.Shot) []byte {
		return w.time.Append(b, s.Clock.FileTime(s.Timestamp))
	}},
	{"ms", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return show.AppendExactMS(b, s.Elapsed) }},
	{"file", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.File...) }},
	{"provider", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Event.Provider...) }},
	{"guid", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { b, _ = s.Provider.AppendText(b); return b }},
	{"id", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return strconv.AppendUint(b, uint64(s.ID), 10) }},
	{"version", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendUint(b, uint64(s.Version), 10)
	}},
	{"opcode", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendUint(b, uint64(s.EventOpcode()), 10)
	}},
	{"level", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendUint(b, uint64(s.Level), 10)
	}},
	{"task", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendUint(b, uint64(s.EventTask()), 10)
	}},
	{"keywords", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return show.AppendHex(b, s.Keywords) }},
	{"event", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Event.Name...) }},
	{"pid", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return strconv.AppendInt(b, s.ProcessID, 10) }},
	{"process", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Process...) }},
	{"tid", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return strconv.AppendInt(b, s.ThreadID, 10) }},
	{"thread", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Thread...) }},
	{"cpu", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendInt(b, int64(s.Processor), 10)
	}},
	{"size", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		return strconv.AppendInt(b, int64(len(s.Payload)), 10)
	}},
	{"activity", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return appendGUID(b, s.ActivityID) }},
	{"related", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return appendGUID(b, s.RelatedActivityID) }},
	{"path", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Path...) }},
	{"elapsedMs", true, func(_ *columnWriter, b []byte, s *pick.Shot) []byte {
		if s.Took < 0 {
			return b
		}
		return show.AppendExactMS(b, s.Took)
	}},
	{"stack", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return appendStack(b, s.Stack, " ", "") }},
	{"frames", false, func(w *columnWriter, b []byte, s *pick.Shot) []byte {
		namer := w.names.Namer(s.Record)
		for i := range s.Stack.Len() {
			if i > 0 {
				b = append(b, " < "...)
			}
			b = frames.AppendFrame(b, namer, s.Record, i)
		}
		return b
	}},
	{"payload", false, func(w *columnWriter, b []byte, s *pick.Shot) []byte {
		if w.payload || s.Undecoded() {
			b = hex.AppendEncode(b, s.Payload)
		}
		return b
	}},
	{"error", false, func(_ *columnWriter, b []byte, s *pick.Shot) []byte { return append(b, s.Problem()...) }},
}

// firstTail is the first of the columns that stand after those of fields.
const firstTail = "path"

// isTail reports whether a column is one of these.
func isTail(c headColumn) bool {
	names := headNames()
	return slices.Index(names, c.name) >= slices.Index(names, firstTail)
}

func headNames() []string {
	return each.Of(headColumns, func(c headColumn) string { return c.name })
}

// findHeads returns the columns of the given names.
func findHeads(names []string) ([]headColumn, error) {
	var list []headColumn
	for _, name := range names {
		i := slices.IndexFunc(headColumns, func(c headColumn) bool { return strings.EqualFold(c.name, strings.TrimSpace(name)) })
		if i < 0 {
			return nil, cli.Usagef("--columns: there is no column %q%s; there are %s", name, cli.DidYouMean(name, headNames()), strings.Join(headNames(), ", "))
		}
		list = append(list, headColumns[i])
	}
	return list, nil
}

// appendGUID appends a GUID, unless that is zero.
func appendGUID(b []byte, g etw.GUID) []byte {
	if !g.IsZero() {
		b, _ = g.AppendText(b)
	}
	return b
}

// otherColumn has the fields, as an object of JSON, that have no column of their
// own.
const otherColumn = "other"

// A columnWriter prints an event as a row with a cell for each field: in CSV and
// Markdown.
type columnWriter struct {
	markdown bool
	csv      show.CsvStyle
	enums    etw.EnumStyle
	names    *frames.BoundStacks // nil if frames have no names
	payload  bool
	before   []headColumn // the fields
	after    []headColumn
	fields   []string // as they are called in events
	asked    bool     // they are as people write them, in any case
	other    bool     // there is a column for fields without one

	time    show.Stamp
	plans   []columnPlan // by the index of the event
	cells   [][]byte     // of the fields
	numbers []bool       // whether the cell is a number
	buf     []byte
}

// A columnPlan says where the fields of an event go: the index of the column, or
// -1 for the other ones.
type columnPlan struct {
	desc *etw.EventDesc
	at   []int
	keys []string
}

func (w *columnWriter) begin(b []byte) []byte {
	names := each.Of(w.before, func(c headColumn) string { return c.name })
	heads := append(slices.Clone(names), names...)
	for _, c := range w.after {
		heads = append(heads, c.name)
	}
	for _, f := range w.fields {
		if slices.Contains(heads, f) || f == otherColumn { // a field called as a column of all events
			f = "field_" + f
		}
		names = append(names, f)
	}
	if w.other {
		names = append(names, otherColumn)
	}
	for _, c := range w.after {
		names = append(names, c.name)
	}
	for i, name := range names {
		b = w.cell(b, i > 0, []byte(name), false)
	}
	b = w.rowEnd(b)
	if w.markdown {
		b = append(b, strings.Repeat("|---", len(names))...)
		b = append(b, "|\n"...)
	}
	return b
}

func (w *columnWriter) end(b []byte) []byte { return b }

func (w *columnWriter) cell(b []byte, comma bool, cell []byte, number bool) []byte {
	if w.markdown {
		return show.AppendMarkdownCell(b, string(cell))
	}
	return w.csv.Cell(b, comma, cell, number)
}

func (w *columnWriter) rowEnd(b []byte) []byte {
	if w.markdown {
		b = append(b, '|')
	}
	return append(b, '\n')
}

func (w *columnWriter) append(b []byte, s *pick.Shot) []byte {
	for i := range w.before {
		w.buf = w.before[i].cell(w, w.buf[:0], s)
		b = w.cell(b, i > 0, w.buf, w.before[i].number)
	}
	other := w.fill(s)
	for i, cell := range w.cells {
		b = w.cell(b, i > 0 || len(w.before) > 0, cell, w.numbers[i])
	}
	if w.other {
		b = w.cell(b, true, other, false)
	}
	for i := range w.after {
		w.buf = w.after[i].cell(w, w.buf[:0], s)
		b = w.cell(b, true, w.buf, w.after[i].number)
	}
	return w.rowEnd(b)
}

// fill sets the cells of the fields of s and returns the fields without a cell.
func (w *columnWriter) fill(s *pick.Shot) (other []byte) {
	if w.cells == nil {
		w.cells, w.numbers = make([][]byte, len(w.fields)), make([]bool, len(w.fields))
	}
	for i := range w.cells {
		w.cells[i], w.numbers[i] = w.cells[i][:0], false
	}
	if s.Values == nil {
		return nil
	}
	p := w.plan(s)
	for i := range p.desc.Fields {
		v := s.Values.FieldValue(i)
		if v.Kind() == etw.ValueNone {
			continue
		}
		d := &p.desc.Fields[i]
		if at := p.at[i]; at >= 0 {
			w.cells[at], w.numbers[at] = appendFieldCell(w.cells[at], d, v, w.enums)
			continue
		}
		if !w.other {
			continue
		}
		other = append(other, "{,"[min(len(other), 1)])
		other = append(etw.AppendJSONString(other, p.keys[i]), ':')
		other = etw.AppendFieldJSON(other, d, v, w.enums)
	}
	if len(other) > 0 {
		other = append(other, '}')
	}
	return other
}

// appendFieldCell appends the value v of field d as the text of a cell, and
// reports whether that is a number. Arrays and structs are JSON.
func appendFieldCell(b []byte, d *etw.FieldDesc, v etw.Value, enums etw.EnumStyle) ([]byte, bool) {
	switch v.Kind() {
	case etw.ValueArray, etw.ValueStruct:
		return etw.AppendFieldJSON(b, d, v, enums), false
	case etw.ValueInt, etw.ValueUint:
		if enums == etw.EnumNumbers && d.Map != nil {
			return etw.AppendFieldJSON(b, d, v, enums), true
		}
		return etw.AppendFieldPlain(b, d, v), d.Map == nil
	case etw.ValueFloat, etw.ValueFloat32, etw.ValueBool:
		return etw.AppendFieldPlain(b, d, v), true
	}
	return etw.AppendFieldPlain(b, d, v), false
}

// plan returns where the fields of s go.
func (w *columnWriter) plan(s *pick.Shot) *columnPlan {
	for s.Event.Index >= len(w.plans) {
		w.plans = append(w.plans, columnPlan{})
	}
	p := &w.plans[s.Event.Index]
	if desc := s.Values.EventDesc(); p.desc != desc {
		*p = columnPlan{desc: desc, keys: fieldKeys(desc.Fields)}
		for _, key := range p.keys {
			p.at = append(p.at, slices.IndexFunc(w.fields, func(f string) bool { return f == key || w.asked && strings.EqualFold(f, key) }))
		}
	}
	return p
}

// fieldKeys returns names for fields that tell them apart.
func fieldKeys(fields []etw.FieldDesc) []string {
	keys := make([]string, len(fields))
	for i := range fields {
		keys[i] = etw.UniqueName(fields, i)
	}
	return keys
}
