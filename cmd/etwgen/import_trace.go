package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// lostInTrace is the comment of an imported manifest.
const lostInTrace = `
     It has the events that were in the trace, in the layouts that the trace
     says: the provider may have more. Tids are made up. Texts are those that
     the trace has.`

// importTraces collects the descriptions of events in traces.
func importTraces(ctx context.Context, t *trace.Trace, names ...string) (*imported, error) {
	c := &collector{providers: make(map[etw.GUID]*traced), seen: make(map[*etw.EventDesc]bool), bare: make(map[bareKey]string)}
	var damage error
	for r, err := range t.Records() {
		if err != nil {
			damage = err
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.record(r)
	}
	if len(c.providers) == 0 {
		if damage != nil {
			return nil, damage
		}
		return nil, fmt.Errorf("%s: no event has a description in the trace itself; those of the .NET runtime and of Windows need a manifest", strings.Join(names, ", "))
	}
	for i, name := range names {
		names[i] = sourceName(name)
	}
	c.leaveOut()
	m := c.manifest()
	if len(m.Providers) == 0 {
		return nil, errors.New(strings.Join(c.faults, "; "))
	}
	out := &imported{manifest: m, comment: "Imported from " + strings.Join(names, ", ") + "." + lostInTrace + identification(c.named, c.guessed), faults: c.faults, notes: c.notes}
	if damage != nil {
		out.faults = append(out.faults, damage.Error())
	}
	return out, nil
}

// A collector gathers the descriptions of events.
type collector struct {
	providers map[etw.GUID]*traced
	seen      map[*etw.EventDesc]bool
	bare      map[bareKey]string // the providers' names of events whose fields nothing describes
	faults    []string
	notes     []string
	named     []string // the providers with events that go by names
	guessed   []string // those of them of which it is not known that they must
}

// record enters the description of a record, if it has one.
func (c *collector) record(r *etw.Record) {
	d := r.Schema
	if r.Kind != etw.KindManifest || d != nil && c.seen[d] || r.Opcode == manifestData || r.ProviderName == ofStream {
		return
	}
	if d == nil || len(d.Fields) == 0 && len(r.Payload) > 0 {
		k := bareKey{provider: r.Provider, id: r.ID, version: r.Version}
		if d != nil {
			k.name = d.Name
		}
		c.bare[k] = r.ProviderName
		return
	}
	c.seen[d] = true
	guid := r.Provider
	p := c.providers[guid]
	if p == nil {
		p = &traced{desc: &etw.ProviderDesc{Name: cmp.Or(r.ProviderName, guid.String()), GUID: guid}, events: make(map[tracedKey]*etw.EventDesc)}
		c.providers[guid] = p
	}
	// The header may differ from the description.
	e := *d
	e.ID, e.Version, e.Level, e.Opcode, e.Task, e.Keywords = r.ID, r.Version, r.Level, r.Opcode, r.Task, r.Keywords
	key := tracedKey{id: r.ID, version: r.Version}
	if d.Named {
		key.name, key.noID = d.Name, r.ID == 0 && r.Channel == traceLogging
	}
	for {
		first := p.events[key]
		if first == nil || len(first.Fields) == 0 {
			p.events[key] = &e
			return
		}
		if slices.EqualFunc(first.Fields, e.Fields, sameLayout) {
			return
		}
		if !ofEventPipe(d) && !key.noID {
			break
		}
		// The id may be that of one event in one trace, of another in the next. A name without
		// an id may be that of events in several places of a program.
		key.shape++
	}
	c.faults = append(c.faults, fmt.Sprintf("%s: event %d version %d of %s has another layout than before, and the first is kept", r.File, r.ID, r.Version, p.desc.Name))
}

// A bareKey is an event with a payload and no description of its fields.
type bareKey struct {
	provider etw.GUID
	id       uint16
	version  uint8
	name     string // of a program's own event; those of the runtime and of Windows have none
}

// ofStream is the provider of a .nettrace file's own event, which no program writes.
const ofStream = "Microsoft-DotNETCore-EventPipe"

// leaveOut names the events that are left out since nothing describes their fields. Of
// providers that no trace describes, those of the runtime and of Windows, it names the provider.
func (c *collector) leaveOut() {
	others := make(map[string]bool)
	for k, provider := range c.bare {
		provider = cmp.Or(provider, k.provider.String())
		p := c.providers[k.provider]
		switch {
		case p == nil && k.name == "":
			others[provider] = true
		case p.has(k):
		case k.name == "":
			c.faults = append(c.faults, fmt.Sprintf("%s: event %d version %d is left out: the trace does not describe it", provider, k.id, k.version))
		default:
			c.faults = append(c.faults, fmt.Sprintf("%s: event %q (%d) is left out: the trace has no description of its fields", provider, k.name, k.id))
		}
	}
	if len(others) > 0 {
		c.notes = append(c.notes, "the trace describes no event of these providers, which are left out: "+strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
}

// has reports whether an event has a description in another place.
func (t *traced) has(k bareKey) bool {
	if t == nil {
		return false
	}
	for other := range t.events {
		if other.id == k.id && other.version == k.version && (other.name == k.name || other.name == "" || k.name == "") {
			return true
		}
	}
	return false
}

// manifestData is the opcode of events that carry a provider's manifest.
const manifestData = 254

// traceLogging is the channel of events that have a name in place of an id.
const traceLogging = 11

// sameLayout reports whether two fields are read alike.
func sameLayout(a, b etw.FieldDesc) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Count == b.Count && a.Length == b.Length && slices.EqualFunc(a.Fields, b.Fields, sameLayout)
}

// manifest makes a manifest of all that was collected, the same for the same trace.
func (c *collector) manifest() *manifest.Manifest {
	texts := make(map[string]string)
	m := &manifest.Manifest{Cultures: []*manifest.Culture{{Name: "en-US", Strings: texts}}}
	for _, p := range c.providers {
		events, said := p.identify()
		p.withoutSession(events)
		c.faults, c.notes = append(c.faults, said.faults...), append(c.notes, said.notes...)
		if slices.ContainsFunc(events, func(e tracedEvent) bool { return e.name != "" }) {
			c.named = append(c.named, p.desc.Name)
			if p.guessed() {
				c.guessed = append(c.guessed, p.desc.Name)
			}
		}
		m.Providers = append(m.Providers, p.provider(events, texts))
	}
	slices.Sort(c.faults)
	slices.Sort(c.notes)
	slices.SortFunc(m.Providers, func(a, b *manifest.Provider) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.GUID[:], b.GUID[:]))
	})
	return m
}

// A tracedProvider is a provider under construction.
type tracedProvider struct {
	*manifest.Provider
	maps    map[string]*manifest.Map
	tasks   map[uint16]*manifest.Task
	opcodes map[[2]uint16]*manifest.Opcode
	names   map[string]bool // of symbols
	strings map[string]string
}

// text enters a text into the string table.
func (p *tracedProvider) text(id, text string) (string, string) {
	if text == "" {
		return "", ""
	}
	id = p.Symbol + "_" + manifest.Symbol(id)
	p.strings[id] = text
	return text, id
}

// provider makes a provider of descriptions.
func (t *traced) provider(events []tracedEvent, texts map[string]string) *manifest.Provider {
	p := &tracedProvider{
		Provider: &manifest.Provider{Name: t.desc.Name, GUID: t.desc.GUID, Symbol: strings.ToUpper(manifest.Symbol(t.desc.Name)), EventSource: t.desc.EventSource},
		maps:     make(map[string]*manifest.Map),
		tasks:    make(map[uint16]*manifest.Task),
		opcodes:  make(map[[2]uint16]*manifest.Opcode),
		names:    make(map[string]bool),
		strings:  texts,
	}
	p.keywords(events)
	for _, e := range events {
		p.event(e)
	}
	return p.Provider
}

// freeBits is how many keywords a provider has of its own.
const (
	freeBits     = 48
	everyKeyword = 1<<freeBits - 1
)

// keywords declares a keyword for each bit: traces have no names for them.
func (p *tracedProvider) keywords(events []tracedEvent) {
	var all uint64
	for _, e := range events {
		if e.Keywords&everyKeyword != everyKeyword { // as messages of EventSource have
			all |= e.Keywords
		}
	}
	for bit := range freeBits {
		if mask := uint64(1) << bit; all&mask != 0 {
			p.Keywords = append(p.Keywords, &manifest.Keyword{Name: "Keyword" + strconv.Itoa(bit), Mask: mask})
		}
	}
}

// event makes an event.
func (p *tracedProvider) event(traced tracedEvent) {
	d := traced.EventDesc
	e := &manifest.Event{ID: uint32(d.ID), Version: d.Version, TraceName: traced.name}
	e.Symbol = p.symbol(d)
	e.Message, e.MessageID = p.text("event_"+e.Symbol, d.Message)
	for _, k := range p.Keywords {
		if d.Keywords&k.Mask != 0 && d.Keywords&everyKeyword != everyKeyword {
			e.Keywords = append(e.Keywords, k)
		}
	}
	e.Level = p.level(d.Level)
	e.Task = p.task(d)
	e.Opcode = p.opcode(d, e.Task)
	if len(d.Fields) > 0 {
		e.Template = &manifest.Template{ID: e.Symbol + "Args", Fields: p.fields(&fieldScope{fields: d.Fields})}
		p.Templates = append(p.Templates, e.Template)
	}
	p.Events = append(p.Events, e)
}

// symbol returns the symbol of an event: its name in the trace.
func (p *tracedProvider) symbol(d *etw.EventDesc) string {
	name := etw.EventName(d.Name, d.TaskName, d.OpcodeName, etw.KindManifest, d.ID)
	if d.TaskName+d.Name == "" {
		name = "Event" + strconv.Itoa(int(d.ID))
	}
	symbol := manifest.Symbol(name)
	if version := "_V" + strconv.Itoa(int(d.Version)); d.Version > 0 && !strings.HasSuffix(symbol, version) {
		symbol += version
	}
	if p.names[symbol] {
		symbol += "_" + strconv.Itoa(int(d.ID)) // which dispatch knows: see EventDesc.Named
	}
	for p.names[symbol] {
		symbol += "_"
	}
	p.names[symbol] = true
	return symbol
}

// level returns the level of a number: one of Windows, or a new one.
func (p *tracedProvider) level(v etw.Level) *manifest.Level {
	if v <= etw.LevelVerbose {
		return &manifest.Level{Name: "win:" + v.String(), Value: v}
	}
	for _, l := range p.Levels {
		if l.Value == v {
			return l
		}
	}
	l := &manifest.Level{Name: "Level" + strconv.Itoa(int(v)), Value: v}
	p.Levels = append(p.Levels, l)
	return l
}

// task returns the task of an event, nil for none.
func (p *tracedProvider) task(d *etw.EventDesc) *manifest.Task {
	if d.Task == 0 {
		return nil
	}
	if t := p.tasks[d.Task]; t != nil {
		return t
	}
	t := &manifest.Task{Name: cmp.Or(d.TaskName, "Task"+strconv.Itoa(int(d.Task))), Value: d.Task}
	for _, other := range p.Tasks {
		if other.Name == t.Name {
			t.Name += "_" + strconv.Itoa(int(d.Task))
			break
		}
	}
	p.tasks[d.Task] = t
	p.Tasks = append(p.Tasks, t)
	return t
}

// opcode returns the opcode of an event: one of Windows, or one of its task.
func (p *tracedProvider) opcode(d *etw.EventDesc, t *manifest.Task) *manifest.Opcode {
	if d.Opcode <= etw.OpcodeSend || d.Opcode == etw.OpcodeReceive {
		return &manifest.Opcode{Name: "win:" + d.Opcode.Name(), Value: d.Opcode}
	}
	key := [2]uint16{d.Task, uint16(d.Opcode)}
	if o := p.opcodes[key]; o != nil {
		return o
	}
	o := &manifest.Opcode{Name: cmp.Or(d.OpcodeName, "Opcode"+strconv.Itoa(int(d.Opcode))), Value: d.Opcode, Task: t}
	list := &p.Opcodes
	if t != nil {
		list = &t.Opcodes
	}
	if slices.ContainsFunc(*list, func(other *manifest.Opcode) bool { return other.Name == o.Name }) {
		o.Name += "_" + strconv.Itoa(int(d.Opcode))
	}
	*list = append(*list, o)
	p.opcodes[key] = o
	return o
}
