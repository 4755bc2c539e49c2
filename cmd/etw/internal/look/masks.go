package look

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An asking is the events that a session is to take of a provider.
type asking struct {
	of     *etw.Provider
	mask   uint64
	level  etw.Level
	listed uint64 // what is printed: mask, or all keywords of the provider
}

// suppressing returns the keyword of a provider that takes events away.
func suppressing(p *etw.Provider) uint64 {
	switch p {
	case clr.Provider:
		return uint64(clr.KeywordOverrideAndSuppressNGenEvents)
	case rundown.Provider:
		return uint64(rundown.KeywordOverrideAndSuppressNGenEventsRundown)
	}
	return 0
}

func presetNames(p *etw.Provider) []string {
	return each.Of(pick.PresetsOf(p), func(preset clr.Preset) string { return preset.Name })
}

// presetHelp lists the presets of a provider, with the events that they enable.
func presetHelp(p *etw.Provider) string {
	text, line := "", " "
	for _, preset := range pick.PresetsOf(p) {
		e := preset.Enable()
		one := fmt.Sprintf(" %s 0x%x:%d", preset.Name, e.Keywords, e.Level)
		if len(line)+len(one) > 86 {
			text, line = text+line+"\n", "   "
		}
		line += one + ","
	}
	return strings.TrimSuffix(text+line, ",")
}

// add adds masks, keywords and presets.
func (a *asking) add(names []string) error {
	e, err := pick.ParseEnable(names, a.of)
	a.mask |= e.Keywords
	a.level = max(a.level, e.Level)
	return err
}

// addPresets adds presets alone.
func (a *asking) addPresets(names []string) error {
	known := presetNames(a.of)
	for _, name := range names {
		e, ok := pick.FindPreset(a.of, name)
		switch {
		case len(known) == 0:
			return cli.Usagef("--preset: %s has none", a.of.Desc.Name)
		case !ok:
			return cli.Usagef("--preset %s: there are %s%s", name, strings.Join(known, ", "), cli.DidYouMean(name, known))
		}
		a.mask |= e.Keywords
		a.level = max(a.level, e.Level)
	}
	return nil
}

// leastLevel returns the level of which each keyword has an event: at least Informational,
// and Verbose where methods would have no names below it.
func (a *asking) leastLevel() etw.Level {
	least := max(a.level, etw.LevelInformational)
	if a.namesMethods() {
		return max(least, etw.LevelVerbose)
	}
	for _, k := range a.of.Keywords {
		if level, ok := levelOf(a.of, k.Mask); ok && k.Mask&a.mask == k.Mask {
			least = max(least, level)
		}
	}
	return least
}

// levelOf returns the lowest level of the events that have a keyword, if there are any. Where
// that of an event differs between versions it is the highest, since older runtimes have it.
func levelOf(p *etw.Provider, keyword uint64) (level etw.Level, ok bool) {
	levels := make(map[uint16][2]etw.Level) // the lowest and the highest of each event
	for _, d := range p.Events {
		if d.Keywords&keyword == 0 {
			continue
		}
		of := max(d.Level, d.SessionLevel)
		l, known := levels[d.ID]
		if !known {
			l = [2]etw.Level{of, of}
		}
		levels[d.ID] = [2]etw.Level{min(l[0], of), max(l[1], of)}
	}
	highest := etw.Level(0)
	for _, l := range levels {
		if !ok || l[0] < level {
			level, ok = l[0], true
		}
		if l[0] < l[1] {
			highest = max(highest, l[1])
		}
	}
	return max(level, highest), ok
}

// namesMethods reports whether a mask causes events that are to name methods.
func (a *asking) namesMethods() bool {
	switch a.of {
	case clr.Provider:
		s := clr.SymbolsOf(clr.Keyword(a.mask))
		return s.Jitted != clr.Lifetime{} || s.Precompiled != clr.Lifetime{} || s.Dynamic != clr.Lifetime{}
	case rundown.Provider:
		s := rundown.SymbolsOf(rundown.Keyword(a.mask))
		return s.Jitted != rundown.Times{} || s.Precompiled != rundown.Times{}
	}
	return false
}

// names lists the code that each keyword of a mask names.
func (a *asking) names() map[uint64]string {
	switch a.of {
	case clr.Provider:
		s := clr.SymbolsOf(clr.Keyword(a.mask))
		return map[uint64]string{
			uint64(clr.KeywordLoader):                "domains, assemblies, modules: " + lifeText(s.Loader),
			uint64(clr.KeywordJit):                   "compiled methods: " + lifeText(s.Jitted) + "; dynamic ones: " + lifeText(s.Dynamic),
			uint64(clr.KeywordNGen):                  "precompiled methods: " + lifeText(s.Precompiled),
			uint64(clr.KeywordCompilationDiagnostic): "ReadyToRun methods: when the runtime looks for their code",
		}
	case rundown.Provider:
		s := rundown.SymbolsOf(rundown.Keyword(a.mask))
		return map[uint64]string{
			uint64(rundown.KeywordLoaderRundown): "domains, assemblies, modules: " + timesText(s.Loader),
			uint64(rundown.KeywordJitRundown):    "compiled and dynamic methods: " + timesText(s.Jitted),
			uint64(rundown.KeywordNGenRundown):   "precompiled methods: " + timesText(s.Precompiled),
		}
	}
	return nil
}

func lifeText(l clr.Lifetime) string {
	return either(l.Load, "load", l.Unload, "unload")
}

func timesText(t rundown.Times) string {
	return either(t.Start, "at the start", t.End, "at the end")
}

// either says which of two things are true.
func either(a bool, first string, b bool, second string) string {
	switch {
	case a && b:
		return first + ", " + second
	case a:
		return first
	case b:
		return second
	}
	return "nothing"
}

// warnings names the events that a session with this asking would miss.
func (a *asking) warnings() []string {
	var list []string
	switch a.of {
	case clr.Provider:
		list = a.runtimeWarnings()
	case rundown.Provider:
		list = a.rundownWarnings()
	}
	if a.level < etw.LevelVerbose && a.namesMethods() {
		list = append(list, fmt.Sprintf("at level %d most methods come without their names: they take level 5, verbose", a.level))
	}
	for _, k := range a.of.Keywords {
		if level, ok := levelOf(a.of, k.Mask); ok && k.Mask&a.mask == k.Mask && level > a.level {
			list = append(list, fmt.Sprintf("%s causes nothing at level %d: the lowest of its events is %d", k.Name, a.level, level))
		}
	}
	return list
}

// runtimeWarnings are those about the runtime's own provider.
func (a *asking) runtimeWarnings() []string {
	const enumerations = uint64(clr.KeywordStartEnumeration | clr.KeywordEndEnumeration)
	switch {
	case a.mask&enumerations != 0 && a.mask&^enumerations == 0:
		return []string{"the mask says when code is to be enumerated, and not which code: neither Loader, 0x8, Jit, 0x10, nor NGen, 0x20"}
	case a.mask&uint64(clr.KeywordNGen) == 0:
	case a.mask&suppressing(a.of) != 0:
		return []string{suppressed}
	case clr.SymbolsOf(clr.Keyword(a.mask)).Precompiled == clr.Lifetime{}:
		return []string{"NGen causes no events of methods without StartEnumeration, 0x40, or EndEnumeration, 0x80; the rundown names ReadyToRun methods: --provider rundown symbols"}
	}
	return nil
}

const suppressed = "NGen causes nothing: OverrideAndSuppressNGenEvents takes its methods away"

// rundownWarnings are those about the provider for the rundown.
func (a *asking) rundownWarnings() []string {
	const runtimesEnd = 0x80 // a keyword of the runtime's provider, which a page of Microsoft takes for the rundown's
	if a.mask&uint64(rundown.KeywordStartRundown|rundown.KeywordEndRundown) == 0 {
		text := "no rundown: the mask lacks both StartRundown, 0x40, and EndRundown, 0x100, so nothing is written but RuntimeInformationDCStart"
		if a.mask&runtimesEnd != 0 {
			text += "; 0x80 is EndEnumeration, of the runtime's provider alone"
		}
		return []string{text}
	}
	if !slices.ContainsFunc(a.of.Events, func(d *etw.EventDesc) bool { return d.Keywords&a.mask != 0 }) {
		return []string{"an empty rundown: the mask says when, and of nothing that is to be written, such as Loader, Jit and NGen"}
	}
	if a.mask&uint64(rundown.KeywordNGenRundown) != 0 && a.mask&suppressing(a.of) != 0 {
		return []string{suppressed}
	}
	return nil
}

// setLevel takes the level that was asked for, or else the least that the mask needs.
func (a *asking) setLevel(text string) error {
	if text == "" {
		a.level = a.leastLevel()
		return nil
	}
	level, err := pick.ParseLevel(text)
	if err != nil {
		return cli.Usagef("--level: %w", err)
	}
	a.level = level
	return nil
}
