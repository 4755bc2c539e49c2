package look

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// keyNames are the keys to count events by, beside fields.
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
	life        int      // which of the programs that had the number of its process in turn
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
	names     *pick.Names
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
func (g *groups) add(s *pick.Shot) {
	x := g.find(s)
	if x == nil {
		return
	}
	g.counted++
	x.count++
	x.bytes += int64(len(s.Payload))
	x.first, x.last = min(x.first, s.Elapsed), max(x.last, s.Elapsed)
	if s.Err != nil {
		x.undecodable++
	}
	for i, f := range g.fields {
		f.each(s, x.totals[i].add)
	}
}

// find returns the group of an event, nil if it lacks a field.
func (g *groups) find(s *pick.Shot) *group {
	if g.simple && s.Event.Index < len(g.byKind) && g.byKind[s.Event.Index] != nil {
		return g.byKind[s.Event.Index]
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
		bucket = floorDiv(int64(s.Elapsed), int64(g.every))
	}
	g.buf = binary.LittleEndian.AppendUint64(g.buf[:0], uint64(bucket))
	if !g.appendKeys(s) {
		return nil
	}
	x := g.byKey[string(g.buf)]
	if x == nil {
		x = &group{bucket: bucket, first: s.Elapsed, last: s.Elapsed, totals: make([]total, len(g.fields)), cells: g.cells(s)}
		for i, m := range g.measures {
			x.totals[i].keep = m.percentile() > 0
		}
		if g.named {
			x.life = g.names.Life(windows.Subject(s.Record))
		}
		g.byKey[string(g.buf)] = x
		g.list = append(g.list, x)
	}
	if g.simple {
		for s.Event.Index >= len(g.byKind) {
			g.byKind = append(g.byKind, nil)
		}
		g.byKind[s.Event.Index] = x
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

// appendKeys appends the key that tells groups apart to buf. It reports false if the event
// lacks a field.
func (g *groups) appendKeys(s *pick.Shot) bool {
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
			g.buf = append(append(g.buf, s.Event.Provider...), 0)
		case "event":
			g.buf = append(append(append(append(g.buf, s.Event.Provider...), 0), s.Event.Name...), 0)
		case "file":
			g.buf = append(append(g.buf, s.File...), 0)
		default:
			number := k.headNumber(s)
			if g.buf = binary.AppendVarint(g.buf, number); k.name == "process" {
				g.buf = binary.AppendVarint(g.buf, int64(g.names.Life(number)))
			}
		}
	}
	return true
}

// headNumber returns a key that is a number in the header of an event.
func (k *key) headNumber(s *pick.Shot) int64 {
	switch k.name {
	case "id":
		return int64(s.ID)
	case "level":
		return int64(s.Level)
	case "task":
		return int64(s.EventTask())
	case "opcode":
		return int64(s.EventOpcode())
	case "process":
		return windows.Subject(s.Record)
	case "thread":
		return s.ThreadID
	}
	return int64(s.Processor)
}

// cells returns the shown form of the keys of an event.
func (g *groups) cells(s *pick.Shot) []string {
	if g.whole {
		return []string{
			s.Event.Provider, s.Provider.String(), strconv.Itoa(int(s.ID)), strconv.Itoa(int(s.Version)), strconv.Itoa(int(s.EventOpcode())), s.Event.Name,
		}
	}
	var cells []string
	for i := range g.keys {
		k := &g.keys[i]
		switch {
		case k.field != nil:
			cells = append(cells, k.field.text(s))
		case k.name == "provider":
			cells = append(cells, s.Event.Provider)
		case k.name == "event":
			cells = append(cells, s.Event.Name)
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

// check checks the fields among the keys.
func (g *groups) check(descs []*etw.EventDesc) error {
	for i := range g.keys {
		k := &g.keys[i]
		if k.field == nil {
			continue
		}
		if err := k.field.check(descs); err != nil {
			return cli.Usagef("--by: %s; besides there are %s", pick.ExplainField(err), strings.Join(keyNames, ", "))
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

// columns returns those of the table: intervals, counts, measures and keys.
func (g *groups) columns(undecodable bool) []show.Column {
	var list []show.Column
	switch {
	case g.histogram != nil:
		list = append(list, show.Num("from"), show.Num("to"))
	case g.every > 0:
		list = append(list, show.Num("ms"))
	}
	list = append(list, show.Num("count"), show.Num("share").ForPeople(), show.Num("bytes"))
	if g.ordered() {
		list = append(list, show.Column{Name: "", Text: true})
	}
	for _, m := range g.measures {
		list = append(list, m.column())
	}
	if undecodable {
		list = append(list, show.Num("undecodable"))
	}
	if g.whole {
		return append(list, show.Num("firstMs").FromFirst().Spared(1), show.Num("lastMs").FromFirst().Spared(1), show.Word("provider"), show.Word("guid").ForPrograms(), show.Num("id"),
			show.Column{Name: "version", Head: "VER", Number: true}.Spared(2), show.Column{Name: "opcode", Head: "OP", Number: true}.Spared(2), show.Word("event"))
	}
	for _, k := range g.keys {
		switch k.name {
		case "process", "thread":
			list = append(list, show.Column{Name: map[string]string{"process": "pid", "thread": "tid"}[k.name], Number: true}, show.Word(k.name))
		case "id", "task", "opcode", "cpu":
			list = append(list, show.Num(k.name))
		default:
			list = append(list, show.Column{Name: k.name, Head: headOf(k), Number: k.number})
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

// fill adds a row for each group, in the order of buckets and keys.
func (g *groups) fill(t *show.Table, n *pick.Names) {
	order.Sort(g.list, func(a, b *group) int {
		if c := cmp.Compare(a.bucket, b.bucket); c != 0 {
			return c
		}
		return compareCells(a.cells, b.cells)
	})
	most := int64(1)
	for _, x := range g.list {
		most = max(most, x.count)
	}
	var before *group
	gaps := g.gaps()
	for _, x := range g.list {
		if before != nil && gaps > 0 && gaps <= mostGaps {
			for bucket := before.bucket + 1; bucket < x.bucket; bucket++ {
				t.Add(g.row(t, &group{bucket: bucket, totals: make([]total, len(g.fields))}, n, most)...)
			}
		}
		t.Add(g.row(t, x, n, most)...)
		before = x
	}
}

// mostGaps is how many intervals without events are rows at most. A table that has more has none.
const mostGaps = 10_000

// gaps returns how many intervals lie between groups, once these are sorted.
func (g *groups) gaps() int64 {
	if !g.ordered() || len(g.keys) > 0 || len(g.list) == 0 {
		return 0
	}
	return g.list[len(g.list)-1].bucket - g.list[0].bucket + 1 - int64(len(g.list))
}

// compareCells has numbers before texts: to compare one of each as texts has 9 before 10, 10
// before 1a and that before 9.
func compareCells(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		if x == y {
			return 0
		}
		m, isX := wholeNumber(x)
		n, isY := wholeNumber(y)
		switch {
		case isX && !isY:
			return -1
		case isY && !isX:
			return 1
		}
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(x, y))
	})
}

// wholeNumber returns the value of a cell that is a whole number; one without contents is the least.
func wholeNumber(s string) (int64, bool) {
	if s == "" {
		return math.MinInt64, true
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c != '-' || i > 0 || len(s) == 1) {
			return 0, false // an error of ParseInt costs more than all else
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil { // it has more than 64 bits
		return 0, false
	}
	return n, true
}

// row returns the cells of a group, for the columns of t.
func (g *groups) row(t *show.Table, x *group, n *pick.Names, most int64) []string {
	var row []string
	switch {
	case g.histogram != nil:
		row = append(row, bucketStart(x.bucket), bucketStart(x.bucket+1))
	case g.every > 0:
		row = append(row, string(show.AppendExactMS(nil, time.Duration(x.bucket*int64(g.every)))))
	}
	row = append(row, strconv.FormatInt(x.count, 10), percent(x.count, g.counted), strconv.FormatInt(x.bytes, 10))
	if g.ordered() {
		row = append(row, strings.Repeat("█", int((x.count*barWidth+most-1)/most)))
	}
	for i, m := range g.measures {
		row = append(row, x.totals[i].result(m))
	}
	if slices.ContainsFunc(t.Columns, func(c show.Column) bool { return c.Name == "undecodable" }) {
		row = append(row, strconv.FormatInt(x.undecodable, 10))
	}
	if g.whole {
		row = append(row, string(show.AppendMS(nil, x.first)), string(show.AppendMS(nil, x.last)))
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
			name := n.Threads[id]
			if k.name == "process" {
				name = n.OfLife(id, x.life)
			}
			row = append(row, name)
		}
	}
	return row
}

// barWidth is the width of the longest bar.
const barWidth = 20

func percent(part, whole int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, 1)), 'f', 2, 64) + "%"
}
