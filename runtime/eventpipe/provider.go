package eventpipe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Provider chooses the events that a session takes of a provider.
type Provider struct {
	Name string
	// Keywords chooses the events with one of these, and those that have none.
	Keywords uint64
	// Level chooses the events up to this one. A session takes up to 5, verbose; 0
	// is for events that are always logged.
	Level etw.Level
	// Arguments is for the provider, in the form of [Arguments].
	Arguments string
	// Filter chooses by ids, which takes .NET 10.
	Filter *Filter
}

// A Filter chooses events by their ids.
type Filter struct {
	IDs    []uint16
	Except bool // all but these
}

// String returns p in the form that dotnet-trace takes: Name:keywords:level:arguments.
func (p Provider) String() string {
	s := p.Name + ":0x" + strconv.FormatUint(p.Keywords, 16) + ":" + strconv.Itoa(int(p.Level))
	if p.Arguments != "" {
		s += ":" + p.Arguments
	}
	return s
}

// Arguments joins names and values, which follow each other, to the arguments of a
// provider. A value with a character that has a meaning there is quoted.
func Arguments(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(pairs[i])
		b.WriteByte('=')
		if value := pairs[i+1]; strings.ContainsAny(value, ";=") {
			b.WriteString(`"` + value + `"`)
		} else {
			b.WriteString(value)
		}
	}
	return b.String()
}

// ForMux returns the providers that the handlers of a mux need, with the keywords and
// levels that their events declare.
func ForMux(m *etw.Mux) []Provider {
	var list []Provider
	for _, e := range m.Enablement() {
		list = append(list, Provider{Name: e.Provider.Name, Keywords: e.Keywords, Level: min(e.Level, maxLevel)})
	}
	return list
}

// Merge returns the providers without repetition: of those with the same name and
// arguments the keywords are added up, and the level is the highest one. Those with a
// filter stay as they are.
func Merge(providers []Provider) []Provider {
	var list []Provider
	for _, p := range providers {
		i := slices.IndexFunc(list, func(q Provider) bool {
			return q.Name == p.Name && q.Arguments == p.Arguments && q.Filter == nil && p.Filter == nil
		})
		if i < 0 {
			list = append(list, p)
			continue
		}
		list[i].Keywords |= p.Keywords
		list[i].Level = max(list[i].Level, p.Level)
	}
	return list
}

// Requests that runtimes refuse, with an answer or with a crash.
const (
	maxLevel     = etw.LevelVerbose
	maxProviders = 1000
)

// check reports values that the runtime would not take.
func (p *Provider) check() error {
	switch {
	case p.Name == "":
		return invalid("a provider without a name")
	case p.Level > maxLevel:
		return invalid("%s: level %d; the highest is %d, verbose", p.Name, p.Level, maxLevel)
	case p.Filter != nil && len(p.Filter.IDs) == 0:
		return invalid("%s: a filter without ids", p.Name)
	}
	if err := checkText("the name of the provider", p.Name); err != nil {
		return err
	}
	return checkText("the argument of "+p.Name, p.Arguments)
}

// append adds the provider to a message. With filters, which the newer commands have,
// each has one: a bool that says whether its ids are chosen or left out, and them.
func (p *Provider) append(m *message, filters bool) {
	m.u64(p.Keywords)
	m.u32(uint32(p.Level))
	m.text(p.Name)
	m.text(p.Arguments)
	if !filters {
		return
	}
	if p.Filter == nil {
		m.bool(false)
		m.u32(0)
		return
	}
	m.bool(!p.Filter.Except)
	m.u32(uint32(len(p.Filter.IDs)))
	for _, id := range p.Filter.IDs {
		m.u32(uint32(id))
	}
}
