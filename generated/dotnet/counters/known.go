package counters

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed known.txt
var text string

// An Info is the description of a counter of an EventSource, or of an instrument of a meter.
type Info struct {
	Provider string // of the counter, or the meter of the instrument
	Name     string
	Meter    bool   // it is an instrument
	Unit     string // such as B, ms, % or {request}
	// Description tells its meaning. A sum is that of an interval, unless it says otherwise.
	Description string
}

var (
	once  sync.Once
	known []Info
	byKey map[key]int
)

type key struct {
	provider, name string
	meter          bool
}

// read reads the table when it is first needed.
func read() {
	byKey = make(map[key]int)
	var of Info
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		switch {
		case words[0] == "" || words[0] == "#":
		case words[0] == "source" || words[0] == "meter":
			of = Info{Provider: words[1], Meter: words[0] == "meter"}
		default:
			i := of
			i.Name, i.Unit, i.Description = words[0], words[1], words[2]
			byKey[key{i.Provider, i.Name, i.Meter}] = len(known)
			known = append(known, i)
		}
	}
}

// Known returns the well-known counters and instruments, by provider.
func Known() []Info {
	once.Do(read)
	return append([]Info(nil), known...)
}

// Counter returns the description of a counter of an EventSource.
func Counter(source, name string) (Info, bool) { return lookup(key{source, name, false}) }

// Instrument returns the description of an instrument of a meter.
func Instrument(meter, name string) (Info, bool) { return lookup(key{meter, name, true}) }

func lookup(k key) (Info, bool) {
	once.Do(read)
	i, ok := byKey[k]
	if !ok {
		return Info{}, false
	}
	return known[i], true
}
