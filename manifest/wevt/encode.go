package wevt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// EncodeOptions say how to write a binary form. The zero value is for Windows 10
// and later.
type EncodeOptions struct {
	// Version is 5, which 0 stands for, or 3, the form of older compilers. Version
	// 3 does not have the names of providers.
	Version int
}

// Encode compiles a manifest: its output equals mc.exe's for the same manifest, but for the
// GUIDs of templates. The error is a [manifest.ErrorList] of all that has no binary form.
func Encode(m *manifest.Manifest, opts EncodeOptions) (Resources, error) {
	e := &encoder{major: uint16(cmp.Or(opts.Version, version5))}
	if e.major != version3 && e.major != version5 {
		return Resources{}, fmt.Errorf("version %d of the binary form is not 3 or 5", opts.Version)
	}
	e.check(m)
	if len(e.errors) > 0 {
		e.errors.Sort()
		return Resources{}, e.errors
	}
	e.messages = &messageIDs{make(map[any]uint32), make(map[string]uint32), make(map[uint32]bool), nil}
	e.resource(m)
	tables, err := e.messages.tables(m)
	if err != nil {
		return Resources{}, err
	}
	return Resources{Templates: e.b, Messages: tables}, nil
}

// An encoder writes a resource. Offsets are from its start.
type encoder struct {
	b        []byte
	major    uint16
	messages *messageIDs
	errors   manifest.ErrorList
}

func (e *encoder) u8(v uint8)   { e.b = append(e.b, v) }
func (e *encoder) u16(v uint16) { e.b = binary.LittleEndian.AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) zeros(n int)  { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) at() uint32   { return uint32(len(e.b)) }

// room leaves room for a number that is known later, and returns its place.
func (e *encoder) room() int {
	e.u32(0)
	return len(e.b) - 4
}

func (e *encoder) put(at int, v uint32) { binary.LittleEndian.PutUint32(e.b[at:], v) }

// name writes a string with its size.
func (e *encoder) name(s string) {
	at := e.room()
	e.b = append(etw.AppendUTF16(e.b, s), 0, 0)
	e.zeros(align(len(e.b), 4) - len(e.b))
	e.put(at, uint32(len(e.b)-at))
}

// names writes the strings that places wait for.
func (e *encoder) names(names []string, places []int) {
	for i, s := range names {
		e.put(places[i], e.at())
		e.name(s)
	}
}

// begin writes the head of a section, and returns where it is.
func (e *encoder) begin(sig string) int {
	e.b = append(e.b, sig...)
	return e.room() - 4
}

// end enters the size of a section.
func (e *encoder) end(section int) { e.put(section+4, uint32(len(e.b)-section)) }

// resource writes the whole resource. The compiler leaves two bytes behind it.
func (e *encoder) resource(m *manifest.Manifest) {
	crim := e.begin(sigResource)
	e.u16(e.major)
	e.u16(minor)
	e.u32(uint32(len(m.Providers)))
	var places []int
	for _, p := range m.Providers {
		e.b = append(e.b, p.GUID[:]...)
		places = append(places, e.room())
	}
	for i, p := range m.Providers {
		e.put(places[i], e.at())
		pe := &providerEncoder{encoder: e, p: p, index: uint32(i), offsets: make(map[any]uint32)}
		pe.provider()
	}
	e.end(crim)
	e.zeros(2)
}

// A providerEncoder writes a provider. It knows where its parts are.
type providerEncoder struct {
	*encoder
	p       *manifest.Provider
	index   uint32
	offsets map[any]uint32
}

// A part of a provider, and its writer.
type part struct {
	sig   string
	write func(sig string)
}

// provider writes a provider: a directory, and the parts in the order of the
// compiler.
func (e *providerEncoder) provider() {
	e.number()
	var parts []part
	if len(e.p.Channels) > 0 {
		parts = append(parts, part{sigChannels, e.channels})
	}
	if len(e.p.Maps) > 0 {
		parts = append(parts, part{sigMaps, e.maps})
	}
	parts = append(parts, part{sigTemplates, e.templates})
	if e.major >= version5 {
		parts = append(parts, part{sigNames, e.providerName})
	}
	parts = append(parts, part{sigOpcodes, e.opcodes}, part{sigLevels, e.levels}, part{sigTasks, e.tasks},
		part{sigKeywords, e.keywords}, part{sigEvents, e.events})

	wevt := e.begin(sigProvider)
	e.u32(e.messages.of(e.p))
	e.u32(uint32(len(parts)))
	var places []int
	for _, part := range parts {
		e.u32(partTypes[part.sig])
		places = append(places, e.room())
	}
	if e.major == version3 {
		e.zeros((reservedOfThree - len(parts)) * directoryEntry)
	}
	for i, part := range parts {
		if part.sig == sigEvents {
			e.zeros(align(len(e.b), 8) - len(e.b))
		}
		e.put(places[i], e.at())
		part.write(part.sig)
	}
	e.end(wevt)
}

// section writes a section of n entries and their names. A section without
// entries has size 0.
func (e *providerEncoder) section(sig string, n int, entry func(i int) (name string, place int)) {
	section := e.begin(sig)
	e.u32(uint32(n))
	if n == 0 {
		return
	}
	names, places := make([]string, n), make([]int, n)
	for i := range n {
		names[i], places[i] = entry(i)
	}
	e.names(names, places)
	e.end(section)
}

func (e *providerEncoder) channels(sig string) {
	e.section(sig, len(e.p.Channels), func(i int) (string, int) {
		c := e.p.Channels[i]
		e.offsets[c] = e.at()
		flags := uint32(0)
		if c.Imported {
			flags = importedChannel
		}
		e.u32(flags)
		name := e.room()
		e.u32(uint32(c.Value))
		e.u32(e.messages.of(c))
		return c.Name, name
	})
}

// maps writes the maps in their order. The list of them, and their names, are
// sorted.
func (e *providerEncoder) maps(sig string) {
	section := e.begin(sig)
	e.u32(uint32(len(e.p.Maps)))
	sorted := slices.Clone(e.p.Maps)
	slices.SortStableFunc(sorted, func(a, b *manifest.Map) int { return compareUTF16(a.Name, b.Name) })
	list := len(e.b)
	e.zeros(4 * len(sorted))
	names := make(map[*manifest.Map]int)
	for _, m := range e.p.Maps {
		e.offsets[m] = e.at()
		sig, flags := sigValueMap, uint32(0)
		if m.Flags {
			sig, flags = sigBitMap, 1
		}
		at := e.begin(sig)
		names[m] = e.room()
		e.u32(flags)
		e.u32(uint32(len(m.Entries)))
		for _, entry := range m.Entries {
			e.u32(entry.Value)
			e.u32(e.messages.of(entry))
		}
		e.end(at)
	}
	for i, m := range sorted {
		e.put(list+4*i, e.offsets[m])
		e.put(names[m], e.at())
		e.name(m.Name)
	}
	e.end(section)
}

// compareUTF16 compares names as Windows does, by their UTF-16 units.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func (e *providerEncoder) templates(sig string) {
	section := e.begin(sig)
	e.u32(uint32(len(e.p.Templates)))
	if len(e.p.Templates) == 0 {
		return
	}
	guids := make(map[[16]byte]bool)
	for _, t := range e.p.Templates {
		e.template(t, guids)
	}
	e.end(section)
}

// providerName writes the name, which has neither size nor neighbours.
func (e *providerEncoder) providerName(sig string) {
	section := e.begin(sig)
	e.u32(1)
	e.u32(nameOfProvider)
	e.u32(e.at() + 4)
	e.b = append(etw.AppendUTF16(e.b, e.p.Name), 0, 0)
	e.zeros(align(len(e.b), 4) - len(e.b))
	e.end(section)
}

func (e *providerEncoder) opcodes(sig string) {
	used := e.used(func(ev *manifest.Event) any { return ev.Opcode })
	list := slices.Clone(e.p.Opcodes)
	for _, t := range e.p.Tasks {
		list = append(list, t.Opcodes...)
	}
	for _, ev := range e.p.Events {
		if o := ev.Opcode; o != nil && used[o] && isStandard(o.Name) && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	key := func(o *manifest.Opcode) uint32 { return uint32(o.Value)<<16 | uint32(taskOf(o)) }
	slices.SortStableFunc(list, func(a, b *manifest.Opcode) int { return cmp.Compare(key(a), key(b)) })
	e.section(sig, len(list), func(i int) (string, int) {
		o := list[i]
		e.offsets[o] = e.at()
		e.u32(key(o))
		e.u32(e.messages.of(o))
		return o.Name, e.room()
	})
}

func taskOf(o *manifest.Opcode) uint16 {
	if o.Task == nil {
		return 0
	}
	return o.Task.Value
}

// used returns the targets of events' references.
func (e *providerEncoder) used(of func(*manifest.Event) any) map[any]bool {
	used := make(map[any]bool)
	for _, ev := range e.p.Events {
		used[of(ev)] = true
	}
	return used
}

func (e *providerEncoder) levels(sig string) {
	list := slices.Clone(e.p.Levels)
	for _, ev := range e.p.Events {
		if l := ev.Level; l != nil && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b *manifest.Level) int { return cmp.Compare(a.Value, b.Value) })
	e.section(sig, len(list), func(i int) (string, int) {
		l := list[i]
		e.offsets[l] = e.at()
		e.u32(uint32(l.Value))
		e.u32(e.messages.of(l))
		return l.Name, e.room()
	})
}

func (e *providerEncoder) tasks(sig string) {
	e.section(sig, len(e.p.Tasks), func(i int) (string, int) {
		t := e.p.Tasks[i]
		e.offsets[t] = e.at()
		e.u32(uint32(t.Value))
		e.u32(e.messages.of(t))
		e.b = append(e.b, t.EventGUID[:]...)
		return t.Name, e.room()
	})
}

func (e *providerEncoder) keywords(sig string) {
	list := slices.Clone(e.p.Keywords)
	for _, ev := range e.p.Events {
		for _, k := range ev.Keywords {
			if isStandard(k.Name) && !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	list = byMask(list)
	e.section(sig, len(list), func(i int) (string, int) {
		k := list[i]
		e.offsets[k] = e.at()
		e.u64(k.Mask)
		e.u32(e.messages.of(k))
		return k.Name, e.room()
	})
}

// events writes the events and, behind them, the lists of their keywords.
func (e *providerEncoder) events(sig string) {
	list := slices.Clone(e.p.Events)
	slices.SortStableFunc(list, func(a, b *manifest.Event) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	section := e.begin(sig)
	e.u32(uint32(len(list)))
	e.u32(0)
	places := make([]int, len(list))
	for i, ev := range list {
		places[i] = e.event(ev)
	}
	for i, ev := range list {
		if len(ev.Keywords) == 0 {
			continue
		}
		e.put(places[i], e.at())
		for _, k := range byMask(ev.Keywords) {
			e.u32(e.offsets[k])
		}
	}
	e.end(section)
}

// byMask returns keywords in the order that the compiler lists them in.
func byMask(list []*manifest.Keyword) []*manifest.Keyword {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *manifest.Keyword) int { return cmp.Compare(a.Mask, b.Mask) })
	return list
}

// event writes an event, and returns the place for the offset of its keywords.
func (e *providerEncoder) event(ev *manifest.Event) int {
	d := descriptor(e.p, ev)
	e.u16(d.ID)
	e.u8(d.Version)
	e.u8(d.Channel)
	e.u8(d.Level)
	e.u8(d.Opcode)
	e.u16(d.Task)
	e.u64(d.Keywords)
	e.u32(e.messages.of(ev))
	e.u32(e.offsets[ev.Template])
	e.u32(e.offsets[ev.Opcode])
	e.u32(e.offsets[ev.Level])
	e.u32(e.offsets[ev.Task])
	e.u32(uint32(len(ev.Keywords)))
	place := e.room()
	e.u32(e.offsets[ev.Channel])
	return place
}

// A Descriptor is how the header of a record identifies and classifies an event.
type Descriptor struct {
	ID       uint16
	Version  uint8
	Channel  uint8
	Level    uint8
	Opcode   uint8
	Task     uint16
	Keywords uint64 // with the bit of the channel
}

// descriptor returns that of an event.
func descriptor(p *manifest.Provider, ev *manifest.Event) Descriptor {
	d := Descriptor{ID: uint16(ev.ID), Version: ev.Version, Keywords: ev.Mask()}
	if ev.Level != nil {
		d.Level = uint8(ev.Level.Value)
	}
	if ev.Opcode != nil {
		d.Opcode = uint8(ev.Opcode.Value)
	}
	if ev.Task != nil {
		d.Task = ev.Task.Value
	}
	if ev.Channel != nil {
		d.Channel = ev.Channel.Value
		d.Keywords |= 1 << 63 >> slices.Index(p.Channels, ev.Channel) // as the event log adds it
	}
	return d
}

// shownAs returns the binary XML of a template, in the form that the event log
// has for all events or in that of the template's own.
func shownAs(t *manifest.Template) []byte {
	x := &xmlEncoder{}
	for _, f := range t.Fields {
		x.types = append(x.types, substituted(f))
	}
	list := t.UserData
	if len(list) == 0 {
		data := &manifest.Element{Name: "EventData"}
		for i, f := range t.Fields {
			if f.Type == etw.InStruct {
				continue // as in the compiler's output where a template says how it is shown
			}
			data.Children = append(data.Children, &manifest.Element{
				Name: "Data", Text: fmt.Sprintf("%%%d", i+1),
				Attrs: []manifest.Attr{{Name: "Name", Value: f.Name}},
			})
		}
		list = []*manifest.Element{data}
	}
	x.fragment(list)
	x.b = append(x.b, bytes.Repeat([]byte{0}, align(len(x.b), 4)-len(x.b))...)
	return x.b
}
