package look

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A jsonWriter prints an event as a JSON object in a line.
type jsonWriter struct {
	list     show.JsonList
	enums    etw.EnumStyle
	stacks   bool
	names    *frames.BoundStacks // nil if frames have no names
	payload  bool
	messages *messenger
	only     []string // fields, all if it is nil
	file     bool

	time  show.Stamp
	plans []jsonPlan // by the index of the event
	frame []byte
}

// A jsonPlan is the common part of the lines of all events of one kind.
type jsonPlan struct {
	identity []byte // from the provider to the opcode
	name     []byte
	desc     *etw.EventDesc
	ptr      etw.PtrSize
	fields   []jsonField
}

// A jsonField is how a field is shown.
type jsonField struct {
	key   []byte // with a comma; nil if it is not shown
	desc  *etw.FieldDesc
	form  jsonForm
	fixed frames.FixedNumber // if it has a short way
	names map[uint64][]byte  // of values that have names, as they are shown
}

// A jsonForm is the short way to show a value, for those that have one.
type jsonForm uint8

const (
	longForm jsonForm = iota
	decimalForm
	hexForm
	nameForm
)

// formOf returns the short way to show unsigned numbers of the field d.
func formOf(d *etw.FieldDesc, enums etw.EnumStyle) jsonForm {
	switch d.Out {
	case etw.OutHexInt8, etw.OutHexInt16, etw.OutHexInt32, etw.OutHexInt64, etw.OutCodePointer:
		if d.Map == nil {
			return hexForm
		}
	case etw.OutDefault:
		switch {
		case d.Map != nil && enums == etw.EnumNames:
			return nameForm
		case d.Map != nil:
		case d.Type == etw.InHexInt32, d.Type == etw.InHexInt64, d.Type == etw.InPointer:
			return hexForm
		default:
			return decimalForm
		}
	}
	return longForm
}

func (w *jsonWriter) begin(b []byte) []byte { return b }

func (w *jsonWriter) end(b []byte) []byte { return w.list.End(b) }

func (w *jsonWriter) append(b []byte, s *pick.Shot) []byte {
	p := w.plan(s)
	b = append(w.list.Item(b), `{"time":"`...)
	b = w.time.Append(b, s.Clock.FileTime(s.Timestamp))
	b = append(b, `","ms":`...)
	b = show.AppendExactMS(b, s.Elapsed)
	if w.file {
		b = appendJSONText(b, `,"file":`, s.File)
	}
	b = append(b, p.identity...)
	b = append(b, `,"level":`...)
	b = strconv.AppendUint(b, uint64(s.Level), 10)
	b = append(b, `,"task":`...)
	b = strconv.AppendUint(b, uint64(s.EventTask()), 10)
	b = append(b, `,"keywords":"`...)
	b = show.AppendHex(b, s.Keywords)
	b = append(b, `","event":`...)
	b = append(b, p.name...)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, s.ProcessID, 10)
	b = appendJSONText(b, `,"process":`, s.Process)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, s.ThreadID, 10)
	b = appendJSONText(b, `,"thread":`, s.Thread)
	b = append(b, `,"cpu":`...)
	b = strconv.AppendInt(b, int64(s.Processor), 10)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, int64(len(s.Payload)), 10)
	b = appendJSONGUID(b, `,"activity":"`, s.ActivityID)
	b = appendJSONGUID(b, `,"related":"`, s.RelatedActivityID)
	b = append(b, `,"fields":`...)
	b = w.fields(b, s, p)
	b = appendJSONText(b, `,"path":`, s.Path)
	if s.Took >= 0 {
		b = show.AppendExactMS(append(b, `,"elapsedMs":`...), s.Took)
	}
	if w.stacks {
		b = append(b, `,"stack":[`...)
		b = appendStack(b, s.Stack, `,`, `"`)
		b = append(b, ']')
		b = w.frames(b, s)
	}
	b = appendJSONText(b, `,"message":`, string(w.messages.append(nil, s)))
	if w.payload || s.Undecoded() {
		b = append(b, `,"payload":"`...)
		b = hex.AppendEncode(b, s.Payload)
		b = append(b, '"')
	}
	if s.Err != nil || s.Event.Note != "" {
		b = appendJSONText(b, `,"error":`, s.Problem())
	}
	return w.list.ItemEnd(append(b, '}'))
}

// fields appends the object of the fields.
func (w *jsonWriter) fields(b []byte, s *pick.Shot, p *jsonPlan) []byte {
	if s.Values == nil {
		return append(b, '{', '}')
	}
	if desc := s.Values.EventDesc(); p.desc != desc || p.ptr != s.PointerSize {
		w.describe(p, desc, s.PointerSize)
	}
	mark := len(b)
	for i := range p.fields {
		f := &p.fields[i]
		if f.key == nil {
			continue
		}
		if n, ok := f.fixed.Load(s); ok && f.hasShort(n) {
			b = f.appendShort(append(b, f.key...), n)
			continue
		}
		v := s.Values.FieldValue(i)
		if v.Kind() == etw.ValueNone {
			continue
		}
		b = w.value(append(b, f.key...), f, &v)
	}
	if len(b) == mark {
		return append(b, '{', '}')
	}
	b[mark] = '{'
	return append(b, '}')
}

// describe makes the plan for the fields of an event.
func (w *jsonWriter) describe(p *jsonPlan, desc *etw.EventDesc, ptr etw.PtrSize) {
	p.desc, p.ptr, p.fields = desc, ptr, nil
	fixed := frames.FixedNumbers(desc, ptr)
	for i, key := range fieldKeys(desc.Fields) {
		d := &desc.Fields[i]
		f := jsonField{desc: d, form: formOf(d, w.enums), names: make(map[uint64][]byte)}
		if f.form != longForm {
			f.fixed = fixed[i]
		}
		if isOneOf(key, w.only) {
			f.key = append(etw.AppendJSONString([]byte{','}, key), ':')
		}
		p.fields = append(p.fields, f)
	}
}

// maxNames bounds how many named values of a field are remembered: those of flags
// combine.
const maxNames = 1000

// hasShort reports whether there is a short way to show the number n.
func (f *jsonField) hasShort(n uint64) bool {
	return f.form == decimalForm || f.form == hexForm || f.form == nameForm && f.names[n] != nil
}

// appendShort appends the number n in the short way.
func (f *jsonField) appendShort(b []byte, n uint64) []byte {
	switch f.form {
	case decimalForm:
		return strconv.AppendUint(b, n, 10)
	case hexForm:
		return append(show.AppendHex(append(b, '"'), n), '"')
	}
	return append(b, f.names[n]...)
}

// value appends a value. Most values have a short way.
func (w *jsonWriter) value(b []byte, f *jsonField, v *etw.Value) []byte {
	switch v.Kind() {
	case etw.ValueUint, etw.ValuePointer:
		n := v.Uint()
		if f.form == nameForm && f.names[n] == nil && len(f.names) < maxNames {
			f.names[n] = etw.AppendFieldJSON(nil, f.desc, *v, w.enums)
		}
		if f.hasShort(n) {
			return f.appendShort(b, n)
		}
	case etw.ValueUTF16:
		mark := len(b)
		b, ok := appendPlainUTF16(append(b, '"'), v.Bytes())
		if ok {
			return append(b, '"')
		}
		return etw.AppendFieldJSON(b[:mark], f.desc, *v, w.enums)
	}
	return etw.AppendFieldJSON(b, f.desc, *v, w.enums)
}

// appendPlainUTF16 appends the text p if it is of characters that need no escapes,
// and reports whether it is.
func appendPlainUTF16(b, p []byte) ([]byte, bool) {
	mark := len(b)
	b = slices.Grow(b, len(p)/2)[:mark+len(p)/2]
	text := b[mark:]
	i := 0
	for ; i+4 <= len(text); i += 4 { // at once, without a branch for each
		v := binary.LittleEndian.Uint64(p[2*i:])
		q, c0, c1, c2, c3 := text[i:i+4], byte(v), byte(v>>16), byte(v>>32), byte(v>>48)
		q[0], q[1], q[2], q[3] = c0, c1, c2, c3
		if v&0xff00ff00ff00ff00 != 0 || plainByte[c0]&plainByte[c1]&plainByte[c2]&plainByte[c3] == 0 {
			return b, false
		}
	}
	for ; i < len(text); i++ {
		c := p[2*i]
		if text[i] = c; p[2*i+1] != 0 || plainByte[c] == 0 {
			return b, false
		}
	}
	return b, true
}

// plainByte is 1 for the characters that stand in JSON as they are.
var plainByte = func() (plain [256]uint8) {
	for c := ' '; c < 0x7f; c++ {
		if c != '"' && c != '\\' {
			plain[c] = 1
		}
	}
	return plain
}()

// plan returns the plan made for the first event of the kind of s.
func (w *jsonWriter) plan(s *pick.Shot) *jsonPlan {
	for s.Event.Index >= len(w.plans) {
		w.plans = append(w.plans, jsonPlan{})
	}
	p := &w.plans[s.Event.Index]
	if p.name == nil {
		p.name = etw.AppendJSONString(nil, s.Event.Name)
		b := append(p.identity, `,"provider":`...)
		b = etw.AppendJSONString(b, s.Event.Provider)
		b = append(b, `,"guid":"`...)
		b, _ = s.Provider.AppendText(b)
		b = append(b, `","id":`...)
		b = strconv.AppendUint(b, uint64(s.ID), 10)
		b = append(b, `,"version":`...)
		b = strconv.AppendUint(b, uint64(s.Version), 10)
		b = append(b, `,"opcode":`...)
		p.identity = strconv.AppendUint(b, uint64(s.EventOpcode()), 10)
	}
	return p
}

// appendJSONText appends a key and a text, unless that is empty.
func appendJSONText(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return etw.AppendJSONString(append(b, key...), text)
}

// appendJSONGUID appends a key and a GUID, unless that is zero.
func appendJSONGUID(b []byte, key string, g etw.GUID) []byte {
	if g.IsZero() {
		return b
	}
	b = append(b, key...)
	b, _ = g.AppendText(b)
	return append(b, '"')
}

// frames appends the names of the frames of a stack.
func (w *jsonWriter) frames(b []byte, s *pick.Shot) []byte {
	namer := w.names.Namer(s.Record)
	if namer == nil || s.Stack.Len() == 0 {
		return b
	}
	b = append(b, `,"frames":[`...)
	for i := range s.Stack.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		w.frame = namer.Append(w.frame[:0], s.Record, i)
		b = etw.AppendJSONString(b, string(w.frame))
	}
	return append(b, ']')
}

// appendStack appends the addresses of a call stack.
func appendStack(b []byte, s etw.Stack, separator, quote string) []byte {
	for i := range s.Len() {
		if i > 0 {
			b = append(b, separator...)
		}
		b = append(b, quote...)
		b = show.AppendHex(b, s.At(i))
		b = append(b, quote...)
	}
	return b
}
