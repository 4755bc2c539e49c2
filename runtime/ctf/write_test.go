package ctf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A writer writes a trace of random types and values, and the lines that babeltrace2 prints of it.
type writer struct {
	*rand.Rand
	big    bool
	stream bitWriter
	names  int
}

// A bitWriter writes numbers bit by bit, in the plainest way.
type bitWriter struct {
	b   []byte
	at  int
	big bool
}

func (w *bitWriter) bit(v uint64) {
	if w.at/8 == len(w.b) {
		w.b = append(w.b, 0)
	}
	if w.big {
		w.b[w.at/8] |= byte(v&1) << (7 - w.at%8)
	} else {
		w.b[w.at/8] |= byte(v&1) << (w.at % 8)
	}
	w.at++
}

func (w *bitWriter) align(n int) {
	for w.at%n != 0 {
		w.bit(0)
	}
}

func (w *bitWriter) number(v uint64, size, align int) {
	w.align(align)
	for i := range size {
		if w.big {
			i = size - 1 - i
		}
		w.bit(v >> i)
	}
}

// A kindOfField is how the writer declares a field, and writes a value of it, whose text it
// returns.
type kindOfField struct {
	declared string // with % in place of the name
	align    int
	write    func() string
	value    uint64 // the last one, of integers
}

func (w *writer) name() string {
	w.names++
	return fmt.Sprintf("f%d", w.names)
}

// integer makes an integer of any size.
func (w *writer) integer() *kindOfField {
	size, signed, hex := 1+w.IntN(64), w.IntN(2) == 0, w.IntN(4) == 0
	align := []int{1, 1, 8, 16, 32}[w.IntN(5)]
	return w.integerOf(size, align, signed, hex)
}

func (w *writer) integerOf(size, align int, signed, hex bool) *kindOfField {
	base := 10
	if hex && (size <= 60 || size == 64) { // babeltrace2 prints others as 0x0
		base, signed = 16, false
	}
	k := &kindOfField{align: align, declared: fmt.Sprintf("integer { size = %d; align = %d; signed = %t; base = %d; } %%", size, align, signed, base)}
	k.write = func() string {
		v := w.Uint64() >> (64 - size)
		k.value = v
		w.stream.number(v, size, align)
		switch {
		case base == 16:
			return fmt.Sprintf("0x%X", v)
		case signed:
			return strconv.FormatInt(int64(v<<(64-size))>>(64-size), 10)
		}
		return strconv.FormatUint(v, 10)
	}
	return k
}

func (w *writer) text() *kindOfField {
	return &kindOfField{align: 8, declared: "string %", write: func() string {
		s := "v" + strings.Repeat("ä√x ", w.IntN(5)) // babeltrace2 prints an old text for an empty one
		w.stream.align(8)
		for _, c := range []byte(s + "\x00") {
			w.stream.number(uint64(c), 8, 8)
		}
		return `"` + s + `"`
	}}
}

func (w *writer) float() *kindOfField {
	if w.IntN(2) == 0 {
		return &kindOfField{align: 8, declared: "floating_point { exp_dig = 8; mant_dig = 24; align = 8; } %", write: func() string {
			v := float32(w.IntN(1000)) / 8
			w.stream.number(uint64(math.Float32bits(v)), 32, 8)
			return strconv.FormatFloat(float64(v), 'g', 6, 32)
		}}
	}
	return &kindOfField{align: 64, declared: "floating_point { exp_dig = 11; mant_dig = 53; align = 64; } %", write: func() string {
		v := float64(w.IntN(100000)) / 16
		w.stream.number(math.Float64bits(v), 64, 64)
		return strconv.FormatFloat(v, 'g', 6, 64)
	}}
}

// field makes a field of any kind.
func (w *writer) field(depth int) *kindOfField {
	n := w.IntN(12)
	switch {
	case n == 0:
		return w.text()
	case n == 1:
		return w.float()
	case n == 2 && depth < 3:
		return w.structure(depth + 1)
	case n == 3 && depth < 3:
		return w.array(depth)
	}
	return w.integer()
}

// array makes an array of a constant number of elements, which may differ if they are structs.
func (w *writer) array(depth int) *kindOfField {
	e, n := w.field(4), w.IntN(5)
	if w.IntN(2) == 0 {
		e, n = w.structure(depth+1), 1+w.IntN(3)
	}
	return &kindOfField{align: e.align, declared: strings.Replace(e.declared, "%", fmt.Sprintf("%%[%d]", n), 1), write: func() string { return w.elements(e, n) }}
}

func (w *writer) elements(e *kindOfField, n int) string {
	w.stream.align(e.align)
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("[%d] = %s", i, e.write()))
	}
	if n == 0 {
		return "[ ]"
	}
	return "[ " + strings.Join(list, ", ") + " ]"
}

// structure makes a struct, with sequences and variants among its fields.
func (w *writer) structure(depth int) *kindOfField {
	var names []string
	var fields []*kindOfField
	add := func(name string, k *kindOfField) { names, fields = append(names, name), append(fields, k) }
	for range 1 + w.IntN(4) {
		switch w.IntN(5) {
		case 0:
			length := w.integerOf(3, 1, false, false)
			tag, e := w.name(), w.field(4)
			add(tag, length)
			ref := tag
			add(w.name(), &kindOfField{align: e.align, declared: strings.Replace(e.declared, "%", "%[ "+ref+" ]", 1), write: func() string { return w.elements(e, int(length.value)) }})
		case 1:
			tag := w.name()
			k := w.integerOf(2, 1, false, false)
			enum := &kindOfField{align: 1, declared: "enum : integer { size = 2; align = 1; signed = false; } { a = 0, b = 1 ... 2, \"c\" = 3 } %"}
			enum.write = func() string {
				k.write()
				return fmt.Sprintf("( %q : container = %d )", []string{"a", "b", "b", "c"}[k.value], k.value)
			}
			add(tag, enum)
			options := []*kindOfField{w.field(depth + 1), w.field(depth + 1), w.field(depth + 1)}
			declared := "variant <" + tag + "> { "
			for i, o := range options {
				declared += strings.Replace(o.declared, "%", string(rune('a'+i)), 1) + "; "
			}
			add("v"+w.name(), &kindOfField{align: 1, declared: declared + "} %", write: func() string {
				o := options[[]int{0, 1, 1, 2}[k.value]]
				w.stream.align(o.align)
				return "{ " + o.write() + " }"
			}})
		default:
			add(w.name(), w.field(depth))
		}
	}
	s := &kindOfField{align: 1, declared: "struct { "}
	for i, k := range fields {
		s.align = max(s.align, k.align)
		s.declared += strings.Replace(k.declared, "%", names[i], 1) + "; "
	}
	s.declared += "} %"
	s.write = func() string {
		w.stream.align(s.align)
		var list []string
		for i, k := range fields {
			w.stream.align(k.align)
			list = append(list, names[i]+" = "+k.write())
		}
		return "{ " + strings.Join(list, ", ") + " }"
	}
	return s
}

// trace writes a trace of a few kinds of events, and returns the lines of them.
func (w *writer) trace(compact bool) (f *folder, lines []string) {
	order, header := "le", "struct { enum : integer { size = 16; align = 8; } { compact = 0 ... 65534, extended = 65535 } id; variant <id> { struct { integer { size = 32; align = 8; map = clock.c.value; } timestamp; } compact; struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; } extended; } v; } align(8)"
	if compact {
		header = "struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id; variant <id> { struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact; struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; } extended; } v; } align(8)"
	}
	if w.big {
		order = "be"
	}
	text := "/* CTF 1.8 */ typealias integer { size = 32; align = 8; } := uint32_t;\n" +
		"trace { major = 1; minor = 8; byte_order = " + order + "; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n" +
		"clock { name = c; freq = 1000000000; offset = 1500000000000000000; };\n" +
		"stream { id = 3; packet.context := struct { uint32_t content_size; uint32_t packet_size; integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin; uint32_t cpu_id; };\n" +
		"event.header := " + header + "; event.context := struct { uint32_t vpid; uint32_t vtid; }; };\n"
	var events []*kindOfField
	for i := range 5 {
		events = append(events, w.structure(0))
		text += fmt.Sprintf("event { name = \"p:e%d\"; id = %d; stream_id = 3; fields := %s; };\n", i, i, strings.Replace(events[i].declared, " %", "", 1))
	}
	f = &folder{metadata: []byte(text)}
	now := uint64(1000)
	var file []byte
	for range 3 {
		w.stream = bitWriter{big: w.big}
		s := &w.stream
		s.number(streamMagic, 32, 8)
		s.number(3, 32, 8)
		s.number(0, 32, 8) // the sizes are known later
		s.number(0, 32, 8)
		s.number(now, 64, 8)
		s.number(2, 32, 8)
		for range 20 {
			now += w.Uint64N(1 << 24)
			id := w.IntN(len(events))
			w.header(compact, id, now)
			pid, tid := w.Uint64N(1<<31), w.Uint64N(1<<31)
			s.number(pid, 32, 8)
			s.number(tid, 32, 8)
			lines = append(lines, fmt.Sprintf("[%d.%09d] p:e%d: { cpu_id = 2 }, { vpid = %d, vtid = %d }, %s", 1500000000+now/1e9, now%1e9, id, pid, tid, events[id].write()))
		}
		content := s.at
		s.align(64)
		put := binary.ByteOrder(binary.LittleEndian).PutUint32
		if w.big {
			put = binary.BigEndian.PutUint32
		}
		put(s.b[8:], uint32(content))
		put(s.b[12:], uint32(s.at))
		file = append(file, s.b...)
	}
	f.streams = []File{{"channel0", bytes.NewReader(file), int64(len(file))}}
	return f, lines
}

// header writes the header of an event, of which every fourth is the long one.
func (w *writer) header(compact bool, id int, now uint64) {
	s := &w.stream
	s.align(8)
	long := w.IntN(4) == 0
	switch {
	case compact && long:
		s.number(31, 5, 1)
	case compact:
		s.number(uint64(id), 5, 1)
		s.number(now&(1<<27-1), 27, 1)
	case long:
		s.number(65535, 16, 8)
	default:
		s.number(uint64(id), 16, 8)
		s.number(now&(1<<32-1), 32, 8)
	}
	if long {
		s.number(uint64(id), 32, 8)
		s.number(now, 64, 8)
	}
}
