package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// How text is redacted.
const (
	redactHash  = "hash"
	redactBlank = "blank"
)

// A redactor replaces what is in some fields. Lengths stay, so that what is left can
// be read as before.
type redactor struct {
	names  []string
	blank  bool
	key    []byte
	d      etw.Dynamic
	buf    []byte
	has    map[*etw.EventDesc]bool
	hashes map[string]string // of text that was met, some of it
}

// newRedactor returns a redactor of the fields of some names, or nil if there are none.
func newRedactor(names []string, as, key string) (*redactor, error) {
	if as != redactHash && as != redactBlank {
		return nil, usagef("--redact-as %s: there are %s and %s%s", as, redactHash, redactBlank, didYouMean(as, []string{redactHash, redactBlank}))
	}
	if len(names) == 0 {
		return nil, nil
	}
	return &redactor{names: names, blank: as == redactBlank, key: []byte(key), has: make(map[*etw.EventDesc]bool), hashes: make(map[string]string)}, nil
}

// redact replaces what is in the fields of a record, and reports whether all of them
// could be told. S is the record, decoded.
func (x *redactor) redact(rec *etw.Record, s *shot) bool {
	if len(rec.Payload) == 0 {
		return true
	}
	if s.values == nil || s.err != nil {
		return false
	}
	desc := s.values.EventDesc()
	has, ok := x.has[desc]
	if !ok {
		has = x.hasField(desc.Fields)
		x.has[desc] = has
	}
	if !has {
		return true
	}
	x.buf = append(x.buf[:0], rec.Payload...)
	err := x.d.Visit(desc, rec.Payload, rec.PointerSize, func(path []etw.FieldPath, from, to int) {
		for _, f := range path {
			if x.isNamed(f.Name) {
				x.replace(path[len(path)-1].FieldDesc, from, to, rec.PointerSize)
				return
			}
		}
	})
	rec.Payload = x.buf
	return err == nil
}

func (x *redactor) isNamed(name string) bool {
	for _, n := range x.names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// hasField reports whether some field is to be redacted.
func (x *redactor) hasField(fields []etw.FieldDesc) bool {
	for i := range fields {
		if x.isNamed(fields[i].Name) || x.hasField(fields[i].Fields) {
			return true
		}
	}
	return false
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

// located replaces the value that the word p refers to, which ends at offset end.
func (x *redactor) located(d *etw.FieldDesc, p []byte, end int) {
	word := binary.LittleEndian.Uint32(p)
	from := int(word & 0xffff)
	if d.Type == etw.InRelLoc {
		from += end
	}
	value := x.buf[from : from+int(word>>16)]
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
