package etw

import (
	"cmp"
	"fmt"
	"slices"
)

// An Enable is the settings of a provider in a session.
type Enable struct {
	Provider *ProviderDesc
	// Keywords holds keywords of the events. An event is logged if one of its keywords
	// is enabled, or if it has none; a provider may check single keywords too, so all
	// are listed but those that change the program: see [ProviderDesc.Costly]. 0 means
	// that the events have none; to ETW, a session's mask of 0 stands for all keywords.
	Keywords uint64
	// Level is the highest level of the events, and at least 1 where they are logged at every
	// level, since 0 stands for all levels. It is 0 for an EventSource that declares so: its
	// code may look at the level of the session.
	Level Level
}

// String returns e in the form that dotnet-trace takes, such as
// Microsoft-Windows-DotNETRuntime:0x1:4.
func (e Enable) String() string {
	name := ""
	if e.Provider != nil {
		name = e.Provider.Name
	}
	return fmt.Sprintf("%s:%#x:%d", name, e.Keywords, uint8(e.Level))
}

// Changes returns those of the keywords that change the program which is watched.
func (e Enable) Changes() uint64 {
	if e.Provider == nil {
		return 0
	}
	return e.Keywords & e.Provider.Costly
}

// Enable returns the least that a session must enable for events of the description.
func (d *EventDesc) Enable() Enable {
	e := Enable{Provider: d.Provider, Keywords: d.Keywords, Level: max(d.Level, d.SessionLevel)}
	if e.Level == LevelLogAlways && d.Kind == KindManifest && !d.Provider.EventSource {
		e.Level = LevelCritical
	}
	if d.Provider.EventSource {
		// .NET writes no event of a method to a session that has none of its keywords.
		if e.Keywords &^= SessionKeywords; e.Keywords == 0 {
			e.Keywords = SessionKeywords
		}
	}
	if harmless := e.Keywords &^ d.Provider.Costly; harmless != 0 {
		e.Keywords = harmless
	}
	return e
}

// ask adds the settings needed to get events.
func (m *Mux) ask(e Enable) {
	i := slices.IndexFunc(m.enable, func(have Enable) bool { return have.Provider.GUID == e.Provider.GUID })
	if i < 0 {
		m.enable = append(m.enable, e)
		return
	}
	m.enable[i].Keywords |= e.Keywords
	m.enable[i].Level = max(m.enable[i].Level, e.Level)
}

// Enablement returns the providers, keywords and levels that the handlers of the
// mux need, sorted by the name of the provider: the least that brings their events.
// Keywords that change the program which is watched, such as those that make it collect
// its heap, are there only if a handler takes an event that no other keyword brings;
// [Enable.Changes] names them. Where a provider asks for more than it declares, its
// package says so.
func (m *Mux) Enablement() []Enable {
	list := slices.Clone(m.enable)
	slices.SortFunc(list, func(a, b Enable) int { return cmp.Compare(a.Provider.Name, b.Provider.Name) })
	return list
}

// AskFor has [Mux.Enablement] have list for the handlers that are registered until the
// function which it returns is called, whatever their events declare. It is for whoever
// makes use of more events than it needs, as analyses do:
//
//	defer mux.AskFor(clr.EnableGC())()
func (m *Mux) AskFor(list ...Enable) (end func()) {
	before := slices.Clone(m.enable)
	return func() {
		asked := m.enable
		m.enable = before
		for _, e := range list {
			// Their events' own description knows which keywords are costly.
			if i := slices.IndexFunc(asked, func(own Enable) bool { return own.Provider.GUID == e.Provider.GUID }); i >= 0 {
				e.Provider = asked[i].Provider
			}
			m.ask(e)
		}
	}
}
