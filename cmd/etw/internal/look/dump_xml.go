package look

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
)

// formatXML is the format of tracerpt and of the event log of Windows.
const formatXML = "xml"

// The namespaces of its elements.
const (
	eventSpace = "http://schemas.microsoft.com/win/2004/08/events/event"
	traceSpace = "http://schemas.microsoft.com/win/2004/08/events/trace"
)

// The codes with which Windows says why data could not be rendered: there is no template,
// or the data are not of it.
const (
	errNoTemplate = 15003
	errNotOfIt    = 15005
)

// An xmlWriter prints an event as an element.
type xmlWriter struct {
	enums etw.EnumStyle
	only  []string        // fields, all if it is nil
	known []*etw.Provider // of which keywords have names

	time  show.Stamp
	plans []xmlPlan // by the index of the event
	cell  []byte
	text  bytes.Buffer
}

// An xmlPlan is the common part of all events of one kind.
type xmlPlan struct {
	provider []byte // the element
	names    []byte // of level, task and opcode are elements that come before those of keywords
	of       *etw.Provider
	desc     *etw.EventDesc
	keys     []string // of its fields
	form     []xmlPart
}

// checkXML reports flags for contents for which the format has no place.
func (s *dumpStyle) checkXML() error {
	if s.stacks || s.payload || s.message {
		return cli.Usagef("--format xml has no place for call stacks and messages, nor for payloads of decoded events: json has")
	}
	return nil
}

func (w *xmlWriter) begin(b []byte) []byte {
	return append(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Events>\n"...)
}

func (w *xmlWriter) end(b []byte) []byte { return append(b, "</Events>\n"...) }

func (w *xmlWriter) append(b []byte, s *pick.Shot) []byte {
	if log := extended(s.Record, evtx.ExtXML); log != nil && w.only == nil { // as wevtutil has it
		return append(append(b, log...), '\n')
	}
	p := w.plan(s)
	b = append(b, `<Event xmlns="`+eventSpace+`">`+"\n\t<System>\n"...)
	b = append(b, p.provider...)
	b = append(b, "\t\t<EventID"...)
	if q := extended(s.Record, evtx.ExtQualifiers); len(q) == 2 {
		b = strconv.AppendUint(append(b, ` Qualifiers="`...), uint64(binary.LittleEndian.Uint16(q)), 10)
		b = append(b, '"')
	}
	b = append(strconv.AppendUint(append(b, '>'), uint64(s.ID), 10), "</EventID>\n"...)
	b = xmlNumber(b, "Version", uint64(s.Version))
	b = xmlNumber(b, "Level", uint64(s.Level))
	b = xmlNumber(b, "Task", uint64(s.EventTask()))
	b = xmlNumber(b, "Opcode", uint64(s.EventOpcode()))
	b = append(show.AppendHex(append(b, "\t\t<Keywords>"...), s.Keywords), "</Keywords>\n"...)
	b = append(b, "\t\t<TimeCreated SystemTime=\""...)
	b = w.time.Append(b, s.Clock.FileTime(s.Timestamp))
	b = append(b[:len(b)-1], "00Z\" />\n"...) // nine digits, as Windows has them
	if id := extended(s.Record, evtx.ExtRecordID); len(id) == 8 {
		b = xmlNumber(b, "EventRecordID", binary.LittleEndian.Uint64(id))
	}
	b = append(b, "\t\t<Correlation"...)
	b = xmlGUID(xmlGUID(b, " ActivityID", s.ActivityID), " RelatedActivityID", s.RelatedActivityID)
	b = append(b, " />\n\t\t<Execution ProcessID=\""...)
	b = xmlID(b, s.ProcessID)
	b = append(b, `" ThreadID="`...)
	b = xmlID(b, s.ThreadID)
	if s.Processor >= 0 { // it is known
		b = strconv.AppendInt(append(b, `" ProcessorID="`...), int64(s.Processor), 10)
	}
	b = append(b, "\" />\n"...)
	channel := extended(s.Record, evtx.ExtChannel)
	if channel == nil && s.Channel != 0 {
		channel = strconv.AppendUint(nil, uint64(s.Channel), 10)
	}
	b = w.whole(b, "Channel", channel)
	b = w.whole(b, "Computer", extended(s.Record, evtx.ExtComputer))
	b = append(b, "\t</System>\n"...)
	b = w.data(b, s, p)
	b = append(append(b, "\t<RenderingInfo Culture=\"en-US\">\n"...), p.names...)
	b = append(w.keywords(b, s, p), "\t</RenderingInfo>\n"...)
	if s.Kind == etw.KindClassic {
		b = append(b, "\t<ExtendedTracingInfo xmlns=\""+traceSpace+"\">\n\t\t<EventGuid>{"...)
		b, _ = s.Provider.AppendText(b)
		b = append(b, "}</EventGuid>\n\t</ExtendedTracingInfo>\n"...)
	}
	return append(b, "</Event>\n"...)
}

// whole appends an element, which is empty where there is no text.
func (w *xmlWriter) whole(b []byte, element string, text []byte) []byte {
	if len(text) == 0 {
		return append(append(append(b, "\t\t<"...), element...), " />\n"...)
	}
	return w.named(b, element, string(text))
}

// extended returns an item of the header of a record, nil if it has none of that type.
func extended(r *etw.Record, of etw.ExtendedType) []byte {
	for i := range r.Extended {
		if r.Extended[i].Type == of {
			return r.Extended[i].Data
		}
	}
	return nil
}

// data appends the fields, and the payload of an event of which not all is in these.
func (w *xmlWriter) data(b []byte, s *pick.Shot, p *xmlPlan) []byte {
	if s.Values != nil {
		if desc := s.Values.EventDesc(); p.desc != desc {
			p.desc, p.keys, p.form = desc, fieldKeys(desc.Fields), xmlForm(desc, w.formOf(desc))
		}
		if p.form != nil && w.only == nil {
			b = w.userData(b, s.Values, p)
		} else {
			b = append(b, "\t<EventData>\n"...)
			for i := range p.desc.Fields {
				if isOneOf(p.keys[i], w.only) {
					b = w.value(b, p.keys[i], &p.desc.Fields[i], s.Values.FieldValue(i))
				}
			}
			b = append(b, "\t</EventData>\n"...)
		}
	}
	if s.Err == nil && !s.Undecoded() {
		return b
	}
	code := errNotOfIt
	if s.Values == nil {
		code = errNoTemplate
	}
	b = append(b, "\t<ProcessingErrorData>\n\t\t<ErrorCode>"...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, "</ErrorCode>\n\t\t<DataItemName />\n\t\t<EventPayload>"...)
	at := len(b)
	b = hex.AppendEncode(b, s.Payload)
	copy(b[at:], bytes.ToUpper(b[at:]))
	return append(b, "</EventPayload>\n\t</ProcessingErrorData>\n"...)
}

// value appends the value of a field: an array as one element for each of its own, and a
// struct as one that has its members.
func (w *xmlWriter) value(b []byte, name string, d *etw.FieldDesc, v etw.Value) []byte {
	switch v.Kind() {
	case etw.ValueNone:
		return b
	case etw.ValueArray:
		for elem := range v.Elements() {
			b = w.value(b, name, d, elem)
		}
		return b
	case etw.ValueStruct:
		b = w.open(b, "ComplexData", name)
		b = append(b, '\n')
		fields := v.Desc().Fields
		for i, m := range v.Members() {
			b = w.value(b, etw.UniqueName(fields, i), &fields[i], m)
		}
		return append(b, "\t\t</ComplexData>\n"...)
	}
	return append(w.plain(w.open(b, "Data", name), d, v), "</Data>\n"...)
}

// plain appends a value without markup.
func (w *xmlWriter) plain(b []byte, d *etw.FieldDesc, v etw.Value) []byte {
	if w.enums == etw.EnumNumbers && d.Map != nil {
		w.cell = etw.AppendFieldJSON(w.cell[:0], d, v, w.enums)
	} else {
		w.cell = etw.AppendFieldPlain(w.cell[:0], d, v)
	}
	return w.escaped(b, w.cell)
}

// open begins an element that has a name.
func (w *xmlWriter) open(b []byte, element, name string) []byte {
	b = append(append(append(b, "\t\t<"...), element...), ` Name="`...)
	return append(w.escaped(b, []byte(name)), `">`...)
}

// escaped appends a text. A rune that XML forbids becomes U+FFFD.
func (w *xmlWriter) escaped(b, text []byte) []byte {
	w.text.Reset()
	xml.EscapeText(&w.text, text) // into memory
	return append(b, w.text.Bytes()...)
}

// plan returns the plan made for the first event of the kind of s.
func (w *xmlWriter) plan(s *pick.Shot) *xmlPlan {
	for s.Event.Index >= len(w.plans) {
		w.plans = append(w.plans, xmlPlan{})
	}
	p := &w.plans[s.Event.Index]
	if p.provider != nil {
		return p
	}
	b := w.escaped([]byte("\t\t<Provider Name=\""), []byte(s.Event.Provider))
	b = xmlGUID(append(b, '"'), " Guid", s.Provider)
	p.provider = append(b, " />\n"...)
	b = w.named(nil, "Level", s.Level.String())
	b = w.named(b, "Task", s.Event.Task)
	b = w.named(b, "Opcode", s.Event.Opcode)
	b = w.named(b, "Provider", s.Event.Provider)
	p.names = append(w.escaped(append(b, "\t\t<EventName xmlns=\""+traceSpace+"\">"...), []byte(s.Event.Name)), "</EventName>\n"...)
	if i := slices.IndexFunc(w.known, func(known *etw.Provider) bool { return known.Desc.GUID == s.Provider }); i >= 0 && !s.Provider.IsZero() {
		p.of = w.known[i]
	}
	return p
}

// named appends an element with the name of something, if it has one.
func (w *xmlWriter) named(b []byte, element, name string) []byte {
	if name == "" {
		return b
	}
	b = append(append(append(b, "\t\t<"...), element...), '>')
	b = append(w.escaped(b, []byte(name)), "</"...)
	return append(append(b, element...), ">\n"...)
}

// keywords appends the names of the keywords of an event.
func (w *xmlWriter) keywords(b []byte, s *pick.Shot, p *xmlPlan) []byte {
	if p.of == nil || s.Keywords == 0 {
		return b
	}
	b = append(b, "\t\t<Keywords>\n"...)
	for _, k := range p.of.Keywords {
		if k.Mask&s.Keywords != 0 {
			b = w.named(append(b, '\t'), "Keyword", k.Name)
		}
	}
	return append(b, "\t\t</Keywords>\n"...)
}

func xmlNumber(b []byte, element string, n uint64) []byte {
	b = append(append(append(b, "\t\t<"...), element...), '>')
	b = append(strconv.AppendUint(b, n, 10), "</"...)
	return append(append(b, element...), ">\n"...)
}

// xmlID appends the number of a process or thread. Windows has no negative ones: an event of
// none has the largest.
func xmlID(b []byte, id int64) []byte {
	if id < 0 {
		return strconv.AppendUint(b, uint64(uint32(id)), 10)
	}
	return strconv.AppendInt(b, id, 10)
}

// xmlGUID appends an attribute, unless the GUID is zero.
func xmlGUID(b []byte, attribute string, g etw.GUID) []byte {
	if g.IsZero() {
		return b
	}
	b = append(append(b, attribute...), `="{`...)
	b, _ = g.AppendText(b)
	return append(b, `}"`...)
}
