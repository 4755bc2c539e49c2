package main

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// keyNames are what events can be counted by, beside fields.
var keyNames = []string{"provider", "event", "id", "level", "task", "opcode", "process", "thread", "cpu", "file"}

// A key is one of the things that events are counted by.
type key struct {
	name   string
	field  *fieldRef // nil if it is not a field
	number bool      // the field is one, in every event that has it
}

// A group counts the events that agree in all keys.
type group struct {
	cells       []string // of the keys
	bucket      int64    // of a histogram, or the number of the interval
	count       int64
	bytes       int64
	undecodable int64
	first, last time.Duration
	totals      []total // by the measure
}

// groups counts events by keys.
type groups struct {
	keys      []key
	whole     bool // counts by all that tells kinds of events apart
	named     bool // names of processes or threads are shown
	measures  []measure
	fields    []*fieldRef // of the measures
	histogram *fieldRef
	every     time.Duration

	counted int64
	list    []*group
	byKey   map[string]*group
	byKind  []*group // by the index of the event, if that decides
	simple  bool     // the index of the event decides
	buf     []byte
}

func newGroups(st *stat) *groups {
	g := &groups{measures: st.measures, every: st.every, byKey: make(map[string]*group)}
	for _, name := range st.by {
		name = strings.TrimSpace(name)
		if field, ok := strings.CutPrefix(name, "field:"); ok {
			g.keys = append(g.keys, key{name: field, field: newFieldRef(field)})
			continue
		}
		if i := slices.Index(keyNames, name); i >= 0 {
			g.keys = append(g.keys, key{name: keyNames[i]})
			g.named = g.named || keyNames[i] == "process" || keyNames[i] == "thread"
			continue
		}
		g.keys = append(g.keys, key{name: name, field: newFieldRef(name)})
	}
	for _, m := range st.measures {
		g.fields = append(g.fields, newFieldRef(m.field))
	}
	if st.histogram != "" {
		g.histogram = newFieldRef(st.histogram)
	}
	g.whole = len(g.keys) == 0 && g.histogram == nil && g.every == 0
	g.simple = g.histogram == nil && g.every == 0 && !slices.ContainsFunc(g.keys, func(k key) bool {
		return k.field != nil || !slices.Contains([]string{"provider", "event", "id", "opcode"}, k.name)
	})
	return g
}

// ordered reports whether groups come in the order of buckets.
func (g *groups) ordered() bool { return g.histogram != nil || g.every > 0 }

// add counts an event.
func (g *groups) add(s *shot) {
	x := g.find(s)
	if x == nil {
		return
	}
	g.counted++
	x.count++
	x.bytes += int64(len(s.Payload))
	x.first, x.last = min(x.first, s.elapsed), max(x.last, s.elapsed)
	if s.err != nil {
		x.undecodable++
	}
	for i, f := range g.fields {
		f.each(s, x.totals[i].add)
	}
}

// find returns the group of an event, nil if it lacks a field.
func (g *groups) find(s *shot) *group {
	if g.simple && s.event.Index < len(g.byKind) && g.byKind[s.event.Index] != nil {
		return g.byKind[s.event.Index]
	}
	bucket := int64(0)
	if g.histogram != nil {
		v, ok := g.histogram.value(s)
		if !ok {
			return nil
		}
		bucket = bucketOf(v)
	}
	if g.every > 0 {
		bucket = floorDiv(int64(s.elapsed), int64(g.every))
	}
	g.buf = binary.LittleEndian.AppendUint64(g.buf[:0], uint64(bucket))
	if !g.appendKeys(s) {
		return nil
	}
	x := g.byKey[string(g.buf)]
	if x == nil {
		x = &group{bucket: bucket, first: s.elapsed, last: s.elapsed, totals: make([]total, len(g.fields)), cells: g.cells(s)}
		for i, m := range g.measures {
			x.totals[i].keep = m.percentile() > 0
		}
		g.byKey[string(g.buf)] = x
		g.list = append(g.list, x)
	}
	if g.simple {
		for s.event.Index >= len(g.byKind) {
			g.byKind = append(g.byKind, nil)
		}
		g.byKind[s.event.Index] = x
	}
	return x
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendKeys appends to buf what tells groups apart. It reports false if the
// event lacks a field.
func (g *groups) appendKeys(s *shot) bool {
	if g.whole {
		for _, cell := range g.cells(s) {
			g.buf = append(append(g.buf, cell...), 0)
		}
		return true
	}
	for i := range g.keys {
		k := &g.keys[i]
		if k.field != nil {
			var ok bool
			if g.buf, ok = k.field.appendKey(g.buf, s); !ok {
				return false
			}
			continue
		}
		switch k.name {
		case "provider":
			g.buf = append(append(g.buf, s.event.Provider...), 0)
		case "event":
			g.buf = append(append(append(append(g.buf, s.event.Provider...), 0), s.event.Name...), 0)
		case "file":
			g.buf = append(append(g.buf, s.File...), 0)
		default:
			g.buf = binary.AppendVarint(g.buf, k.headNumber(s))
		}
	}
	return true
}

// headNumber returns a key that is a number in the header of an event.
func (k *key) headNumber(s *shot) int64 {
	switch k.name {
	case "id":
		return int64(s.ID)
	case "level":
		return int64(s.Level)
	case "task":
		return int64(s.task())
	case "opcode":
		return int64(s.opcode())
	case "process":
		return s.ProcessID
	case "thread":
		return s.ThreadID
	}
	return int64(s.Processor)
}

// cells returns what is shown of the keys of an event.
func (g *groups) cells(s *shot) []string {
	if g.whole {
		return []string{
			s.event.Provider, s.Provider.String(), strconv.Itoa(int(s.ID)), strconv.Itoa(int(s.Version)), strconv.Itoa(int(s.opcode())), s.event.Name,
		}
	}
	var cells []string
	for i := range g.keys {
		k := &g.keys[i]
		switch {
		case k.field != nil:
			cells = append(cells, k.field.text(s))
		case k.name == "provider":
			cells = append(cells, s.event.Provider)
		case k.name == "event":
			cells = append(cells, s.event.Name)
		case k.name == "file":
			cells = append(cells, s.File)
		case k.name == "level":
			cells = append(cells, strings.ToLower(s.Level.String()))
		default:
			cells = append(cells, strconv.FormatInt(k.headNumber(s), 10))
		}
	}
	return cells
}

// hasFields reports whether there are fields among the keys.
func (g *groups) hasFields() bool {
	return slices.ContainsFunc(g.keys, func(k key) bool { return k.field != nil })
}

// check checks the fields among the keys.
func (g *groups) check(descs []*etw.EventDesc) error {
	for i := range g.keys {
		k := &g.keys[i]
		if k.field == nil {
			continue
		}
		if err := k.field.check(descs); err != nil {
			return usagef("--by: %s", explainKey(err))
		}
		k.number = !slices.ContainsFunc(filter.FindField(descs, k.field.path), func(d *etw.FieldDesc) bool { return !isDecimal(d) })
	}
	return nil
}

// isDecimal reports whether values of the field d are shown as plain numbers.
func isDecimal(d *etw.FieldDesc) bool {
	b, number := appendFieldCell(nil, d, etw.UintValue(1), etw.EnumNames)
	return number && filter.Class(d) == filter.ClassNumber && d.Type != etw.InPointer && d.Count.Kind == etw.SizeNone && string(b) == "1"
}

func explainKey(err error) string {
	return explainField(err) + "; besides there are " + strings.Join(keyNames, ", ")
}

// columns returns those of the table: intervals, counts, measures and keys.
func (g *groups) columns(undecodable bool) []column {
	var list []column
	switch {
	case g.histogram != nil:
		list = append(list, num("from"), num("to"))
	case g.every > 0:
		list = append(list, num("ms"))
	}
	list = append(list, num("count"), num("share").forPeople(), num("bytes"))
	if g.ordered() {
		list = append(list, column{name: "", text: true})
	}
	for _, m := range g.measures {
		list = append(list, m.column())
	}
	if undecodable {
		list = append(list, num("undecodable"))
	}
	if g.whole {
		return append(list, num("firstMs").fromFirst().spared(1), num("lastMs").fromFirst().spared(1), word("provider"), word("guid").forPrograms(), num("id"),
			column{name: "version", head: "VER", number: true}.spared(2), column{name: "opcode", head: "OP", number: true}.spared(2), word("event"))
	}
	for _, k := range g.keys {
		switch k.name {
		case "process", "thread":
			list = append(list, column{name: map[string]string{"process": "pid", "thread": "tid"}[k.name], number: true}, word(k.name))
		case "id", "task", "opcode", "cpu":
			list = append(list, num(k.name))
		default:
			list = append(list, column{name: k.name, head: headOf(k), number: k.number})
		}
	}
	return list
}

// headOf returns the heading of a key: fields are called as they are.
func headOf(k key) string {
	if k.field != nil {
		return k.name
	}
	return ""
}

// labelColumn returns the last column of text, which can say what an extra row
// counts, or -1.
func (g *groups) labelColumn(t *table) int {
	for i := len(t.columns) - 1; i >= 0; i-- {
		if !t.columns[i].number && !t.columns[i].text {
			return i
		}
	}
	return -1
}

// fill adds a row for each group, in the order of buckets and keys.
func (g *groups) fill(t *table, n *names) {
	slices.SortFunc(g.list, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), compareCells(a.cells, b.cells))
	})
	most := int64(1)
	for _, x := range g.list {
		most = max(most, x.count)
	}
	var before *group
	for _, x := range g.list {
		if before != nil && g.ordered() && len(g.keys) == 0 {
			for bucket := before.bucket + 1; bucket < x.bucket && bucket-before.bucket < mostGaps; bucket++ {
				t.add(g.row(t, &group{bucket: bucket, totals: make([]total, len(g.fields))}, n, most)...)
			}
		}
		t.add(g.row(t, x, n, most)...)
		before = x
	}
}

// mostGaps is how many intervals without events are shown in a row.
const mostGaps = 1000

func compareCells(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		m, errX := strconv.ParseInt(x, 10, 64)
		n, errY := strconv.ParseInt(y, 10, 64)
		if errX == nil && errY == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(x, y)
	})
}

// row returns the cells of a group, for the columns of t.
func (g *groups) row(t *table, x *group, n *names, most int64) []string {
	var row []string
	switch {
	case g.histogram != nil:
		row = append(row, bucketStart(x.bucket), bucketStart(x.bucket+1))
	case g.every > 0:
		row = append(row, string(appendExactMS(nil, time.Duration(x.bucket*int64(g.every)))))
	}
	row = append(row, strconv.FormatInt(x.count, 10), percent(x.count, g.counted), strconv.FormatInt(x.bytes, 10))
	if g.ordered() {
		row = append(row, strings.Repeat("█", int((x.count*barWidth+most-1)/most)))
	}
	for i, m := range g.measures {
		row = append(row, x.totals[i].result(m))
	}
	if slices.ContainsFunc(t.columns, func(c column) bool { return c.name == "undecodable" }) {
		row = append(row, strconv.FormatInt(x.undecodable, 10))
	}
	if g.whole {
		row = append(row, string(appendMS(nil, x.first)), string(appendMS(nil, x.last)))
		return append(row, x.cells...)
	}
	for i, k := range g.keys {
		if x.cells == nil {
			row = append(row, "")
			continue
		}
		row = append(row, x.cells[i])
		if k.name == "process" || k.name == "thread" {
			id, _ := strconv.ParseInt(x.cells[i], 10, 64)
			row = append(row, map[string]map[int64]string{"process": n.processes, "thread": n.threads}[k.name][id])
		}
	}
	return row
}

// barWidth is the width of the longest bar.
const barWidth = 20

func percent(part, whole int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, 1)), 'f', 2, 64) + "%"
}
