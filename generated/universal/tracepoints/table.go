package tracepoints

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/internal/tracepoint"
	"github.com/etwgen/etwgen/runtime/etw"
)

//go:embed tracepoints.txt
var tableText string

// table has the events of the table, each as a provider of its own, by group and name.
var table = sync.OnceValue(func() map[string]*etw.Provider {
	t, err := readTable(tableText)
	if err != nil {
		panic("tracepoints: " + err.Error()) // a test reads it
	}
	return t
})

// Names returns the names of the events that are known, such as sched/sched_switch, in
// the order of the table.
func Names() []string {
	var list []string
	for line := range strings.Lines(tableText) {
		if isEvent(line) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// Event returns the description of an event by its name, such as sched/sched_switch, or
// nil. The id is 0: every kernel has its own.
func Event(name string) *etw.EventDesc {
	if p := table()[name]; p != nil {
		return p.Events[0]
	}
	return nil
}

// Of returns the description of an event of the kernel, or nil. The trace must agree with
// that, as far as it goes, and the payload must have all of it: other kernels may have other
// fields.
func Of(r *etw.Record) *etw.Provider {
	if r.Schema == nil || !r.Schema.Named {
		return nil
	}
	p := table()[r.ProviderName+"/"+r.Schema.Name]
	if p == nil || !agrees(p.Events[0], r) {
		return nil
	}
	return p
}

// agrees reports whether a record can have a layout.
func agrees(d *etw.EventDesc, r *etw.Record) bool {
	if len(r.Schema.Fields) > len(d.Fields) {
		return false
	}
	for i := range r.Schema.Fields {
		if r.Schema.Fields[i].Name != d.Fields[i].Name {
			return false
		}
	}
	least, _ := d.Size(etw.Ptr64)
	return len(r.Payload) >= least
}

func isEvent(line string) bool {
	return strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '#'
}

// readTable reads the table.
func readTable(text string) (map[string]*etw.Provider, error) {
	t := make(map[string]*etw.Provider)
	var name string
	var members []tracepoint.Member
	finish := func() error {
		if name == "" {
			return nil
		}
		group, event, _ := strings.Cut(name, "/")
		d, err := tracepoint.Describe(group, event, 0, members)
		if err != nil {
			return err
		}
		t[name] = &etw.Provider{Desc: d.Provider, Events: []*etw.EventDesc{d}}
		return nil
	}
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case len(words) == 0, line[0] == '#':
		case isEvent(line):
			if err := finish(); err != nil {
				return nil, err
			}
			name, members = words[0], slices.Clone(tracepoint.Common)
		case len(words) == 2:
			m, align, err := parseMember(words[0], words[1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			last := members[len(members)-1]
			m.Offset = (last.Offset + last.Size + align - 1) / align * align
			members = append(members, m)
		default:
			return nil, fmt.Errorf("%s: %q", name, line)
		}
	}
	return t, finish()
}

// scalars are the types of single numbers in the table.
var scalars = map[string]struct {
	desc etw.FieldDesc
	size int
}{
	"bool": {etw.FieldDesc{Type: etw.InBool8}, 1},
	"i16":  {etw.FieldDesc{Type: etw.InInt16}, 2},
	"i32":  {etw.FieldDesc{Type: etw.InInt32}, 4},
	"i64":  {etw.FieldDesc{Type: etw.InInt64}, 8},
	"u16":  {etw.FieldDesc{Type: etw.InUInt16}, 2},
	"u32":  {etw.FieldDesc{Type: etw.InUInt32}, 4},
	"u64":  {etw.FieldDesc{Type: etw.InUInt64}, 8},
	"x32":  {etw.FieldDesc{Type: etw.InUInt32, Out: etw.OutHexInt32}, 4},
	"x64":  {etw.FieldDesc{Type: etw.InUInt64, Out: etw.OutHexInt64}, 8},
}

// parseMember reads a field of the table, without its offset.
func parseMember(name, typ string) (m tracepoint.Member, align int, err error) {
	typ, roomText, _ := strings.Cut(typ, "/")
	base, countText, _ := strings.Cut(strings.TrimSuffix(typ, "]"), "[")
	count, _ := strconv.Atoi(countText)
	switch s, ok := scalars[base]; {
	case typ == "text":
		m, align = tracepoint.Member{FieldDesc: tracepoint.Text(name), Size: 4}, 4
	case base == "char":
		m, align = tracepoint.Member{FieldDesc: tracepoint.Chars(name, count), Size: count}, 1
	case typ == "u8[4]":
		m, align = tracepoint.Member{FieldDesc: etw.FieldDesc{Type: etw.InUInt32, Out: etw.OutIPv4}, Size: 4}, 1
	case typ == "u8[16]":
		m, align = tracepoint.Member{FieldDesc: etw.FieldDesc{Type: etw.InBinary, Out: etw.OutIPv6, Length: etw.Size{Kind: etw.SizeConst, N: 16}}, Size: 16}, 1
	case ok:
		m, align = tracepoint.Member{FieldDesc: s.desc, Size: s.size}, s.size
		if count > 0 {
			m.Count, m.Size = etw.Size{Kind: etw.SizeConst, N: uint32(count)}, count*s.size
		}
	default:
		return m, 0, fmt.Errorf("type %q of %s", typ, name)
	}
	m.Name = name
	if room, _ := strconv.Atoi(roomText); room > m.Size {
		m.Room, m.Size, align = uint16(room), room, room
	}
	return m, align, nil
}
