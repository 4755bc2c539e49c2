package etw

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"net/netip"
	"strconv"
	"unicode/utf8"
)

// A scalarForm says how the text of a scalar is to be quoted.
type scalarForm uint8

const (
	numberForm scalarForm = iota // a number or Boolean, which JSON does not quote
	wordForm                     // text without a character that needs quoting
	stringForm                   // any text
)

// appendScalar appends a value that is neither an array nor a struct, as its
// outType asks.
func appendScalar(b []byte, v *Value) ([]byte, scalarForm) {
	switch v.kind {
	case ValueInt, ValueUint:
		return appendNumber(b, v)
	case ValueFloat:
		return appendFloat(b, v.Float(), 64)
	case ValueFloat32:
		return appendFloat(b, v.Float(), 32)
	case ValueBool:
		return strconv.AppendBool(b, v.num != 0), numberForm
	case ValuePointer:
		if v.field().isQuantity() {
			return strconv.AppendUint(b, v.num, 10), numberForm
		}
		return strconv.AppendUint(append(b, "0x"...), v.num, 16), wordForm
	case ValueGUID:
		b, _ = v.GUID().AppendText(b)
		return b, wordForm
	case ValueFileTime:
		b, _ = v.FileTime().AppendText(b)
		return b, wordForm
	case ValueSystemTime:
		b, _ = v.SystemTime().AppendText(b)
		return b, wordForm
	case ValueUTF16:
		return UTF16(v.unpadded(2)).AppendTo(b), stringForm
	case ValueANSI:
		return ANSI(v.unpadded(1)).AppendTo(b), stringForm
	case ValueSID:
		b, _ = SID(v.p).AppendText(b)
		return b, wordForm
	case ValueBinary:
		return appendBinary(b, v.field().Out, v.p)
	case ValueDecimal:
		return appendDecimal(b, v.p), wordForm
	}
	return b, wordForm
}

// isQuantity reports whether a field of the type of a pointer holds an amount, as
// size_t does, and not an address.
func (d *FieldDesc) isQuantity() bool { return d.Out == OutUInt64 || d.Out == OutInt64 }

// unpadded returns the bytes of a text without padding. A NUL that is a single
// character is none.
func (v *Value) unpadded(unit int) []byte {
	if t := v.field().Type; t == InChar16 || t == InChar8 {
		return v.p
	}
	return trimNULs(v.p, unit)
}

// trimNULs cuts the padding of strings of fixed length.
func trimNULs(p []byte, unit int) []byte {
	for len(p) >= unit && p[len(p)-1] == 0 && p[len(p)-unit] == 0 {
		p = p[:len(p)-unit]
	}
	return p
}

// appendInteger appends an integer in decimal.
func appendInteger(b []byte, v *Value) []byte {
	if v.kind == ValueInt {
		return strconv.AppendInt(b, int64(v.num), 10)
	}
	return strconv.AppendUint(b, v.num, 10)
}

// mapKey returns v as maps have it, in 32 bits, if it fits them.
func mapKey(v *Value) (key uint32, ok bool) {
	if v.kind == ValueInt {
		n := int64(v.num)
		return uint32(n), n == int64(int32(n))
	}
	return uint32(v.num), v.num <= math.MaxUint32
}

// signed returns the key of a value of less than 4 bytes as a negative number, if it may
// be one: maps of EventSource have the negative values of enumerations in 32 bits, and
// fields of such a type are unsigned.
func signed(t InType, key uint32) uint32 {
	switch t {
	case InUInt8:
		return uint32(int8(key))
	case InUInt16:
		return uint32(int16(key))
	}
	return key
}

// appendNumber appends an integer as its map and outType ask.
func appendNumber(b []byte, v *Value) ([]byte, scalarForm) {
	d := v.field()
	if d.Map != nil {
		if key, ok := mapKey(v); ok {
			name, ok := d.Map.Lookup(key)
			if !ok && !d.Map.Flags {
				name, ok = d.Map.Lookup(signed(d.Type, key))
			}
			if ok {
				return append(b, name...), stringForm
			}
			if d.Map.Flags && key != 0 {
				return d.Map.appendValue(b, key), stringForm
			}
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
	if out.isText() {
		return ANSI(trimNULs(p, 1)).AppendTo(b), stringForm
	}
	switch out {
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

// appendDecimal appends a .NET decimal: flags with a scale and a sign, then the
// high, low and middle words of the integer.
func appendDecimal(b, p []byte) []byte {
	flags := binary.LittleEndian.Uint32(p)
	scale := int(flags >> 16 & 0xff)
	if scale > 28 {
		return hex.AppendEncode(b, p)
	}
	const half = 1e19 // the lower digits
	upper, rest := bits.Div64(uint64(binary.LittleEndian.Uint32(p[4:])), binary.LittleEndian.Uint64(p[8:]), half)
	var buf [40]byte
	at := len(buf)
	for n := 0; n <= scale || upper|rest != 0; n++ {
		if n == scale && scale > 0 {
			at--
			buf[at] = '.'
		}
		at--
		buf[at] = byte('0' + rest%10)
		if rest /= 10; n == 18 {
			rest, upper = upper, 0
		}
	}
	if flags>>31 != 0 {
		b = append(b, '-')
	}
	b = append(b, buf[at:]...)
	return b
}
