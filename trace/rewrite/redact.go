package rewrite

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A Redaction says which texts and numbers are replaced, and by which ones.
type Redaction struct {
	// Fields are names of fields, FIELD or STRUCT.MEMBER in any case, of all events and at
	// any depth. They are also those of texts beside events: SessionName and LogFileName in
	// the header of an .etl file, keys of the header, ThreadName and labels of .nettrace 6,
	// UserSID and ContainerID.
	Fields []string
	// Key makes the letters that stand in for a text: the same for the same text and key.
	// Whoever knows the key can guess short texts.
	Key string
	// Blank replaces each letter by *, instead.
	Blank bool
}

// A Redactor replaces values of fields: text by letters of a hash, all else by zeros.
// Lengths stay, so that everything else can be read as before.
type Redactor struct {
	plan    plan
	lookup  lookup
	decoder *etw.Decoder
	blank   bool
	key     []byte
	walker  etw.Dynamic
	buf     []byte
	hashes  map[string]string // of texts, some of them

	threads map[*nettrace.Thread]*nettrace.Thread // rows of the table of threads, with texts replaced
}

// NewRedactor returns a Redactor. The decoder knows where the fields of events are.
func NewRedactor(d *etw.Decoder, r Redaction) *Redactor {
	return &Redactor{plan: newPlan(r.Fields), decoder: d, blank: r.Blank, key: []byte(r.Key), hashes: make(map[string]string)}
}

// Redact replaces values in the payload of a record and beside it. It reports false if
// parts of the payload are unknown, as of an event that nothing describes: such a record
// may still contain anything. Bytes behind the last field, as in events of a later
// version, become zeros. It is an error if others could not be read without a field that
// is to be redacted.
//
// The record's payload is then memory of the Redactor, until the next call.
func (x *Redactor) Redact(rec *etw.Record) (known bool, err error) {
	if x.hasNoFields(rec) {
		return true, nil
	}
	x.extended(rec)
	if len(rec.Payload) == 0 {
		return true, nil
	}
	values, err := x.decoder.Decode(rec)
	if values == nil || err != nil {
		return false, nil
	}
	desc := values.EventDesc()
	fields, err := x.plan.of(desc)
	if err != nil {
		return false, err
	}
	if len(fields) == 0 && len(x.decoder.Rest()) == 0 && !desc.Padded {
		return true, nil
	}
	return x.payload(rec, desc, fields), nil
}

// hasNoFields reports whether a record has nothing to redact: it is about the schemas of
// others, or the header of an .etl file, in place of which the writer makes its own.
func (x *Redactor) hasNoFields(r *etw.Record) bool {
	return x.lookup.reasonFor(r) == describes && (r.Provider != traceClass || r.Opcode == headerOpcode)
}

// payload replaces fields of the payload, and reports whether all of it is known.
func (x *Redactor) payload(rec *etw.Record, desc *etw.EventDesc, fields map[*etw.FieldDesc]bool) (known bool) {
	x.buf = append(x.buf[:0], rec.Payload...)
	end := 0
	err := x.walker.Visit(desc, rec.Payload, rec.PointerSize, func(path []etw.FieldPath, from, to int) {
		d := path[len(path)-1].FieldDesc
		end = max(end, to)
		if d.Type == etw.InRelLoc || d.Type == etw.InDataLoc {
			_, last := x.locate(d, x.buf[from:to], to)
			end = max(end, last)
		}
		if fields[d] {
			x.replace(d, from, to, rec.PointerSize)
		}
	})
	if err != nil || end == 0 && !isZero(rec.Payload) {
		return false
	}
	clear(x.buf[end:])
	rec.Payload = x.buf
	return true
}

func isZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }

func (x *Redactor) maskText(text string) string {
	return x.mask(text, len(utf16.Encode([]rune(text))))
}

// replace replaces the value of a field that lies at buf[from:to].
func (x *Redactor) replace(d *etw.FieldDesc, from, to int, ptr etw.PtrSize) {
	if d.Length.Kind == etw.SizePrefix {
		from += 2
	}
	p := x.buf[min(from, to):to]
	switch d.Type {
	case etw.InUnicodeString, etw.InChar16:
		x.utf16(p)
	case etw.InAnsiString, etw.InChar8:
		x.text(p)
	case etw.InCountedUnicodeString:
		x.utf16(p[2:])
	case etw.InCountedAnsiString:
		x.text(p[2:])
	case etw.InCountedBinary:
		clear(p[2:])
	case etw.InLongBinary:
		clear(p[4:])
	case etw.InSID:
		clear(p[min(8, len(p)):])
	case etw.InWBEMSID:
		clear(p[min(2*ptr.Bytes()+8, len(p)):])
	case etw.InVarInt, etw.InVarUint: // zero, of as many bytes
		for i := range p {
			p[i] = 0x80
		}
		p[len(p)-1] = 0
	case etw.InRelLoc, etw.InDataLoc:
		x.located(d, p, to)
	default:
		clear(p)
	}
}

// locate returns where the value lies that the word p refers to, which ends at offset
// end.
func (x *Redactor) locate(d *etw.FieldDesc, p []byte, end int) (from, to int) {
	word := binary.LittleEndian.Uint32(p)
	from = int(word & 0xffff)
	if d.Type == etw.InRelLoc {
		from += end
	}
	return from, from + int(word>>16)
}

// located replaces the value that the word p refers to, which ends at offset end.
func (x *Redactor) located(d *etw.FieldDesc, p []byte, end int) {
	from, to := x.locate(d, p, end)
	value := x.buf[from:to]
	switch d.Fields[0].Type {
	case etw.InChar16:
		x.utf16(value)
	case etw.InChar8:
		x.text(value)
	default:
		clear(value)
	}
}

// text replaces text of bytes, up to a NUL.
func (x *Redactor) text(p []byte) {
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	copy(p, x.mask(string(p[:n]), n))
	clear(p[n:])
}

// utf16 replaces text of UTF-16, up to a NUL.
func (x *Redactor) utf16(p []byte) {
	text, _ := etw.CutUTF16(p)
	mask := x.mask(text.String(), text.Len())
	for i := range text.Len() {
		binary.LittleEndian.PutUint16(p[2*i:], uint16(mask[i]))
	}
	clear(p[len(text):])
}

// maxHashes is how much text is remembered.
const maxHashes = 1 << 16

// mask returns n letters for a text.
func (x *Redactor) mask(text string, n int) string {
	if x.blank {
		return strings.Repeat("*", n)
	}
	if mask, ok := x.hashes[text]; ok && len(mask) == n {
		return mask
	}
	var mask []byte
	for i := uint64(0); len(mask) < n; i++ {
		h := hmac.New(sha256.New, x.key)
		h.Write(binary.LittleEndian.AppendUint64(nil, i))
		h.Write([]byte(text))
		mask = base32.StdEncoding.WithPadding(base32.NoPadding).AppendEncode(mask, h.Sum(nil))
	}
	if len(x.hashes) >= maxHashes {
		clear(x.hashes)
	}
	x.hashes[text] = strings.ToLower(string(mask[:n]))
	return x.hashes[text]
}
