package pick

import (
	"slices"
	"strings"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// PresetsOf returns the choices of a provider's keywords that have a name.
func PresetsOf(p *etw.Provider) []clr.Preset {
	switch p {
	case clr.Provider:
		return clr.Presets()
	case rundown.Provider:
		return []clr.Preset{
			{Name: "symbols", About: "names of the code that is there when a session ends", Enable: rundown.EnableEnd},
			{Name: "symbols-at-start", About: "the same, when it begins", Enable: rundown.EnableStart},
		}
	}
	return nil
}

// FindPreset returns the events that the preset of a name enables.
func FindPreset(p *etw.Provider, name string) (e etw.Enable, ok bool) {
	list := PresetsOf(p)
	i := slices.IndexFunc(list, func(p clr.Preset) bool { return strings.EqualFold(p.Name, strings.TrimSpace(name)) })
	if i < 0 {
		return e, false
	}
	return list[i].Enable(), true
}

// ParseEnable returns the mask of a list of masks, keywords and presets, of which a keyword
// goes before a preset of its name, and the level that the presets need, if there are any.
func ParseEnable(list []string, p *etw.Provider) (e etw.Enable, err error) {
	for _, name := range list {
		mask, err := ParseKeywords([]string{name}, []*etw.Provider{p})
		if err != nil {
			preset, ok := FindPreset(p, name)
			if !ok {
				return e, err
			}
			mask, e.Level = preset.Keywords, max(e.Level, preset.Level)
		}
		e.Keywords |= mask
	}
	return e, nil
}
