package wevt

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A providerDecoder has the parts of a provider by their offsets, by which events
// and fields refer to them.
type providerDecoder struct {
	*decoder
	p *manifest.Provider

	channels  map[uint32]*manifest.Channel
	maps      map[uint32]*manifest.Map
	templates map[uint32]*manifest.Template
	opcodes   map[uint32]*manifest.Opcode
	levels    map[uint32]*manifest.Level
	tasks     map[uint32]*manifest.Task
	keywords  map[uint32]*manifest.Keyword
	local     []*manifest.Opcode // those of tasks, which come later
	owners    []uint16           // the numbers of their tasks
}

// provider reads a provider.
func (d *decoder) provider(prov *manifest.Provider, at int) {
	head := d.span(at, providerHeader, "a provider")
	if head == nil || string(head[:4]) != sigProvider {
		d.fail(at, "no provider: it does not begin with %s", sigProvider)
		return
	}
	p := &providerDecoder{
		decoder: d, p: prov,
		channels: make(map[uint32]*manifest.Channel),
		maps:     make(map[uint32]*manifest.Map), templates: make(map[uint32]*manifest.Template),
		opcodes: make(map[uint32]*manifest.Opcode), levels: make(map[uint32]*manifest.Level),
		tasks: make(map[uint32]*manifest.Task), keywords: make(map[uint32]*manifest.Keyword),
	}
	parts, ok := p.directory(at, int(binary.LittleEndian.Uint32(head[12:])))
	if !ok {
		return
	}
	d.m.Providers = append(d.m.Providers, prov)
	p.names(parts[partTypes[sigNames]])
	if prov.Name == "" && d.opts.NameOf != nil {
		prov.Name = d.opts.NameOf(prov.GUID)
	}
	if prov.Name == "" {
		prov.Name = UnknownName(prov.GUID)
		if d.major != version3 {
			d.fail(at, "the provider %s has no name", prov.GUID)
		}
	}
	prov.Symbol = strings.ToUpper(manifest.Symbol(prov.Name))
	prov.Message, prov.MessageID = d.text(binary.LittleEndian.Uint32(head[8:]), manifest.Symbol(prov.Name))
	p.readMaps(parts[partTypes[sigMaps]])
	p.readTemplates(parts[partTypes[sigTemplates]])
	p.readOpcodes(parts[partTypes[sigOpcodes]])
	p.readLevels(parts[partTypes[sigLevels]])
	p.readTasks(parts[partTypes[sigTasks]])
	p.readKeywords(parts[partTypes[sigKeywords]])
	p.readChannels(parts[partTypes[sigChannels]])
	p.readEvents(parts[partTypes[sigEvents]])
	inventNames(prov)
}

// directory returns the offsets of a provider's parts by type.
func (p *providerDecoder) directory(at, n int) (map[uint32]int, bool) {
	if n < 0 || n > len(p.b)/directoryEntry {
		p.fail(at+12, "a provider with %d parts", n)
		return nil, false
	}
	b := p.span(at+providerHeader, n*directoryEntry, "the directory of a provider")
	if b == nil {
		return nil, false
	}
	parts := make(map[uint32]int)
	for i := range n {
		kind, off := binary.LittleEndian.Uint32(b[8*i:]), int(binary.LittleEndian.Uint32(b[8*i+4:]))
		if !knownPart(kind) {
			p.unknownPart(kind, off)
		} else if _, twice := parts[kind]; twice {
			p.fail(at+providerHeader+8*i, "two parts of type %d", kind)
		} else {
			parts[kind] = off
		}
	}
	return parts, true
}

// unknownPart leaves out a part that no output of a compiler at hand has.
func (p *providerDecoder) unknownPart(kind uint32, at int) {
	head := p.span(at, 8, "the head of a part")
	if head == nil {
		return
	}
	if p.span(at, int(binary.LittleEndian.Uint32(head[4:])), "a part") != nil {
		p.note(at, "part %q of type %d is not known, and left out", head[:4], kind)
	}
}

func knownPart(kind uint32) bool {
	for _, k := range partTypes {
		if k == kind {
			return true
		}
	}
	return false
}

// names reads the provider's name, which has neither a size nor a limit but the
// part's.
func (p *providerDecoder) names(at int) {
	if at == 0 {
		return
	}
	b := p.section(at, sigNames, sectionHeader)
	if b == nil {
		return
	}
	n := int(binary.LittleEndian.Uint32(b[8:]))
	if n < 0 || n > (len(b)-sectionHeader)/nameEntry {
		p.fail(at, "%s has %d entries", sigNames, n)
		return
	}
	p.span(at, len(b), sigNames)
	for i := range n {
		e := b[sectionHeader+i*nameEntry:]
		off := int(binary.LittleEndian.Uint32(e[4:])) - at
		if off < 0 || off > len(b) {
			p.fail(at+sectionHeader+i*nameEntry, "%s has an entry outside of it", sigNames)
			continue
		}
		if id := binary.LittleEndian.Uint32(e); id != nameOfProvider {
			p.note(at+sectionHeader+i*nameEntry, "entry %#x of %s is not known, and left out", id, sigNames)
			continue
		}
		p.p.Name, _, _ = strings.Cut(etw.UTF16(b[off:]).String(), "\x00")
	}
}

// isStandard reports whether a name is one that Windows defines.
func isStandard(name string) bool { return strings.HasPrefix(name, "win:") }

func (p *providerDecoder) readOpcodes(at int) {
	for i, e := range p.entriesAt(at, sigOpcodes, opcodeEntry) {
		task, value := binary.LittleEndian.Uint16(e), etw.Opcode(binary.LittleEndian.Uint16(e[2:]))
		o := &manifest.Opcode{Name: p.name(binary.LittleEndian.Uint32(e[8:])), Value: value}
		p.opcodes[uint32(at+sectionHeader+i*opcodeEntry)] = o
		if isStandard(o.Name) {
			continue
		}
		o.Message, o.MessageID = p.text(binary.LittleEndian.Uint32(e[4:]), "opcode_"+manifest.Symbol(o.Name))
		if task == 0 {
			p.p.Opcodes = append(p.p.Opcodes, o)
		} else {
			p.local, p.owners = append(p.local, o), append(p.owners, task)
		}
	}
}

// entriesAt returns the entries of a part that a provider may do without.
func (p *providerDecoder) entriesAt(at int, sig string, entry int) [][]byte {
	if at == 0 {
		return nil
	}
	return p.entries(at, sig, sectionHeader, entry)
}

func (p *providerDecoder) readLevels(at int) {
	for i, e := range p.entriesAt(at, sigLevels, levelEntry) {
		l := &manifest.Level{Name: p.name(binary.LittleEndian.Uint32(e[8:])), Value: etw.Level(binary.LittleEndian.Uint32(e))}
		p.levels[uint32(at+sectionHeader+i*levelEntry)] = l
		if !isStandard(l.Name) {
			l.Message, l.MessageID = p.text(binary.LittleEndian.Uint32(e[4:]), "level_"+manifest.Symbol(l.Name))
			p.p.Levels = append(p.p.Levels, l)
		}
	}
}

func (p *providerDecoder) readTasks(at int) {
	byValue := make(map[uint16]*manifest.Task)
	for i, e := range p.entriesAt(at, sigTasks, taskEntry) {
		t := &manifest.Task{Name: p.name(binary.LittleEndian.Uint32(e[24:])), Value: uint16(binary.LittleEndian.Uint32(e))}
		copy(t.EventGUID[:], e[8:24])
		p.tasks[uint32(at+sectionHeader+i*taskEntry)] = t
		byValue[t.Value] = t
		if !isStandard(t.Name) {
			t.Message, t.MessageID = p.text(binary.LittleEndian.Uint32(e[4:]), "task_"+manifest.Symbol(t.Name))
			p.p.Tasks = append(p.p.Tasks, t)
		}
	}
	for i, o := range p.local {
		t := byValue[p.owners[i]]
		if t == nil {
			p.fail(at, "opcode %s is of task %d, which there is not", o.Name, p.owners[i])
			p.p.Opcodes = append(p.p.Opcodes, o)
			continue
		}
		o.Task = t
		t.Opcodes = append(t.Opcodes, o)
	}
}

func (p *providerDecoder) readKeywords(at int) {
	for i, e := range p.entriesAt(at, sigKeywords, keywordEntry) {
		k := &manifest.Keyword{Name: p.name(binary.LittleEndian.Uint32(e[12:])), Mask: binary.LittleEndian.Uint64(e)}
		p.keywords[uint32(at+sectionHeader+i*keywordEntry)] = k
		if !isStandard(k.Name) {
			k.Message, k.MessageID = p.text(binary.LittleEndian.Uint32(e[8:]), "keyword_"+manifest.Symbol(k.Name))
			p.p.Keywords = append(p.p.Keywords, k)
		}
	}
}

func (p *providerDecoder) readChannels(at int) {
	for i, e := range p.entriesAt(at, sigChannels, channelEntry) {
		c := &manifest.Channel{
			Name:     p.name(binary.LittleEndian.Uint32(e[4:])),
			Value:    uint8(binary.LittleEndian.Uint32(e[8:])),
			Imported: binary.LittleEndian.Uint32(e)&importedChannel != 0,
		}
		c.Type = channelType(c.Name)
		c.Message, c.MessageID = p.text(binary.LittleEndian.Uint32(e[12:]), "channel_"+manifest.Symbol(c.Name))
		p.channels[uint32(at+sectionHeader+i*channelEntry)] = c
		p.p.Channels = append(p.p.Channels, c)
	}
}

// channelType returns the type of a channel that its name has at its end, as names
// of channels do.
func channelType(name string) string {
	last := name[strings.LastIndexByte(name, '/')+1:]
	for _, t := range []string{"Admin", "Operational", "Analytic", "Debug"} {
		if strings.EqualFold(last, t) {
			return t
		}
	}
	return "Operational"
}

func (p *providerDecoder) readMaps(at int) {
	for _, e := range p.entriesAt(at, sigMaps, 4) {
		off := binary.LittleEndian.Uint32(e)
		m := p.readMap(int(off))
		if m != nil {
			p.maps[off] = m
			p.p.Maps = append(p.p.Maps, m)
		}
	}
	// The offsets are sorted by name; the maps themselves are in the order of the manifest.
	places := make(map[*manifest.Map]uint32)
	for off, m := range p.maps {
		places[m] = off
	}
	order.Sort(p.p.Maps, func(a, b *manifest.Map) int { return cmp.Compare(places[a], places[b]) })
}

func (p *providerDecoder) readMap(at int) *manifest.Map {
	sig := sigValueMap
	if at >= 0 && at+4 <= len(p.b) && string(p.b[at:at+4]) == sigBitMap {
		sig = sigBitMap
	}
	b := p.section(at, sig, mapHeader)
	if b == nil {
		return nil
	}
	m := &manifest.Map{Name: p.name(binary.LittleEndian.Uint32(b[8:])), Flags: sig == sigBitMap}
	if flags := binary.LittleEndian.Uint32(b[12:]); (flags == 1) != m.Flags || flags > 1 {
		p.fail(at+12, "flags %#x of map %s do not fit %s", flags, m.Name, sig)
	}
	n := int(binary.LittleEndian.Uint32(b[16:]))
	if n < 0 || n > (len(b)-mapHeader)/mapEntry {
		p.fail(at, "map %s has %d entries, which do not fit in its %d bytes", m.Name, n, len(b))
		return nil
	}
	if p.span(at+mapHeader, n*mapEntry, sig) == nil {
		return nil
	}
	for i := range n {
		e := b[mapHeader+i*mapEntry:]
		entry := &manifest.MapEntry{Value: binary.LittleEndian.Uint32(e)}
		entry.Message, entry.StringID = p.text(binary.LittleEndian.Uint32(e[4:]), "map_"+manifest.Symbol(m.Name)+"_"+hexName(entry.Value))
		m.Entries = append(m.Entries, entry)
	}
	return m
}

func (p *providerDecoder) readEvents(at int) {
	if at == 0 {
		return
	}
	if at%8 != 0 {
		p.fail(at, "%s is not aligned to 8 bytes", sigEvents)
	}
	events := p.entries(at, sigEvents, eventsHeader, eventEntry)
	if len(events) > 0 && binary.LittleEndian.Uint32(p.b[at+12:]) != 0 {
		p.fail(at+12, "%s has a number that is always 0 in others", sigEvents)
	}
	for i, b := range events {
		p.readEvent(at+eventsHeader+i*eventEntry, b)
	}
}

// readEvent reads an event. Its parts are named by their offsets, 0 for none.
func (p *providerDecoder) readEvent(at int, b []byte) {
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	e := &manifest.Event{
		ID:       uint32(binary.LittleEndian.Uint16(b)),
		Version:  b[2],
		Template: find(p, at+20, sigTemplate, p.templates, u32(20)),
		Opcode:   find(p, at+24, sigOpcodes, p.opcodes, u32(24)),
		Level:    find(p, at+28, sigLevels, p.levels, u32(28)),
		Task:     find(p, at+32, sigTasks, p.tasks, u32(32)),
		Channel:  find(p, at+44, sigChannels, p.channels, u32(44)),
	}
	refs := p.span(int(u32(40)), 4*int(min(u32(36), uint32(len(p.b)))), "the keywords of an event")
	for ; len(refs) > 0; refs = refs[4:] {
		if k := find(p, at+40, sigKeywords, p.keywords, binary.LittleEndian.Uint32(refs)); k != nil {
			e.Keywords = append(e.Keywords, k)
		}
	}
	p.byNumber(b, e)
	e.Message, e.MessageID = p.text(u32(16), "event_"+eventName(e))
	p.checkEvent(at, b, e)
	p.p.Events = append(p.p.Events, e)
}

// byNumber finds the parts that an event has by number alone, as Windows defines it.
func (p *providerDecoder) byNumber(b []byte, e *manifest.Event) {
	if l := etw.Level(b[4]); e.Level == nil && 0 < l && l <= etw.LevelVerbose {
		e.Level = &manifest.Level{Name: "win:" + l.String(), Value: l}
	}
	if o := etw.Opcode(b[5]); e.Opcode == nil && (0 < o && o <= etw.OpcodeSend || o == etw.OpcodeReceive) {
		e.Opcode = &manifest.Opcode{Name: "win:" + o.Name(), Value: o}
	}
}

// find returns the target of an event's reference.
func find[T any](p *providerDecoder, at int, what string, by map[uint32]*T, off uint32) *T {
	if off == 0 {
		return nil
	}
	part := by[off]
	if part == nil {
		p.fail(at, "an event refers to offset %#x, where no %s is", off, what)
	}
	return part
}

// checkEvent holds the descriptor of an event, which is in its record, too, against the
// references of the event.
func (p *providerDecoder) checkEvent(at int, b []byte, e *manifest.Event) {
	mask := binary.LittleEndian.Uint64(b[8:]) &^ e.Mask() & ownKeywords
	switch {
	case e.Level == nil && b[4] != 0 || e.Level != nil && uint8(e.Level.Value) != b[4]:
		p.fail(at+4, "event %d has level %d and refers to another", e.ID, b[4])
	case e.Opcode == nil && b[5] != 0 || e.Opcode != nil && uint8(e.Opcode.Value) != b[5]:
		p.fail(at+5, "event %d has opcode %d and refers to another", e.ID, b[5])
	case e.Task == nil && binary.LittleEndian.Uint16(b[6:]) != 0 || e.Task != nil && e.Task.Value != binary.LittleEndian.Uint16(b[6:]):
		p.fail(at+6, "event %d has task %d and refers to another", e.ID, binary.LittleEndian.Uint16(b[6:]))
	case e.Channel == nil && b[3] != 0 || e.Channel != nil && e.Channel.Value != b[3]:
		p.fail(at+3, "event %d has channel %d and refers to another", e.ID, b[3])
	case mask != 0:
		p.fail(at+8, "event %d has keyword bit %d and refers to no keyword that has it", e.ID, bits.TrailingZeros64(mask))
	}
}
