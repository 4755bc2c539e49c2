package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// An encoder writes a payload with random values and, beside it, the JSON of its values. It
// shares no code with the runtime.
type encoder struct {
	r       *rand.Rand
	ptr     int
	payload []byte
	want    bytes.Buffer
	scopes  []map[string]int // values that counts and lengths may name
}

// encode returns a payload of the fields and its values.
func encode(r *rand.Rand, fields []field, ptr int) (payload, want []byte) {
	e := &encoder{r: r, ptr: ptr, payload: []byte{}}
	e.object(fields)
	return e.payload, e.want.Bytes()
}

func (e *encoder) object(fields []field) {
	e.scopes = append(e.scopes, make(map[string]int))
	e.want.WriteByte('{')
	for i := range fields {
		if i > 0 {
			e.want.WriteByte(',')
		}
		e.text(fields[i].name)
		e.want.WriteByte(':')
		e.field(&fields[i])
	}
	e.want.WriteByte('}')
	e.scopes = e.scopes[:len(e.scopes)-1]
}

// field writes a field: one value, or an array of them.
func (e *encoder) field(f *field) {
	if !f.count.given() {
		e.element(f)
		return
	}
	e.want.WriteByte('[')
	for i := range e.resolve(f.count) {
		if i > 0 {
			e.want.WriteByte(',')
		}
		e.element(f)
	}
	e.want.WriteByte(']')
}

// resolve returns the number that a size stands for, that of the innermost scope
// which has a field of the name.
func (e *encoder) resolve(s size) int {
	for i := len(e.scopes) - 1; i >= 0 && s.of != ""; i-- {
		if n, ok := e.scopes[i][s.of]; ok {
			return n
		}
	}
	return s.n
}

func (e *encoder) element(f *field) {
	if f.fields != nil {
		e.object(f.fields)
		return
	}
	if bits := integerBits[f.in]; bits != 0 {
		e.integer(f, bits)
		return
	}
	switch f.in {
	case "UnicodeString", "AnsiString", "Binary", "CountedUnicodeString", "CountedAnsiString", "CountedBinary":
		e.variable(f)
	default:
		e.fixed(f)
	}
}

// integerBits are the sizes of integers, -1 for that of a pointer.
var integerBits = map[string]int{
	"Int8": 8, "UInt8": 8, "Int16": 16, "UInt16": 16, "Int32": 32, "UInt32": 32, "HexInt32": 32, "Int64": 64, "UInt64": 64, "HexInt64": 64, "Pointer": -1,
}

// integer writes an integer. Those that may be counts are small.
func (e *encoder) integer(f *field, bits int) {
	if bits < 0 {
		bits = 8 * e.ptr
	}
	mask := uint64(math.MaxUint64) >> (64 - bits)
	extremes := []uint64{0, 1, mask, mask >> 1, mask>>1 + 1, 0x8001, e.r.Uint64(), e.r.Uint64()}
	v := extremes[e.r.IntN(len(extremes))] & mask
	switch {
	case strings.HasPrefix(f.name, counterPrefix):
		v = uint64(e.r.IntN(4))
		e.scopes[len(e.scopes)-1][f.name] = int(v)
	case f.mapped != nil && e.r.IntN(3) > 0:
		v = []uint64{0, 1, 2, 3, 5, 7, 8, 12, 200}[e.r.IntN(9)]
	}
	for i := range bits / 8 {
		e.payload = append(e.payload, byte(v>>(8*i)))
	}
	if f.mapped != nil {
		e.named(f.mapped, uint32(v))
		return
	}
	e.want.WriteString(shown(f, v, bits))
}

// shown returns an integer as its type asks for.
func shown(f *field, v uint64, bits int) string {
	switch out := strings.TrimPrefix(strings.TrimPrefix(f.out, "win:"), "xs:"); {
	case strings.HasPrefix(out, "HexInt"), out == "" && (f.in == "Pointer" || strings.HasPrefix(f.in, "HexInt")):
		return fmt.Sprintf(`"0x%x"`, v)
	case out == "HResult", out == "NTSTATUS":
		return fmt.Sprintf(`"0x%08x"`, v)
	case out == "Port":
		return strconv.Itoa(int(v>>8 | v&0xff<<8))
	case out == "IPv4":
		return fmt.Sprintf(`"%d.%d.%d.%d"`, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	case out == "boolean":
		return strconv.FormatBool(v != 0)
	}
	if strings.HasPrefix(f.in, "Int") {
		return strconv.FormatInt(int64(v<<(64-bits))>>(64-bits), 10)
	}
	return strconv.FormatUint(v, 10)
}

// named writes the name of a value of a map.
func (e *encoder) named(m *mapping, v uint32) {
	for _, entry := range m.entries {
		if entry.value == v {
			e.text(entry.name)
			return
		}
	}
	if !m.flags || v == 0 {
		fmt.Fprint(&e.want, v)
		return
	}
	var names []string
	for _, entry := range m.entries {
		if v&entry.value == entry.value {
			names = append(names, entry.name)
			v &^= entry.value
		}
	}
	if v != 0 {
		names = append(names, fmt.Sprintf("0x%x", v))
	}
	e.text(strings.Join(names, "|"))
}

// fixed writes a value of another type of fixed size, or a SID.
func (e *encoder) fixed(f *field) {
	le := binary.LittleEndian
	switch f.in {
	case "Float":
		v := []float32{0, 1.5, -2.25, 1e10, math.MaxFloat32, 1e-30}[e.r.IntN(6)]
		e.payload = le.AppendUint32(e.payload, math.Float32bits(v))
		e.want.WriteString(strconv.FormatFloat(float64(v), 'g', -1, 32))
	case "Double":
		v := []float64{0, 1.5, -2.25, 0.1, math.MaxFloat64, 1e-300}[e.r.IntN(6)]
		e.payload = le.AppendUint64(e.payload, math.Float64bits(v))
		e.want.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	case "Boolean":
		v := []uint32{0, 1, 1, 2, 0x80000000}[e.r.IntN(5)]
		e.payload = le.AppendUint32(e.payload, v)
		e.want.WriteString(strconv.FormatBool(v != 0))
	case "GUID":
		b := e.random(16)
		e.payload = append(e.payload, b...)
		fmt.Fprintf(&e.want, `"%08x-%04x-%04x-%x-%x"`, le.Uint32(b), le.Uint16(b[4:]), le.Uint16(b[6:]), b[8:10], b[10:])
	case "FILETIME":
		v := int64(116444736000000000) + e.r.Int64N(1<<56)
		e.payload = le.AppendUint64(e.payload, uint64(v))
		since := v - 116444736000000000
		e.text(time.Unix(since/1e7, since%1e7*100).UTC().Format("2006-01-02T15:04:05.0000000Z"))
	case "SYSTEMTIME":
		t := time.Date(1970+e.r.IntN(200), time.Month(1+e.r.IntN(12)), 1+e.r.IntN(28), e.r.IntN(24), e.r.IntN(60), e.r.IntN(60), e.r.IntN(1000)*1e6, time.UTC)
		for _, n := range []int{t.Year(), int(t.Month()), int(t.Weekday()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1e6} {
			e.payload = le.AppendUint16(e.payload, uint16(n))
		}
		e.text(t.Format("2006-01-02T15:04:05.000Z"))
	case "SID":
		n, authority := e.r.IntN(6), []byte{1, 5, 16}[e.r.IntN(3)]
		e.payload = append(e.payload, 1, byte(n), 0, 0, 0, 0, 0, authority)
		text := fmt.Sprintf("S-1-%d", authority)
		for range n {
			v := e.r.Uint32()
			e.payload = le.AppendUint32(e.payload, v)
			text += fmt.Sprintf("-%d", v)
		}
		e.text(text)
	default:
		panic("no such type: " + f.in)
	}
}

// variable writes a string or bytes: up to a NUL, of a length, or counted.
func (e *encoder) variable(f *field) {
	unit, counted := 1, strings.HasPrefix(f.in, "Counted")
	kind := strings.TrimPrefix(f.in, "Counted")
	if kind == "UnicodeString" {
		unit = 2
	}
	n := []int{0, 0, 1, 2, 5, 17}[e.r.IntN(6)]
	if f.length.given() {
		n = e.resolve(f.length)
	}
	var raw []byte
	var text string
	switch kind {
	case "Binary":
		raw = e.random(n)
		text = hex.EncodeToString(raw)
	case "UnicodeString":
		raw, text = e.utf16(n)
	default:
		text = e.utf8(n)
		raw = []byte(text)
	}
	if kind != "Binary" && f.length.given() && n > 0 && e.r.IntN(3) == 0 {
		// The rest of a fixed length is padded with NULs.
		keep := e.r.IntN(n)
		raw = append(bytes.Repeat([]byte("z\x00")[:unit], keep), make([]byte, (n-keep)*unit)...)
		text = strings.Repeat("z", keep)
	}
	if counted {
		e.payload = binary.LittleEndian.AppendUint16(e.payload, uint16(len(raw)))
	}
	e.payload = append(e.payload, raw...)
	if !counted && kind != "Binary" && !f.length.given() {
		e.payload = append(e.payload, make([]byte, unit)...)
	}
	e.text(text)
}

// utf16 returns n code units, of which some are halves of surrogates that are
// alone, and how they are shown.
func (e *encoder) utf16(n int) ([]byte, string) {
	letters := []rune("abcXYZ 019_-\"\\<>&\t\n\x1b\x07é日€😀\u202e\u0085")
	var units []uint16
	for len(units) < n {
		c := letters[e.r.IntN(len(letters))]
		switch {
		case e.r.IntN(30) == 0:
			units = append(units, 0xd800+uint16(e.r.IntN(0x800)), 'q')
		default:
			units = utf16.AppendRune(units, c)
		}
	}
	units = units[:n]
	var raw []byte
	for _, u := range units {
		raw = append(raw, byte(u), byte(u>>8))
	}
	return raw, string(utf16.Decode(units))
}

// utf8 returns a text of n bytes.
func (e *encoder) utf8(n int) string {
	letters := "abcXYZ 019_-\"\\<>&\t\n\x1b\x7f"
	var b strings.Builder
	for b.Len() < n {
		if b.Len()+2 <= n && e.r.IntN(9) == 0 {
			b.WriteString("é")
			continue
		}
		b.WriteByte(letters[e.r.IntN(len(letters))])
	}
	return b.String()
}

func (e *encoder) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(e.r.Uint32())
	}
	return b
}

// text writes a JSON string.
func (e *encoder) text(s string) {
	e.want.WriteByte('"')
	for _, c := range s {
		switch {
		case c < ' ' || c == '"' || c == '\\' || c == 0x7f:
			fmt.Fprintf(&e.want, `\u%04x`, c)
		default:
			e.want.WriteRune(c)
		}
	}
	e.want.WriteByte('"')
}
