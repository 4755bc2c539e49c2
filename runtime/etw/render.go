package etw

import (
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendText appends an event as a line for people: its name, then its fields
// as name=value.
func AppendText(b []byte, e Described) []byte {
	d := e.EventDesc()
	b = append(b, eventName(d)...)
	for i := range d.Fields {
		if v := e.FieldValue(i); v.kind != NoValue {
			b = append(b, ' ')
			b = appendName(b, d.Fields, i)
			b = append(b, '=')
			b = textValue(b, &d.Fields[i], v)
		}
	}
	return b
}

// AppendFieldText appends the value v of a field as AppendText shows it.
func AppendFieldText(b []byte, d *FieldDesc, v Value) []byte { return textValue(b, d, v) }

// An EnumStyle is a form in which JSON shows values that have names.
type EnumStyle uint8

// The forms of named values.
const (
	EnumNames   EnumStyle = iota // "AllocSmall"; a value without a name is a number
	EnumObjects                  // {"value":0,"name":"AllocSmall"}
	EnumNumbers                  // 0
)

// AppendJSON appends the fields of an event as a JSON object, in their order.
// Integers of 64 bits are exact. The result is valid JSON whatever the payload
// held.
func AppendJSON(b []byte, e Described) ([]byte, error) {
	return AppendFieldsJSON(b, e, EnumNames), nil
}

// AppendFieldsJSON is AppendJSON with a choice of how to show named values.
func AppendFieldsJSON(b []byte, e Described, enums EnumStyle) []byte {
	d := e.EventDesc()
	b = append(b, '{')
	first := true
	for i := range d.Fields {
		v := e.FieldValue(i)
		if v.kind == NoValue {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = AppendJSONString(b, fieldName(d.Fields, i))
		b = append(b, ':')
		b = jsonValue(b, &d.Fields[i], v, enums)
	}
	return append(b, '}')
}

// LogValue returns the fields of an event as a group of log attributes.
func LogValue(e Described) slog.Value {
	d := e.EventDesc()
	attrs := make([]slog.Attr, 0, len(d.Fields))
	for i := range d.Fields {
		if v := e.FieldValue(i); v.kind != NoValue {
			attrs = append(attrs, slog.Attr{Key: fieldName(d.Fields, i), Value: logValue(&d.Fields[i], v)})
		}
	}
	return slog.GroupValue(attrs...)
}

// fieldName returns the name of field i. Schemas from traces may lack it.
func fieldName(fields []FieldDesc, i int) string {
	if fields[i].Name != "" {
		return fields[i].Name
	}
	return "field" + strconv.Itoa(i)
}

func appendName(b []byte, fields []FieldDesc, i int) []byte {
	if fields[i].Name != "" {
		return append(b, fields[i].Name...)
	}
	return strconv.AppendInt(append(b, "field"...), int64(i), 10)
}

func logValue(d *FieldDesc, v Value) slog.Value {
	switch v.kind {
	case StructValueKind:
		var attrs []slog.Attr
		for i, m := range v.Members() {
			attrs = append(attrs, slog.Attr{Key: fieldName(d.Fields, i), Value: logValue(&d.Fields[i], m)})
		}
		return slog.GroupValue(attrs...)
	case FileTimeValueKind:
		if t := v.FileTime().Time(); t.Year() < 10000 { // which slog can write
			return slog.TimeValue(t)
		}
	case BoolValueKind:
		return slog.BoolValue(v.num != 0)
	case ArrayValueKind:
		return slog.StringValue(string(textValue(nil, d, v)))
	}
	b, form := appendScalar(nil, d, v)
	if form == numberForm {
		switch {
		case v.kind == IntValueKind && d.Out != OutPort && d.Out != OutBoolean:
			return slog.Int64Value(int64(v.num))
		case v.kind == UintValueKind && d.Out != OutPort && d.Out != OutBoolean:
			return slog.Uint64Value(v.num)
		case v.kind == FloatValueKind || v.kind == Float32ValueKind:
			return slog.Float64Value(v.Float())
		}
	}
	return slog.StringValue(string(b))
}

// textValue appends a value for people.
func textValue(b []byte, d *FieldDesc, v Value) []byte {
	switch v.kind {
	case ArrayValueKind:
		if s, ok := characters(d, v); ok {
			return textValue(b, d, s)
		}
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ' ')
			}
			first = false
			b = textValue(b, d, elem)
		}
		return append(b, ']')
	case StructValueKind:
		b = append(b, '{')
		for i, m := range v.Members() {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendName(b, d.Fields, i)
			b = append(b, '=')
			b = textValue(b, &d.Fields[i], m)
		}
		return append(b, '}')
	}
	mark := len(b)
	b, form := appendScalar(b, d, v)
	if form == stringForm && !bare(b[mark:]) {
		s := string(b[mark:])
		b = strconv.AppendQuote(b[:mark], s)
	}
	return b
}

// bare reports whether s can stand in a line without quotes.
func bare(s []byte) bool {
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRune(s[i:])
		switch {
		case c <= ' ' || c == '"' || c == '=' || c == utf8.RuneError || !unicode.IsPrint(c):
			return false
		case i == 0 && (c == '[' || c == '{'):
			return false
		}
		i += n
	}
	return len(s) > 0
}

// jsonValue appends a value as JSON.
func jsonValue(b []byte, d *FieldDesc, v Value, enums EnumStyle) []byte {
	switch v.kind {
	case NoValue:
		return append(b, "null"...)
	case ArrayValueKind:
		if s, ok := characters(d, v); ok {
			return jsonValue(b, d, s, enums)
		}
		b = append(b, '[')
		first := true
		for elem := range v.Elements() {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = jsonValue(b, d, elem, enums)
		}
		return append(b, ']')
	case StructValueKind:
		b = append(b, '{')
		for i, m := range v.Members() {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSONString(b, fieldName(d.Fields, i))
			b = append(b, ':')
			b = jsonValue(b, &d.Fields[i], m, enums)
		}
		return append(b, '}')
	case IntValueKind, UintValueKind:
		if d.Map != nil && enums != EnumNames {
			return jsonEnum(b, d, v, enums)
		}
	}
	mark := len(b)
	b = append(b, '"')
	b, form := appendScalar(b, d, v)
	if form == numberForm {
		return append(b[:mark], b[mark+1:]...)
	}
	return closeJSONString(b, mark)
}

// closeJSONString ends the string that b holds, as it is, after the quote at
// mark. Nearly all need no escapes, and so no copy.
func closeJSONString(b []byte, mark int) []byte {
	plain := true
	for _, c := range b[mark+1:] {
		if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			plain = false
			break
		}
	}
	if plain && utf8.Valid(b[mark+1:]) {
		return append(b, '"')
	}
	s := string(b[mark+1:])
	return AppendJSONString(b[:mark], s)
}

// jsonEnum appends a named value in a form other than its name.
func jsonEnum(b []byte, d *FieldDesc, v Value, enums EnumStyle) []byte {
	if enums == EnumNumbers {
		return appendInteger(b, v)
	}
	b = append(b, `{"value":`...)
	b = appendInteger(b, v)
	b = append(b, `,"name":`...)
	mark := len(b)
	b = append(b, '"')
	b = d.Map.AppendValue(b, uint32(v.num))
	return append(closeJSONString(b, mark), '}')
}

// AppendJSONString appends s as a JSON string. What is not valid UTF-8 becomes
// U+FFFD.
func AppendJSONString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n - 1
		}
		i++
	}
	return append(b, '"')
}

// A scalarForm says how the text of a scalar is to be quoted.
type scalarForm uint8

const (
	numberForm scalarForm = iota // a number or Boolean, which JSON does not quote
	wordForm                     // text without a character that needs quoting
	stringForm                   // any text
)

// appendScalar appends a value that is no array or struct, as its outType asks.
func appendScalar(b []byte, d *FieldDesc, v Value) ([]byte, scalarForm) {
	switch v.kind {
	case IntValueKind, UintValueKind:
		return appendNumber(b, d, v)
	case FloatValueKind:
		return appendFloat(b, v.Float(), 64)
	case Float32ValueKind:
		return appendFloat(b, v.Float(), 32)
	case BoolValueKind:
		return strconv.AppendBool(b, v.num != 0), numberForm
	case PointerValueKind:
		return strconv.AppendUint(append(b, "0x"...), v.num, 16), wordForm
	case GUIDValueKind:
		b, _ = v.GUID().AppendText(b)
		return b, wordForm
	case FileTimeValueKind:
		b, _ = v.FileTime().AppendText(b)
		return b, wordForm
	case SystemTimeValueKind:
		b, _ = v.SystemTime().AppendText(b)
		return b, wordForm
	case UTF16ValueKind:
		return UTF16(trimNULs(v.p, 2)).AppendTo(b), stringForm
	case ANSIValueKind:
		return ANSI(trimNULs(v.p, 1)).AppendTo(b), stringForm
	case SIDValueKind:
		b, _ = SID(v.p).AppendText(b)
		return b, wordForm
	case BinaryValueKind:
		return appendBinary(b, d.Out, v.p)
	case DecimalValueKind:
		return appendDecimal(b, v.p), wordForm
	}
	return b, wordForm
}

// trimNULs cuts the padding of strings of fixed length.
func trimNULs(p []byte, unit int) []byte {
	for len(p) >= unit && p[len(p)-1] == 0 && p[len(p)-unit] == 0 {
		p = p[:len(p)-unit]
	}
	return p
}

// appendInteger appends an integer in decimal.
func appendInteger(b []byte, v Value) []byte {
	if v.kind == IntValueKind {
		return strconv.AppendInt(b, int64(v.num), 10)
	}
	return strconv.AppendUint(b, v.num, 10)
}

// appendNumber appends an integer as its map and outType ask.
func appendNumber(b []byte, d *FieldDesc, v Value) ([]byte, scalarForm) {
	if d.Map != nil {
		if name, ok := d.Map.Lookup(uint32(v.num)); ok {
			return append(b, name...), stringForm
		}
		if d.Map.Flags && v.num != 0 {
			return d.Map.AppendValue(b, uint32(v.num)), stringForm
		}
		return appendInteger(b, v), numberForm
	}
	size := int(fixedSizes[d.Type])
	if size == 0 {
		size = 8
	}
	bits := v.num & (math.MaxUint64 >> (64 - 8*size))
	switch d.Out {
	case OutHexInt8, OutHexInt16, OutHexInt32, OutHexInt64, OutCodePointer, OutHexBinary:
		return strconv.AppendUint(append(b, "0x"...), bits, 16), wordForm
	case OutHResult, OutNTStatus:
		return appendHex(append(b, "0x"...), bits, 8), wordForm
	case OutIPv4:
		var a [4]byte
		binary.LittleEndian.PutUint32(a[:], uint32(bits))
		return netip.AddrFrom4(a).AppendTo(b), wordForm
	case OutPort:
		return strconv.AppendUint(b, bits>>8&0xff|bits&0xff<<8, 10), numberForm
	case OutBoolean:
		return strconv.AppendBool(b, bits != 0), numberForm
	case OutString:
		if size <= 2 {
			return utf8.AppendRune(b, rune(bits)), stringForm
		}
	}
	if d.Out == OutDefault && (d.Type == InHexInt32 || d.Type == InHexInt64) {
		return strconv.AppendUint(append(b, "0x"...), bits, 16), wordForm
	}
	return appendInteger(b, v), numberForm
}

// appendFloat appends a number. JSON has none for infinities and NaN: they are
// words.
func appendFloat(b []byte, f float64, bits int) ([]byte, scalarForm) {
	b = strconv.AppendFloat(b, f, 'g', -1, bits)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return b, wordForm
	}
	return b, numberForm
}

// appendBinary appends bytes as their outType asks, else in hexadecimal.
func appendBinary(b []byte, out OutType, p []byte) ([]byte, scalarForm) {
	switch out {
	case OutString, OutXML, OutJSON, OutUTF8:
		return ANSI(trimNULs(p, 1)).AppendTo(b), stringForm
	case OutIPv6:
		if len(p) == 16 {
			return netip.AddrFrom16([16]byte(p)).AppendTo(b), wordForm
		}
	case OutSocketAddress:
		if a, ok := socketAddress(p); ok {
			return a.AppendTo(b), wordForm
		}
	}
	return hex.AppendEncode(b, p), wordForm
}

// socketAddress reads a SOCKADDR_IN or SOCKADDR_IN6. The family is as Windows
// or as Linux numbers it.
func socketAddress(p []byte) (netip.AddrPort, bool) {
	if len(p) < 8 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(p[2:])
	switch binary.LittleEndian.Uint16(p) {
	case 2:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(p[4:])), port), true
	case 23, 10:
		if len(p) < 24 {
			return netip.AddrPort{}, false
		}
		a := netip.AddrFrom16([16]byte(p[8:]))
		if len(p) >= 28 {
			if zone := binary.LittleEndian.Uint32(p[24:]); zone != 0 {
				a = a.WithZone(strconv.FormatUint(uint64(zone), 10))
			}
		}
		return netip.AddrPortFrom(a, port), true
	}
	return netip.AddrPort{}, false
}

// characters returns an array of bytes or code units that is to be shown as
// text.
func characters(d *FieldDesc, v Value) (Value, bool) {
	switch d.Out {
	case OutString, OutUTF8, OutXML, OutJSON:
	default:
		return Value{}, false
	}
	switch d.Type {
	case InUInt8, InInt8:
		return ANSIValue(ANSI(v.Bytes())), true
	case InUInt16:
		return UTF16Value(UTF16(v.Bytes())), true
	}
	return Value{}, false
}

// appendDecimal appends a .NET decimal: flags with a scale and a sign, then the
// high, low and middle words of the integer.
func appendDecimal(b, p []byte) []byte {
	flags := binary.LittleEndian.Uint32(p)
	scale := int(flags >> 16 & 0xff)
	if scale > 28 {
		return hex.AppendEncode(b, p)
	}
	n := new(big.Int).SetUint64(uint64(binary.LittleEndian.Uint32(p[4:])))
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(binary.LittleEndian.Uint64(p[8:])))
	digits := n.String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	if flags>>31 != 0 {
		b = append(b, '-')
	}
	b = append(b, digits[:len(digits)-scale]...)
	if scale > 0 {
		b = append(append(b, '.'), digits[len(digits)-scale:]...)
	}
	return b
}

// AppendValue appends the name of v. Flags are joined with |, and bits without a
// name follow in hexadecimal. A value without a name is a number.
func (m *MapDesc) AppendValue(b []byte, v uint32) []byte {
	if name, ok := m.Lookup(v); ok {
		return append(b, name...)
	}
	if !m.Flags || v == 0 {
		return strconv.AppendUint(b, uint64(v), 10)
	}
	mark := len(b)
	for i := range m.Entries {
		e := &m.Entries[i]
		if e.Value != 0 && v&e.Value == e.Value {
			if len(b) > mark {
				b = append(b, '|')
			}
			b = append(b, e.Name...)
			v &^= e.Value
		}
	}
	if v != 0 {
		if len(b) > mark {
			b = append(b, '|')
		}
		b = strconv.AppendUint(append(b, "0x"...), uint64(v), 16)
	}
	return b
}

// ValueString returns what AppendValue appends.
func (m *MapDesc) ValueString(v uint32) string {
	if name, ok := m.Lookup(v); ok {
		return name
	}
	return string(m.AppendValue(nil, v))
}
