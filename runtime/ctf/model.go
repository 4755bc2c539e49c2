package ctf

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A model is a trace as its metadata describe it.
type model struct {
	builder
	header   *node // of packets
	magic    *node
	streamID *node
	uuid     []byte // of the trace
	hasUUID  bool   // packets have it, too
	streams  map[uint64]*streamClass
	env      map[string]string

	headerRoots, headerSlots int // of the builder, without those of streams

	frequency uint64
	seconds   int64  // the time when the clock stood at 0,
	cycles    uint64 // and ticks in addition
}

// A streamClass is a kind of streams.
type streamClass struct {
	id                              uint64
	err                             error // why its streams cannot be read
	packet, header, context         *node
	packetSize, contentSize         *node
	begin, discarded, sequence, cpu *node
	eventID                         *node
	pid, tid                        *node
	slots                           int // of the builder, without those of events
	events                          map[uint64]*class
}

// A class is a kind of events.
type class struct {
	block
	name            string
	err             error // why its events cannot be read
	built           bool
	context, fields *node
	contexts        []*node // of the stream and of the event
	event           runtimeEvent
	runtime         *runtimeProvider          // nil if it is no event of .NET with an id
	descs           map[string]*etw.EventDesc // by the choices that they depend on
	provider        *etw.ProviderDesc
}

// newModel makes a model of the blocks of the metadata.
func newModel(blocks []block) (*model, error) {
	m := &model{streams: map[uint64]*streamClass{}, env: map[string]string{}, frequency: 1e9}
	var err error
	for _, b := range blocks { // before those that depend on them, wherever they stand
		switch b.kind {
		case "trace":
			err = m.trace(b)
		case "env":
			for k, v := range b.values {
				m.env[k] = v
			}
		case "clock":
			m.clock(b)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, b := range blocks {
		if b.kind == "stream" {
			m.stream(b)
		}
	}
	if len(m.streams) == 0 { // which a trace with one kind of streams need not declare
		m.stream(block{})
	}
	for _, b := range blocks {
		if b.kind == "event" {
			m.event(b)
		}
	}
	return m, nil
}

func (m *model) trace(b block) (err error) {
	if orders[b.values["byte_order"]] == bigOrder {
		m.builder.order = bigOrder
	}
	m.uuid, _ = hex.DecodeString(strings.ReplaceAll(b.values["uuid"], "-", ""))
	if m.header, err = m.root("trace.packet.header.", b.types["packet.header"]); err != nil {
		return err
	}
	m.hasUUID = m.header != nil && len(m.uuid) == 16 && m.header.member("uuid") != nil
	m.magic, m.streamID = m.kept(m.header, "magic"), m.kept(m.header, "stream_id")
	m.headerRoots, m.headerSlots = len(m.roots), m.slots
	return nil
}

func (m *model) clock(b block) {
	if v, err := strconv.ParseUint(b.values["freq"], 0, 64); err == nil && v > 0 {
		m.frequency = v
	}
	m.seconds, _ = strconv.ParseInt(b.values["offset_s"], 0, 64)
	m.cycles, _ = strconv.ParseUint(b.values["offset"], 0, 64)
}

// kept keeps the value of a member, and returns it, or nil if there is no such member.
func (m *model) kept(of *node, name string) *node {
	if of == nil {
		return nil
	}
	n := of.path(name)
	if n != nil {
		m.keep(n)
	}
	return n
}

func (m *model) stream(b block) {
	id, _ := strconv.ParseUint(b.values["id"], 0, 64)
	s := &streamClass{id: id, events: map[uint64]*class{}}
	m.streams[id] = s
	m.roots, m.slots = m.roots[:m.headerRoots], m.headerSlots
	for _, part := range []struct {
		path string
		into **node
	}{{"packet.context", &s.packet}, {"event.header", &s.header}, {"event.context", &s.context}} {
		*part.into, s.err = m.root("stream."+part.path+".", b.types[part.path])
		if s.err != nil {
			return
		}
	}
	s.packetSize, s.contentSize = m.kept(s.packet, "packet_size"), m.kept(s.packet, "content_size")
	s.begin, s.discarded = m.kept(s.packet, "timestamp_begin"), m.kept(s.packet, "events_discarded")
	s.sequence, s.cpu = m.kept(s.packet, "packet_seq_num"), m.kept(s.packet, "cpu_id")
	s.header.all(func(n *node) {
		if n.ticks = n.kind == kindInteger && n.clock != ""; n.name == "id" && (n.kind == kindInteger || n.kind == kindEnum) {
			if s.eventID == nil {
				m.keep(n)
				s.eventID = n
			}
			n.slot = s.eventID.slot // of several the last one that is there tells
		}
	})
	for _, root := range []*node{s.packet, s.header, s.context} {
		root.all(func(n *node) {
			if n.kind == kindInteger || n.kind == kindEnum {
				m.keep(n)
			}
		})
	}
	s.pid, s.tid = m.owner(s.context, "pid"), m.owner(s.context, "tid")
	if s.slots = m.slots; s.slots > maxSlots {
		s.err = errSlots
	}
}

// owner keeps the number of the process or thread, which is that of the namespace of the
// program if the trace has it, and no part of the payload.
func (m *model) owner(context *node, name string) *node {
	n := m.kept(context, "v"+name)
	if n == nil {
		n = m.kept(context, name)
	}
	if n != nil {
		n.hidden = true
	}
	return n
}

// event enters a kind of events.
func (m *model) event(b block) {
	stream, _ := strconv.ParseUint(b.values["stream_id"], 0, 64)
	id, _ := strconv.ParseUint(b.values["id"], 0, 64)
	s := m.streams[stream]
	if s == nil || s.events[id] != nil {
		return
	}
	s.events[id] = &class{block: b, name: b.values["name"]}
}

// maxSlots bounds the values that others may refer to: those of all headers, and in an event
// those that do.
const maxSlots = 1 << 12

var errSlots = fmt.Errorf("more than %d values are referred to, or stand in headers", maxSlots)

// class returns a kind of events, made when it is met first.
func (m *model) class(s *streamClass, id uint64) (*class, error) {
	c := s.events[id]
	if c == nil {
		return nil, fmt.Errorf("it has the number %d, which the metadata do not have", id)
	}
	if !c.built {
		c.built = true
		c.err = m.build(s, c)
	}
	return c, c.err
}

func (m *model) build(s *streamClass, c *class) (err error) {
	m.roots, m.slots = m.roots[:0], s.slots
	for _, r := range []root{{"trace.packet.header.", m.header}, {"stream.packet.context.", s.packet}, {"stream.event.header.", s.header}, {"stream.event.context.", s.context}} {
		if r.node != nil {
			m.roots = append(m.roots, r)
		}
	}
	if c.context, err = m.root("event.context.", c.types["context"]); err != nil {
		return err
	}
	if c.fields, err = m.root("event.fields.", c.types["fields"]); err != nil {
		return err
	}
	if m.slots > maxSlots {
		return errSlots
	}
	c.contexts = []*node{s.context, c.context}
	group, name, ok := strings.Cut(c.name, ":")
	if !ok {
		group, name = m.env["domain"], c.name
	}
	if p := provider(group); p != nil && ok {
		if e, ok := p.event(name); ok {
			c.runtime, c.event, c.provider = p, e, &p.desc
			c.native(name)
			return nil
		}
	}
	group = cmp.Or(group, "ctf")
	c.provider, c.name = &etw.ProviderDesc{Name: group, GUID: etw.NameGUID(group)}, name
	return nil
}

// native has the payload of an event of .NET made as ETW has it: text is UTF-16, and the
// lengths of arrays, which LTTng adds, are left out.
func (c *class) native(event string) {
	if c.fields == nil {
		return
	}
	list := c.fields.nodes
	for i, n := range list {
		switch {
		case n.kind == kindString:
			n.wide = isWide(event, n.name)
		case n.kind == kindSequence && i > 0 && n.of == list[i-1] && strings.HasPrefix(n.of.name, "_"):
			n.of.hidden = true
			if i == 2 && len(list) == 3 && list[0].name == "length" { // the payload as it is
				list[0].hidden = true
			}
		}
	}
}

// order takes the context, of so many bytes, from the beginning of a payload to its end, or away
// if the payload is that of an event of .NET.
func (c *class) order(payload []byte, context int) []byte {
	if c.runtime != nil || context == 0 {
		return payload[context:]
	}
	return append(payload, payload[:context]...)[context:]
}

// maxDescs bounds the descriptions that are kept of one kind of events.
const maxDescs = 256

// describe returns the description of an event, nil for those that are known without one.
func (c *class) describe(choices []byte) *etw.EventDesc {
	if c.runtime != nil {
		return nil
	}
	if d := c.descs[string(choices)]; d != nil {
		return d
	}
	d := &etw.EventDesc{Provider: c.provider, Name: c.name, Named: true}
	// Choices are in the order of reading: those of the context come first.
	of := describer{choices: choices}
	var context []etw.FieldDesc
	for _, n := range c.contexts {
		context = of.members(context, n)
	}
	d.Fields = append(of.members(nil, c.fields), context...)
	if c.descs == nil {
		c.descs = make(map[string]*etw.EventDesc)
	}
	if len(c.descs) < maxDescs {
		c.descs[string(choices)] = d
	}
	return d
}

// time returns the time of a value of the clock, in nanoseconds since 1970.
func (m *model) time(v uint64) int64 {
	v += m.cycles
	hi, lo := bits.Mul64(v, 1e9)
	if hi >= m.frequency {
		return 0
	}
	ns, _ := bits.Div64(hi, lo, m.frequency)
	return m.seconds*1e9 + int64(ns)
}
