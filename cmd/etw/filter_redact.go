package main

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

// How text is redacted.
const (
	redactHash  = "hash"
	redactBlank = "blank"
)

// A redactor replaces what is in some fields. Lengths stay, so that what is left can
// be read as before.
type redactor struct {
	plan   redactionPlan
	blank  bool
	key    []byte
	d      etw.Dynamic
	buf    []byte
	hashes map[string]string // of text that was met, some of it

	threads map[*nettrace.Thread]*nettrace.Thread // rows of the table of threads, with texts replaced
}

// newRedactor returns a redactor of the fields of some names, or nil if there are none.
func newRedactor(names []string, as, key string) (*redactor, error) {
	if as != redactHash && as != redactBlank {
		return nil, usagef("--redact-as %s: there are %s and %s%s", as, redactHash, redactBlank, didYouMean(as, []string{redactHash, redactBlank}))
	}
	if len(names) == 0 {
		return nil, nil
	}
	return &redactor{plan: newRedactionPlan(names), blank: as == redactBlank, key: []byte(key), hashes: make(map[string]string)}, nil
}

// redact replaces what is in the fields of a record and beside them, and reports whether all of its
// payload could be told. S is the record, decoded. What lies behind the last field, as
// in events of a later version, becomes zeros.
func (x *redactor) redact(rec *etw.Record, s *shot) (bool, error) {
	x.extended(rec)
	if len(rec.Payload) == 0 {
		return true, nil
	}
	if s.values == nil || s.err != nil {
		return false, nil
	}
	desc := s.values.EventDesc()
	fields, err := x.plan.of(desc)
	if err != nil {
		return false, err
	}
	if len(fields) == 0 && len(s.rest) == 0 && !desc.Padded {
		return true, nil
	}
	x.buf = append(x.buf[:0], rec.Payload...)
	end := 0
	err = x.d.Visit(desc, rec.Payload, rec.PointerSize, func(path []etw.FieldPath, from, to int) {
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
		return false, nil
	}
	clear(x.buf[end:])
	rec.Payload = x.buf
	return true, nil
}

func isZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }

func (x *redactor) maskText(text string) string {
	return x.mask(text, len(utf16.Encode([]rune(text))))
}

// replace replaces the value of a field that lies at buf[from:to].
func (x *redactor) replace(d *etw.FieldDesc, from, to int, ptr etw.PtrSize) {
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
func (x *redactor) locate(d *etw.FieldDesc, p []byte, end int) (from, to int) {
	word := binary.LittleEndian.Uint32(p)
	from = int(word & 0xffff)
	if d.Type == etw.InRelLoc {
		from += end
	}
	return from, from + int(word>>16)
}

// located replaces the value that the word p refers to, which ends at offset end.
func (x *redactor) located(d *etw.FieldDesc, p []byte, end int) {
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
func (x *redactor) text(p []byte) {
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	copy(p, x.mask(string(p[:n]), n))
	clear(p[n:])
}

// utf16 replaces text of UTF-16, up to a NUL.
func (x *redactor) utf16(p []byte) {
	var units []uint16
	for i := 0; i+1 < len(p); i += 2 {
		u := binary.LittleEndian.Uint16(p[i:])
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	mask := x.mask(string(utf16.Decode(units)), len(units))
	for i := range units {
		binary.LittleEndian.PutUint16(p[2*i:], uint16(mask[i]))
	}
	clear(p[2*len(units):])
}

// maxHashes is how much text is remembered.
const maxHashes = 1 << 16

// mask returns n letters for a text.
func (x *redactor) mask(text string, n int) string {
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
