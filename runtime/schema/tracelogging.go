package schema

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A traceLoggingParser reads a TraceLogging schema, which a record carries in an
// extended item:
//
//	uint16 size | tag bytes | name NUL | fields ...
//
// where a field is
//
//	name NUL | in type | [out type | [tag bytes]] | [uint16 count or extra size]
//
// and a struct is followed by its members, whose number stands in the place of
// the out type.
type traceLoggingParser struct {
	p     []byte
	s     string // p as a string, of which names are parts
	arena *descArena
	depth int
}

// Bits of the in type.
const (
	tlChain     = 0x80 // an out type follows; in an out type, tags follow
	tlCountMask = 0x60
	tlConst     = 0x20 // a constant number of elements
	tlVariable  = 0x40 // the payload holds the number
	tlCustom    = 0x60 // bytes in an encoding of their own
	tlTypeMask  = 0x1f
)

// Out types of TraceLogging, which are not numbered as those of manifests.
const (
	tlOutString  = 2
	tlOutBoolean = 3
	tlOutHex     = 4
)

// maxSchemaDepth bounds how deep structs may lie in each other.
const maxSchemaDepth = 16

// parseTraceLogging returns the name of an event and its fields.
func parseTraceLogging(schema []byte, arena *descArena) (name string, fields []etw.FieldDesc, err error) {
	if len(schema) < 2 {
		return "", nil, errSchema
	}
	size := int(binary.LittleEndian.Uint16(schema))
	if size < 2 || size > len(schema) {
		return "", nil, errSchema
	}
	t := traceLoggingParser{p: schema[2:size], s: string(schema[2:size]), arena: arena}
	if !t.tags() {
		return "", nil, errSchema
	}
	if name, err = t.text(); err != nil {
		return "", nil, err
	}
	fields, err = t.list(math.MaxInt)
	return name, fields, err
}

// tags passes over a row of bytes of which all but the last have their top bit
// set.
func (t *traceLoggingParser) tags() bool {
	for i, b := range t.p {
		if b&tlChain == 0 {
			t.p = t.p[i+1:]
			return true
		}
	}
	return false
}

func (t *traceLoggingParser) text() (string, error) {
	n := bytes.IndexByte(t.p, 0)
	if n < 0 {
		return "", errSchema
	}
	at := len(t.s) - len(t.p)
	t.p = t.p[n+1:]
	return t.s[at : at+n], nil
}

func (t *traceLoggingParser) byte() (byte, error) {
	if len(t.p) == 0 {
		return 0, errSchema
	}
	b := t.p[0]
	t.p = t.p[1:]
	return b, nil
}

func (t *traceLoggingParser) uint16() (uint16, error) {
	if len(t.p) < 2 {
		return 0, errSchema
	}
	v := binary.LittleEndian.Uint16(t.p)
	t.p = t.p[2:]
	return v, nil
}

func (t *traceLoggingParser) field() (f etw.FieldDesc, err error) {
	if f.Name, err = t.text(); err != nil {
		return f, err
	}
	in, err := t.byte()
	if err != nil {
		return f, err
	}
	var out byte
	if in&tlChain != 0 {
		if out, err = t.byte(); err != nil {
			return f, err
		}
		if out&tlChain != 0 && !t.tags() {
			return f, errSchema
		}
		out &^= tlChain
	}
	f.Type, f.Out = traceLoggingType(in&tlTypeMask, out)
	switch {
	case etw.InType(in&tlTypeMask) > etw.InCountedBinary:
		// A type that is not known has no size that is: it takes the rest.
		f.Type, f.Length = etw.InBinary, etw.Size{Kind: etw.SizeRest}
	case f.Type == etw.InBinary:
		f.Length = etw.Size{Kind: etw.SizePrefix}
	}
	switch in & tlCountMask {
	case tlConst:
		n, err := t.uint16()
		if err != nil {
			return f, err
		}
		f.Count = etw.Size{Kind: etw.SizeConst, N: uint32(n)}
	case tlVariable:
		f.Count = etw.Size{Kind: etw.SizePrefix}
	case tlCustom:
		n, err := t.uint16()
		if err != nil || int(n) > len(t.p) {
			return f, errSchema
		}
		t.p = t.p[n:]
		f.Type, f.Out = etw.InCountedBinary, etw.OutDefault
	}
	if f.Type == etw.InStruct { // out is the number of its members
		f.Out = etw.OutDefault
		f.Fields, err = t.list(int(out))
	}
	return f, err
}

// list reads n fields, or as many as the schema has.
func (t *traceLoggingParser) list(n int) ([]etw.FieldDesc, error) {
	if t.depth++; t.depth > maxSchemaDepth {
		return nil, errSchema
	}
	defer func() { t.depth-- }()
	begin := t.arena.begin()
	for ; n > 0 && len(t.p) > 0; n-- {
		f, err := t.field()
		if err != nil {
			t.arena.end(begin)
			return nil, err
		}
		t.arena.add(f)
	}
	return t.arena.end(begin), nil
}

// traceLoggingType returns the types of a field. The in types are numbered as
// those of manifests; some out types make them another type.
func traceLoggingType(in, out byte) (etw.InType, etw.OutType) {
	typ := etw.InType(in)
	switch out {
	case tlOutString:
		switch typ {
		case etw.InInt8, etw.InUInt8:
			return etw.InChar8, etw.OutString
		case etw.InInt16, etw.InUInt16:
			return etw.InChar16, etw.OutString
		}
		return typ, etw.OutString
	case tlOutBoolean:
		switch typ {
		case etw.InInt8, etw.InUInt8:
			return etw.InBool8, etw.OutBoolean
		}
		return typ, etw.OutBoolean
	case tlOutHex:
		return typ, cmp.Or(hexOuts[typ], etw.OutHexBinary)
	}
	return typ, traceLoggingOuts[out]
}

// hexOuts shows numbers in hexadecimal, each with as many digits as it has.
var hexOuts = [256]etw.OutType{
	etw.InInt8: etw.OutHexInt8, etw.InUInt8: etw.OutHexInt8, etw.InInt16: etw.OutHexInt16, etw.InUInt16: etw.OutHexInt16,
	etw.InInt32: etw.OutHexInt32, etw.InUInt32: etw.OutHexInt32, etw.InInt64: etw.OutHexInt64, etw.InUInt64: etw.OutHexInt64,
}

// traceLoggingOuts maps the out types that say how to show a value.
var traceLoggingOuts = [256]etw.OutType{
	5:  etw.OutPID,
	6:  etw.OutTID,
	7:  etw.OutPort,
	8:  etw.OutIPv4,
	9:  etw.OutIPv6,
	10: etw.OutSocketAddress,
	11: etw.OutXML,
	12: etw.OutJSON,
	13: etw.OutWin32Error,
	14: etw.OutNTStatus,
	15: etw.OutHResult,
	16: etw.OutDateTime,
	35: etw.OutUTF8,
	36: etw.OutPKCS7,
	37: etw.OutCodePointer,
	38: etw.OutDateTimeUTC,
}

// parseTraits returns the name of a provider from its traits, "" if they are
// malformed: a uint16 size, the name, and further traits, each with a size and a
// type.
func parseTraits(traits []byte) string {
	if len(traits) < 3 {
		return ""
	}
	size := int(binary.LittleEndian.Uint16(traits))
	if size < 3 || size > len(traits) {
		return ""
	}
	n := bytes.IndexByte(traits[2:size], 0)
	if n < 0 {
		return ""
	}
	return string(traits[2 : 2+n])
}
