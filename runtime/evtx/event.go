package evtx

import (
	"encoding/binary"
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Event has the facts of a log's record for which an [etw.Record] has no place.
type Event struct {
	RecordID   uint64 // of the log in which the event was first
	Channel    string
	Computer   string
	UserID     string // a SID, or ""
	Qualifiers uint16 // the upper half of the id of a classic source
	Written    etw.FileTime
	// Classic says that the provider has no GUID: the one of the record is made of its name.
	Classic bool
	// Carved says that the record lay where a log has none any more: behind the last one of
	// its chunk, or in a chunk whose head is damaged.
	Carved bool
	// Offset is where the record begins in the file.
	Offset int64
}

// The items of a record's header that logs have: texts in UTF-8, and numbers, of 8 bytes where it
// is not said.
const (
	ExtChannel etw.ExtendedType = 0x110 + iota
	ExtComputer
	ExtRecordID
	ExtQualifiers // 2 bytes, of events that have them
	ExtXML        // the whole event, after KeepXML
)

// A context is the surroundings of XML: the values that fill its places.
type context struct {
	*parser
	of    *instance // that has the values, nil where there are none
	depth int
	steps *int // that may yet be gone, for all of a chunk
}

// maxSteps bounds the nodes that are visited for the records of a chunk. A value may be XML, and a
// template may have many places for it.
const maxSteps = 1 << 20

// step reports whether one more node may be visited.
func (c *context) step() bool {
	*c.steps--
	return *c.steps >= 0 && c.depth < maxDepth
}

// resolve calls do for each of the nodes and the context that it stands in, with templates and
// values that are XML replaced by their nodes.
func (c *context) resolve(list []node, do func(*context, *node) error) error {
	for i := range list {
		n := &list[i]
		if !c.step() {
			return errLarge
		}
		var err error
		switch {
		case n.kind == isInstance:
			in := context{c.parser, n.of, c.depth + 1, c.steps}
			err = in.resolve(n.of.nodes, do)
		case n.kind == isSubstitution && c.at(n).typ == typeXML:
			err = c.inside(c.at(n), do)
		default:
			err = do(c, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inside resolves a value that is XML.
func (c *context) inside(v value, do func(*context, *node) error) error {
	nodes, err := c.nested(v, c.depth)
	if err != nil {
		return err
	}
	in := context{c.parser, nil, c.depth + 1, c.steps}
	return in.resolve(nodes, do)
}

// at returns the value of a place, null if the record does not have it.
func (c *context) at(n *node) value {
	if c.of != nil && int(n.index) < len(c.of.values) {
		return c.of.values[n.index]
	}
	return value{}
}

// single returns the value of an element with one piece of content; of more it joins the texts.
func (c *context) single(list []node) value {
	if len(list) == 1 {
		switch list[0].kind {
		case isText:
			return list[0].value
		case isSubstitution:
			return c.at(&list[0])
		}
	}
	var text []byte
	for i := range list {
		switch n := &list[i]; n.kind {
		case isText:
			text = append(text, n.value.data...)
		case isSubstitution:
			text = append(text, etw.MakeUTF16(string(c.at(n).appendText(nil)))...)
		}
	}
	if text == nil {
		return value{}
	}
	return value{typeText, text}
}

// attribute returns the value of an attribute of an element.
func (c *context) attribute(e *node, name string) value {
	for i := range e.attrs {
		if e.attrs[i].name == name {
			return c.single(e.attrs[i].children)
		}
	}
	return value{}
}

// A found is the findings on a record: its parts.
type found struct {
	event  Event
	rec    etw.Record
	system bool      // it has one
	data   []located // EventData, UserData and others beside System
}

// A located is an element, and its context.
type located struct {
	in    context
	n     *node
	inner bool // it is of a template of its own, not of that which System is in
}

// find takes a record apart. The root is an element Event with an element System.
func (c *context) find(list []node, f *found, r *Reader) error {
	return c.resolve(list, func(c *context, n *node) error {
		if n.kind != isElement || n.name != "Event" {
			return nil
		}
		outer := c.of
		return c.resolve(n.children, func(c *context, n *node) error {
			switch {
			case n.kind != isElement:
			case n.name == "System":
				f.system = true
				return c.system(n.children, f, r)
			case n.name != "RenderingInfo":
				f.data = append(f.data, located{*c, n, c.of != nil && c.of != outer})
			}
			return nil
		})
	})
}

// system reads the part of a record that all have.
//
// Long: one case for each element.
func (c *context) system(list []node, f *found, r *Reader) error {
	rec := &f.rec
	return c.resolve(list, func(c *context, n *node) error {
		if n.kind != isElement {
			return nil
		}
		switch n.name {
		case "Provider":
			rec.ProviderName = r.text(c.attribute(n, "Name"))
			rec.Provider = c.attribute(n, "Guid").guid()
		case "EventID":
			rec.ID = uint16(c.single(n.children).uint())
			if q := c.attribute(n, "Qualifiers"); !q.isNull() {
				f.event.Qualifiers = uint16(q.uint())
				binary.LittleEndian.PutUint16(r.qualifiers[:], f.event.Qualifiers)
				rec.Extended = append(rec.Extended, etw.ExtendedItem{Type: ExtQualifiers, Data: r.qualifiers[:]})
			}
		case "Version":
			rec.Version = uint8(c.single(n.children).uint())
		case "Level":
			rec.Level = etw.Level(c.single(n.children).uint())
		case "Task":
			rec.Task = uint16(c.single(n.children).uint())
		case "Opcode":
			rec.Opcode = etw.Opcode(c.single(n.children).uint())
		case "Keywords":
			rec.Keywords = c.single(n.children).uint()
		case "TimeCreated":
			rec.Timestamp = int64(c.attribute(n, "SystemTime").time())
		case "EventRecordID":
			f.event.RecordID = c.single(n.children).uint()
		case "Correlation":
			rec.ActivityID = c.attribute(n, "ActivityID").guid()
			rec.RelatedActivityID = c.attribute(n, "RelatedActivityID").guid()
		case "Execution":
			rec.ProcessID = id(c.attribute(n, "ProcessID"))
			rec.ThreadID = id(c.attribute(n, "ThreadID"))
			rec.Processor = int32(id(c.attribute(n, "ProcessorID")))
		case "Channel":
			f.event.Channel = r.text(c.single(n.children))
		case "Computer":
			f.event.Computer = r.text(c.single(n.children))
		case "Security":
			f.sid(c.attribute(n, "UserID"), r)
		}
		return nil
	})
}

// id returns a number of a process, thread or processor, -1 if there is none.
func id(v value) int64 {
	if v.isNull() {
		return -1
	}
	return int64(uint32(v.uint()))
}

// sid sets the user.
func (f *found) sid(v value, r *Reader) {
	switch {
	case v.typ == typeText:
		f.event.UserID = r.text(v)
	case etw.InType(v.typ) == etw.InSID:
		if sid, ok := sidText(v.data); ok {
			f.event.UserID = sid
			f.rec.Extended = append(f.rec.Extended, etw.ExtendedItem{Type: etw.ExtSID, Data: v.data})
		}
	}
}

// String returns the channel and the number of the record in it.
func (e *Event) String() string { return e.Channel + " " + strconv.FormatUint(e.RecordID, 10) }
