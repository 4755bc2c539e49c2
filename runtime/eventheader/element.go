package eventheader

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An element is the type that the elements of a field become.
type element struct {
	typ    etw.InType
	out    etw.OutType
	length etw.Size
	size   int // of a number, else 0
	unit   int // of text, else 0
	ends   bool
	guid   bool
	bom    bool
	utf8   bool // text is written as UTF-8
	latin1 bool
	sized  bool // the size of a number stands before it
	bytes  bool // as they are
	date   bool // seconds since 1970 are written as a FILETIME
}

// The seconds since 1970 that a FILETIME can have.
const (
	firstSecond = -11644473600
	lastSecond  = 910692730085
)

// dates makes times those of Windows, if there are such of all elements of a field, which begin
// a few bytes on.
func (w *writer) dates(f *field, e *element, skip int) {
	if f.format != fmtTime || e.size != 4 && e.size != 8 {
		return
	}
	b, count := w.in, 1
	switch f.count {
	case encConstant:
		count = f.elements
	case encVariable: // the number of elements has been read
		count = w.count
	}
	for e.date = true; count > 0 && e.date; count-- {
		if len(b) < skip+e.size {
			return
		}
		at := w.seconds(b[skip:], e.size)
		e.date = at >= firstSecond && at <= lastSecond
		b = b[skip+e.size:]
	}
	if e.date {
		e.typ = etw.InFileTime
	}
	w.variants = append(w.variants, 'd', byte(e.typ))
}

// seconds reads a time.
func (w *writer) seconds(b []byte, size int) int64 {
	if size == 4 {
		return int64(int32(w.order.Uint32(b)))
	}
	return int64(w.order.Uint64(b))
}

// element finds the type that a field becomes.
func (w *writer) element(f *field, e *element) error {
	switch f.encoding {
	case enc8, enc16, enc32, enc64, enc128:
		e.size = 1 << (f.encoding - enc8)
		e.value(f.format)
		w.dates(f, e, 0)
	case encZ8, encZ16, encZ32:
		e.unit, e.ends = 1<<(f.encoding-encZ8), true
		e.chars(f.format)
	case encString16, encString32:
		e.unit = 1 << (f.encoding - encString8)
		e.chars(f.format)
	case encString8, encBinary:
		w.sized(f, e)
	default:
		return errEncoding
	}
	return nil
}

// sized finds the type that a field with a size becomes: text, bytes, or a number if its
// format is one of numbers and its size fits.
func (w *writer) sized(f *field, e *element) {
	size := -1
	if f.count == 0 && len(w.in) >= 2 {
		size = int(w.order.Uint16(w.in))
	}
	if fits(f.format, size) {
		w.variants = append(w.variants, byte(size)+1)
		e.size, e.sized = size, true
		e.value(f.format)
		w.dates(f, e, 2)
		return
	}
	isText := f.format == fmtLatin1 || f.format >= fmtUTF && f.format <= fmtJSON
	if w.variants = append(w.variants, 0); f.encoding == encString8 && f.format != fmtBytes || isText {
		e.unit = 1
		e.chars(f.format)
		return
	}
	e.typ, e.bytes, e.length = etw.InBinary, true, etw.Size{Kind: etw.SizePrefix}
}

// fits reports whether a format is one of numbers of a size.
func fits(format byte, size int) bool { return slices.Contains(fitting[format], size) }

// fitting are the sizes of the numbers of each format.
var fitting = map[byte][]int{
	fmtUnsigned: {1, 2, 4, 8}, fmtSigned: {1, 2, 4, 8}, fmtHex: {1, 2, 4, 8}, fmtErrno: {4}, fmtPID: {4}, fmtTime: {4, 8},
	fmtFloat: {4, 8}, fmtBoolean: {1, 2, 4}, fmtUUID: {16}, fmtPort: {2}, fmtIP: {4, 16}, fmtIPOld: {4, 16},
}

// Numbers by their size: without a sign, with one, and in hexadecimal.
var (
	unsigneds = map[int]etw.InType{1: etw.InUInt8, 2: etw.InUInt16, 4: etw.InUInt32, 8: etw.InUInt64}
	signeds   = map[int]etw.InType{1: etw.InInt8, 2: etw.InInt16, 4: etw.InInt32, 8: etw.InInt64}
	hexes     = map[int]etw.OutType{1: etw.OutHexInt8, 2: etw.OutHexInt16, 4: etw.OutHexInt32, 8: etw.OutHexInt64}
)

// value finds the type that a number becomes.
func (e *element) value(format byte) {
	e.typ = unsigneds[e.size]
	switch {
	case format == fmtBytes:
		e.typ, e.bytes, e.length = etw.InBinary, true, etw.Size{Kind: etw.SizeConst, N: uint32(e.size)}
	case e.size == 16:
		e.typ, e.bytes, e.length = etw.InBinary, true, etw.Size{Kind: etw.SizeConst, N: 16}
		if format == fmtUUID {
			e.typ, e.guid, e.length = etw.InGUID, true, etw.Size{}
		} else if format == fmtIP || format == fmtIPOld {
			e.out = etw.OutIPv6
		}
	case format == fmtSigned, format == fmtTime:
		e.typ = signeds[e.size]
	case format == fmtHex:
		e.out = hexes[e.size]
	case format == fmtErrno && e.size == 4:
		e.typ, e.out = etw.InInt32, etw.OutErrorCode
	case format == fmtPID && e.size == 4:
		e.typ, e.out = etw.InInt32, etw.OutPID
	default:
		e.other(format)
	}
}

// other finds the type of a number of a format that has few sizes.
func (e *element) other(format byte) {
	switch {
	case format == fmtBoolean && e.size == 1:
		e.typ = etw.InBool8
	case format == fmtBoolean && e.size == 4:
		e.typ = etw.InBoolean
	case format == fmtFloat && e.size == 4:
		e.typ = etw.InFloat
	case format == fmtFloat && e.size == 8:
		e.typ = etw.InDouble
	case format == fmtPort && e.size == 2:
		e.out, e.bytes = etw.OutPort, true
	case (format == fmtIP || format == fmtIPOld) && e.size == 4:
		e.out, e.bytes = etw.OutIPv4, true
	case format == fmtUTF && e.size == 2:
		e.typ = etw.InChar16
	case format == fmtUTF && e.size == 4, format == fmtLatin1 && e.size == 1:
		e.typ, e.out, e.utf8, e.latin1 = etw.InCountedAnsiString, etw.OutUTF8, true, e.size == 1
	}
}

// chars finds the type of text.
func (e *element) chars(format byte) {
	prefix := etw.Size{Kind: etw.SizePrefix}
	if format == fmtBytes {
		e.typ, e.bytes, e.length = etw.InBinary, true, prefix
		return
	}
	e.bom = format >= fmtBOM && format <= fmtJSON
	if e.out = etw.OutUTF8; e.unit == 2 {
		e.out = etw.OutDefault
	}
	switch {
	case format == fmtXML:
		e.out = etw.OutXML
	case format == fmtJSON:
		e.out = etw.OutJSON
	}
	if e.unit == 2 {
		e.typ, e.length = etw.InUnicodeString, prefix
		return
	}
	e.typ, e.utf8, e.latin1, e.length = etw.InAnsiString, true, format == fmtLatin1, prefix
}

// write writes an element.
func (w *writer) write(f *field, e *element) {
	if e.sized {
		w.take(2)
	}
	switch {
	case e.guid:
		g := networkGUID(w.take(16))
		w.out = append(w.out, g[:]...)
	case e.size > 0 && e.utf8: // a single character
		w.sizedText(text(w.take(e.size), e.size, e.latin1, w.order))
	case e.date:
		at := w.seconds(w.take(e.size), e.size)
		w.out = binary.LittleEndian.AppendUint64(w.out, uint64(at-firstSecond)*1e7)
	case e.size > 0 && e.bytes:
		w.out = append(w.out, w.take(e.size)...)
	case e.size > 0:
		w.number(e.size)
	case e.bytes:
		w.sizedText(w.units(max(e.unit, 1), e.ends))
	default:
		b, unit, order := w.units(e.unit, e.ends), e.unit, w.order
		if e.bom {
			b, unit, order = marked(b, unit, order)
		}
		if e.utf8 {
			w.sizedText(text(b, unit, e.latin1, order))
		} else {
			w.utf16(b, order)
		}
	}
}

// marked takes a mark of the byte order off a text, which also says how large units are where
// these are bytes.
func marked(b []byte, unit int, order binary.ByteOrder) ([]byte, int, binary.ByteOrder) {
	for _, m := range []struct {
		mark  string
		unit  int
		order binary.ByteOrder
	}{
		{"\xff\xfe\x00\x00", 4, binary.LittleEndian}, {"\x00\x00\xfe\xff", 4, binary.BigEndian},
		{"\xff\xfe", 2, binary.LittleEndian}, {"\xfe\xff", 2, binary.BigEndian}, {"\xef\xbb\xbf", 1, order},
	} {
		if (unit == 1 || unit == m.unit) && bytes.HasPrefix(b, []byte(m.mark)) {
			return b[len(m.mark):], m.unit, m.order
		}
	}
	return b, unit, order
}

// sizedText writes text with its length, as far as that goes.
func (w *writer) sizedText(b []byte) {
	b = b[:min(len(b), 0xffff)]
	w.out = append(binary.LittleEndian.AppendUint16(w.out, uint16(len(b))), b...)
}

// utf16 writes UTF-16 with the number of its units.
func (w *writer) utf16(b []byte, order binary.ByteOrder) {
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(b)/2))
	for ; len(b) >= 2; b = b[2:] {
		w.out = binary.LittleEndian.AppendUint16(w.out, order.Uint16(b))
	}
}
