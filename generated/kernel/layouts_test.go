package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An encoder makes payloads up by the tables of facts alone, and tells their values. It
// shares nothing with generated code.
type encoder struct {
	rnd     *rand.Rand
	ptr     int
	payload []byte
	numbers map[string]uint64 // fields that count others
	cut     bool              // the fields from the first optional one on are missing
	ended   bool
}

// fields appends fields and returns their values.
func (e *encoder) fields(rows []map[string]string, prefix string) []string {
	var texts []string
	for i := 0; i < len(rows); i++ {
		row := rows[i]
		var members []map[string]string
		for i+1 < len(rows) && strings.HasPrefix(rows[i+1]["name"], row["name"]+".") {
			members = append(members, rows[i+1])
			i++
		}
		texts = append(texts, e.field(row, members, prefix))
	}
	return texts
}

// missing stands for a field that a payload lacks.
const missing = "-"

func (e *encoder) field(row map[string]string, members []map[string]string, prefix string) string {
	switch condition := row["condition"]; {
	case condition == "ptr8" && e.ptr != 8, condition == "ptr4" && e.ptr != 4:
		return missing
	case strings.HasPrefix(condition, "rest") && e.cut:
		e.ended = true
	}
	typ, count := row["type"], row["count"]
	if e.ended && count != "rest" {
		return missing
	}
	n, counted := 0, count != ""
	switch {
	case e.ended:
	case count == "rest":
		n = e.rnd.IntN(4)
	case counted:
		if k, err := strconv.Atoi(count); err == nil {
			n = k
		} else {
			n = int(e.numbers[prefix+count])
		}
	}
	switch {
	case typ == "bin":
		return fmt.Sprintf("%x", e.bytes(n))
	case typ == "wchar":
		return e.text(n, false)
	case typ == "struct" && !counted:
		return e.structure(members, row["name"]+".")
	case typ == "struct":
		return e.array(n, func() string { return e.structure(members, row["name"]+".") })
	case counted:
		return e.array(n, func() string { return e.scalar(typ, row) })
	}
	return e.scalar(typ, row)
}

func (e *encoder) structure(members []map[string]string, prefix string) string {
	return "{" + strings.Join(e.fields(members, prefix), " ") + "}"
}

func (e *encoder) array(n int, element func() string) string {
	var list []string
	for range n {
		list = append(list, element())
	}
	return "[" + strings.Join(list, " ") + "]"
}

func (e *encoder) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(e.rnd.Uint32())
	}
	e.payload = append(e.payload, b...)
	return b
}

// text appends characters of UTF-16, and a NUL if there is to be one.
func (e *encoder) text(n int, nul bool) string {
	letters := []rune("aB9 äß√漢")
	var s []rune
	for range n {
		s = append(s, letters[e.rnd.IntN(len(letters))])
	}
	units := utf16.Encode(s)
	if nul {
		units = append(units, 0)
	}
	for _, u := range units {
		e.payload = binary.LittleEndian.AppendUint16(e.payload, u)
	}
	return strconv.Quote(string(s))
}

// scalar appends one value of a type.
func (e *encoder) scalar(typ string, row map[string]string) string {
	le := binary.LittleEndian
	switch typ {
	case "ptr", "size":
		b := e.bytes(e.ptr)
		if e.ptr == 4 {
			return e.note(row, uint64(le.Uint32(b)))
		}
		return e.note(row, le.Uint64(b))
	case "wstr":
		return e.text(e.rnd.IntN(6), true)
	case "astr":
		text := "path\\of file"[:e.rnd.IntN(13)]
		e.payload = append(append(e.payload, text...), 0)
		return strconv.Quote(text)
	case "sid":
		return e.sid()
	case "guid", "ipv6":
		return fmt.Sprintf("%x", e.bytes(16))
	case "filetime":
		return strconv.FormatUint(le.Uint64(e.bytes(8)), 10)
	case "systemtime":
		return fmt.Sprintf("%x", e.bytes(16))
	case "qpc":
		typ = "u64"
	case "port":
		typ = "u16"
	case "ipv4":
		typ = "u32"
	}
	size, err := strconv.Atoi(typ[1:])
	if err != nil {
		panic(typ)
	}
	size /= 8
	v := e.rnd.Uint64() >> (64 - 8*size)
	if e.isCount(row["name"]) {
		v = uint64(e.rnd.IntN(4))
	}
	for i := range size {
		e.payload = append(e.payload, byte(v>>(8*i)))
	}
	if typ[0] == 'i' && (size > 1 || row["map"] == "") {
		return strconv.FormatInt(int64(v)<<(64-8*size)>>(64-8*size), 10)
	}
	return e.note(row, v)
}

func (e *encoder) isCount(name string) bool {
	_, ok := e.numbers[name]
	return ok
}

// note remembers a number that may count others.
func (e *encoder) note(row map[string]string, v uint64) string {
	if e.isCount(row["name"]) {
		e.numbers[row["name"]] = v
	}
	return strconv.FormatUint(v, 10)
}

// sid appends a SID behind a TOKEN_USER, or nothing but 4 bytes of 0.
func (e *encoder) sid() string {
	if e.rnd.IntN(4) == 0 {
		e.payload = append(e.payload, 0, 0, 0, 0)
		return ""
	}
	e.payload = append(e.payload, 1)
	e.bytes(2*e.ptr - 1)
	n, authority := e.rnd.IntN(5), e.rnd.Uint32()
	e.payload = append(e.payload, 1, byte(n), 0, 0)
	e.payload = binary.BigEndian.AppendUint32(e.payload, authority)
	text := fmt.Sprintf("S-1-%d", authority)
	for range n {
		sub := e.rnd.Uint32()
		e.payload = binary.LittleEndian.AppendUint32(e.payload, sub)
		text += fmt.Sprintf("-%d", sub)
	}
	return text
}

// held returns the contents of a decoded value, as an encoder says it.
func held(v etw.Value) string {
	switch v.Kind() {
	case etw.ValueNone:
		return missing
	case etw.ValueInt:
		return strconv.FormatInt(v.Int(), 10)
	case etw.ValueUint, etw.ValuePointer, etw.ValueBool:
		return strconv.FormatUint(v.Uint(), 10)
	case etw.ValueFileTime:
		return strconv.FormatUint(uint64(v.FileTime()), 10)
	case etw.ValueUTF16, etw.ValueANSI:
		return strconv.Quote(v.Text())
	case etw.ValueGUID:
		g := v.GUID()
		return fmt.Sprintf("%x", g[:])
	case etw.ValueBinary:
		return fmt.Sprintf("%x", v.Bytes())
	case etw.ValueSystemTime:
		var b []byte
		t := v.SystemTime()
		for _, part := range []uint16{t.Year, t.Month, t.DayOfWeek, t.Day, t.Hour, t.Minute, t.Second, t.Milliseconds} {
			b = binary.LittleEndian.AppendUint16(b, part)
		}
		return fmt.Sprintf("%x", b)
	case etw.ValueArray:
		var list []string
		for element := range v.Elements() {
			list = append(list, held(element))
		}
		return "[" + strings.Join(list, " ") + "]"
	case etw.ValueStruct:
		var list []string
		for _, member := range v.Members() {
			list = append(list, held(member))
		}
		return "{" + strings.Join(list, " ") + "}"
	}
	return v.String()
}

// TestMadeUpPayloads: payloads by the tables are decoded by their types, for all versions of
// all events, and encodes again.
func TestMadeUpPayloads(t *testing.T) {
	classes := make(map[string]etw.GUID)
	for _, row := range table(t, "kernel-providers.tsv") {
		if row["guid"] != "" {
			classes[row["task"]] = etw.MustParseGUID(row["guid"])
		}
	}
	layouts := make(map[string][]map[string]string)
	for _, row := range table(t, "kernel-fields.tsv") {
		if row["type"] != "none" {
			layouts[row["layout"]] = append(layouts[row["layout"]], row)
		}
	}
	registry := etw.NewRegistry(Provider)
	types := make(map[*etw.EventDesc]etw.Event)
	for _, e := range Types() {
		types[e.EventDesc()] = e
	}
	versions, payloads, exact := 0, 0, 0
	for _, row := range table(t, "kernel-events.tsv") {
		if row["versions"] == "-" {
			continue
		}
		opcode, _ := strconv.ParseUint(row["opcode"], 10, 8)
		for pair := range strings.SplitSeq(row["layouts"], ",") {
			number, layout, _ := strings.Cut(pair, ":")
			version, _ := strconv.ParseUint(number, 10, 8)
			d := registry.Lookup(etw.Key{Kind: etw.KindClassic, Provider: classes[row["task"]], ID: uint16(opcode), Version: uint8(version)})
			versions++
			for seed := range uint64(8) {
				payloads++
				if err := checkMadeUp(types[d], layouts[layout], seed); err != nil {
					t.Errorf("%s version %d, seed %d: %v", d.Title(), version, seed, err)
					break
				}
				exact++
			}
		}
	}
	t.Logf("%d of %d made-up payloads of %d versions decode and encode exactly", exact, payloads, versions)
}

func checkMadeUp(event etw.Event, rows []map[string]string, seed uint64) error {
	e := &encoder{rnd: rand.New(rand.NewPCG(seed, 13)), ptr: 4 + 4*int(seed%2), cut: seed%4 >= 2, numbers: make(map[string]uint64)}
	for _, row := range rows {
		if c := row["count"]; c != "" && c != "rest" && (c[0] < '0' || c[0] > '9') {
			prefix := ""
			if i := strings.LastIndex(row["name"], "."); i >= 0 {
				prefix = row["name"][:i+1]
			}
			e.numbers[prefix+c] = 0
		}
	}
	want := e.fields(rows, "")
	n, err := event.DecodePayload(e.payload, etw.PtrSize(e.ptr))
	if err != nil || n != len(e.payload) {
		return fmt.Errorf("%d of %d bytes are read, error %v", n, len(e.payload), err)
	}
	for i, text := range want {
		if got := held(event.FieldValue(i)); got != text {
			return fmt.Errorf("field %s is %s, want %s", event.EventDesc().Fields[i].Name, got, text)
		}
	}
	again, err := event.AppendPayload(nil, etw.PtrSize(e.ptr))
	if err != nil || !bytes.Equal(again, e.payload) {
		return fmt.Errorf("it encodes as %x, want %x, error %v", again, e.payload, err)
	}
	return nil
}
