package evtx

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The types of values are the numbers of [etw.InType], and these beside.
const (
	typeNull  = 0x0
	typeText  = uint8(etw.InUnicodeString)
	typeXML   = 0x21
	typeArray = 0x80 // or the type of the elements
)

// isNull reports whether nothing stands for v.
func (v value) isNull() bool { return v.typ == typeNull }

// fixed returns the size of values of a type that has one. Pointers say it themselves.
func fixed(t uint8, n int) int {
	if etw.InType(t) == etw.InPointer && n == 4 {
		return 4
	}
	if t > uint8(etw.InHexInt64) {
		return 0
	}
	return etw.InType(t).Size(etw.Ptr64)
}

// uint returns an integer, or one that is written as text.
func (v value) uint() uint64 {
	if v.typ == typeText {
		text := strings.TrimSpace(etw.UTF16(v.data).String())
		n, _ := strconv.ParseUint(text, 0, 64)
		return n
	}
	if len(v.data) > 8 {
		return 0
	}
	var b [8]byte
	copy(b[:], v.data)
	return binary.LittleEndian.Uint64(b[:])
}

// guid returns a GUID, or one that is written as text.
func (v value) guid() etw.GUID {
	if etw.InType(v.typ) == etw.InGUID && len(v.data) == 16 {
		return etw.GUID(v.data)
	}
	if v.typ == typeText {
		g, _ := etw.ParseGUID(strings.Trim(etw.UTF16(v.data).String(), "{} "))
		return g
	}
	return etw.GUID{}
}

// time returns a time, or one that is written as text, or 0.
func (v value) time() etw.FileTime {
	switch {
	case etw.InType(v.typ) == etw.InFileTime && len(v.data) == 8:
		return etw.FileTime(binary.LittleEndian.Uint64(v.data))
	case v.typ == typeText:
		if t, err := time.Parse(time.RFC3339Nano, etw.UTF16(v.data).String()); err == nil {
			return etw.FileTimeOf(t)
		}
	}
	return 0
}

// appendText appends a value as the event log of Windows prints it, without marking it up.
func (v value) appendText(b []byte) []byte {
	le, n := binary.LittleEndian, len(v.data)
	if size := fixed(v.typ, n); size > 0 && n != size {
		return appendBytes(b, v.data)
	}
	switch etw.InType(v.typ) {
	case etw.InNull:
		return b
	case etw.InUnicodeString:
		return appendUTF16(b, v.data)
	case etw.InAnsiString:
		return appendANSI(b, v.data)
	case etw.InInt8:
		return strconv.AppendInt(b, int64(int8(v.data[0])), 10)
	case etw.InInt16:
		return strconv.AppendInt(b, int64(int16(le.Uint16(v.data))), 10)
	case etw.InInt32:
		return strconv.AppendInt(b, int64(int32(le.Uint32(v.data))), 10)
	case etw.InInt64:
		return strconv.AppendInt(b, int64(le.Uint64(v.data)), 10)
	case etw.InUInt8, etw.InUInt16, etw.InUInt32, etw.InUInt64:
		return strconv.AppendUint(b, v.uint(), 10)
	case etw.InFloat:
		return strconv.AppendFloat(b, float64(math.Float32frombits(le.Uint32(v.data))), 'g', -1, 32)
	case etw.InDouble:
		return strconv.AppendFloat(b, math.Float64frombits(le.Uint64(v.data)), 'g', -1, 64)
	case etw.InBoolean:
		return strconv.AppendBool(b, v.uint() != 0)
	case etw.InGUID:
		b, _ = v.guid().AppendText(append(b, '{'))
		return append(b, '}')
	case etw.InPointer, etw.InHexInt32, etw.InHexInt64:
		return strconv.AppendUint(append(b, "0x"...), v.uint(), 16)
	case etw.InFileTime:
		return v.time().Time().AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
	case etw.InSystemTime:
		return appendSystemTime(b, v.data)
	case etw.InSID:
		if sid, ok := sidText(v.data); ok {
			return append(b, sid...)
		}
	}
	return appendBytes(b, v.data)
}

// appendBytes appends bytes as hexadecimal digits, in upper case.
func appendBytes(b, data []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range data {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}

// appendUTF16 appends text up to its NULs at the end.
func appendUTF16(b, data []byte) []byte {
	le := binary.LittleEndian
	for len(data) > 1 && le.Uint16(data[len(data)&^1-2:]) == 0 {
		data = data[:len(data)&^1-2]
	}
	return etw.UTF16(data).AppendTo(b)
}

// appendANSI appends bytes of which those of ASCII alone are known for sure.
func appendANSI(b, data []byte) []byte {
	for len(data) > 0 && data[len(data)-1] == 0 {
		data = data[:len(data)-1]
	}
	if utf8.Valid(data) {
		return append(b, data...)
	}
	for _, c := range data {
		b = utf8.AppendRune(b, rune(c))
	}
	return b
}

func appendSystemTime(b, data []byte) []byte {
	var n [8]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint16(data[2*i:]))
	}
	t := time.Date(n[0], time.Month(n[1]), n[3], n[4], n[5], n[6], n[7]*1e6, time.UTC)
	return t.AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
}

// sidText returns the text of a SID, and whether data are one and nothing else.
func sidText(data []byte) (string, bool) {
	if !isSID(data) {
		return "", false
	}
	return etw.SID(data).String(), true
}
