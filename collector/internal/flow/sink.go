package flow

import (
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A pdataSink puts the attributes of a log record into the collector's own form: it is
// an otlp.Sink.
type pdataSink struct {
	stack []level
	max   int // bytes of a text
	size  int // about what they all take

	guid etw.GUID // the last one, since a provider has many events
	text string
}

// A level is the map or the array that attributes are put into.
type level struct {
	m     pcommon.Map
	s     pcommon.Slice
	array bool
}

func (p *pdataSink) begin(m pcommon.Map) { p.stack = append(p.stack[:0], level{m: m}) }

// at returns the place for the next value.
func (p *pdataSink) at(key string) pcommon.Value {
	p.size += len(key) + 8
	top := &p.stack[len(p.stack)-1]
	if top.array {
		return top.s.AppendEmpty()
	}
	return top.m.PutEmpty(key)
}

func (p *pdataSink) Text(key, v string) {
	if len(v) > p.max {
		v = cut(v, p.max)
	}
	p.size += len(v)
	p.at(key).SetStr(valid(v))
}

func (p *pdataSink) Int(key string, v int64)     { p.at(key).SetInt(v) }
func (p *pdataSink) Bool(key string, v bool)     { p.at(key).SetBool(v) }
func (p *pdataSink) Float(key string, v float64) { p.at(key).SetDouble(v) }
func (p *pdataSink) None(key string)             { p.at(key) }

func (p *pdataSink) Bytes(key string, v []byte) {
	v = v[:min(len(v), p.max)]
	p.size += len(v)
	p.at(key).SetEmptyBytes().Append(v...)
}

func (p *pdataSink) GUID(key string, v etw.GUID) {
	if v != p.guid || p.text == "" {
		p.guid, p.text = v, v.String()
	}
	p.at(key).SetStr(p.text)
}

func (p *pdataSink) Map(key string) {
	p.stack = append(p.stack, level{m: p.at(key).SetEmptyMap()})
}

func (p *pdataSink) Array(key string) {
	p.stack = append(p.stack, level{s: p.at(key).SetEmptySlice(), array: true})
}

func (p *pdataSink) End() { p.stack = p.stack[:len(p.stack)-1] }

// valid returns the text with U+FFFD for each byte that is no UTF-8, which protobuf
// does not allow.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cut returns the first bytes of a text, without a part of a character.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
