package main

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ofEventPipe reports whether EventPipe names an event in its metadata.
func ofEventPipe(d *etw.EventDesc) bool { return d.Named && d.Channel != traceLogging }

// byMethod reports whether a method of an EventSource wrote an event, rather than Write,
// a counter, or a program without .NET.
func byMethod(d *etw.EventDesc) bool { return d.Keywords&etw.SessionKeywords == etw.SessionKeywords }

// lowestAtRunTime is the lowest id that .NET chooses while a program runs: a source of
// the runtime itself, which is there first, has those below it.
const lowestAtRunTime = 2

// declaresIDs reports whether the ids of a provider's methods are known to be declared.
// Events that .NET numbers at run time have no version, and no id as low as most sources
// begin with. Events that have no names are those of in-stream manifests.
func (t *traced) declaresIDs() bool {
	for k, e := range t.events {
		switch {
		case k.name == "":
			return true
		case ofEventPipe(e) && byMethod(e) && (e.Version > 0 || e.ID < lowestAtRunTime):
			return true
		}
	}
	return false
}

// guessed reports whether the methods of a provider go by names only because nothing
// says that their ids are declared.
func (t *traced) guessed() bool {
	if t.declaresIDs() {
		return false
	}
	for _, e := range t.events {
		if ofEventPipe(e) && byMethod(e) {
			return true
		}
	}
	return false
}

// numberedAtRunTime returns the names of the events of EventPipe that may have another id in
// the next trace: events of Write and of counters, and those of methods, unless it is known
// that their ids are declared. Names find the events in either case.
func (t *traced) numberedAtRunTime() map[string]bool {
	names := make(map[string]bool)
	declared := t.declaresIDs()
	for k, e := range t.events {
		if ofEventPipe(e) && k.name != "" && !(declared && byMethod(e)) {
			names[k.name] = true
		}
	}
	for k, e := range t.events {
		if e.Version > 0 { // which only what is declared has
			delete(names, k.name)
		}
	}
	return names
}

// shared returns the fields with which all of several layouts begin, and an opaque one
// for the rest.
func (t *traced) shared(keys []tracedKey) []etw.FieldDesc {
	fields := t.events[keys[0]].Fields
	for _, k := range keys[1:] {
		fields = beginning(fields, t.events[k].Fields)
	}
	name := "Rest"
	for slices.ContainsFunc(fields, func(f etw.FieldDesc) bool { return f.Name == name }) {
		name += "_"
	}
	return append(fields, etw.FieldDesc{Name: name, Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeRest}})
}

// beginning returns the fields with which two layouts begin, of two structs those with
// which both begin.
func beginning(a, b []etw.FieldDesc) (fields []etw.FieldDesc) {
	for i := range min(len(a), len(b)) {
		if sameLayout(a[i], b[i]) {
			fields = append(fields, a[i])
			continue
		}
		f := a[i]
		f.Fields = nil
		other := b[i]
		other.Fields = nil
		if f.Type == etw.InStruct && f.Count.Kind == etw.SizeNone && sameLayout(f, other) {
			if f.Fields = beginning(a[i].Fields, b[i].Fields); len(f.Fields) > 0 {
				fields = append(fields, f)
			}
		}
		break
	}
	return fields
}

// withoutSession takes the keywords off that .NET sets in all events of methods, by which the
// provider is known for an EventSource.
func (t *traced) withoutSession(events []tracedEvent) {
	for i, e := range events {
		if ofEventPipe(e.EventDesc) && byMethod(e.EventDesc) && e.Keywords&everyKeyword != everyKeyword {
			d := *e.EventDesc
			d.Keywords &^= etw.SessionKeywords
			events[i].EventDesc = &d
			t.desc.EventSource = true
		}
	}
}

// identification says in an imported manifest which events go by names, and why.
func identification(named, guessed []string) string {
	if len(named) == 0 {
		return ""
	}
	s := `
     Events with etwgen:named go by their names. Their ids are chosen while a program
     runs, and the values here are made up.`
	slices.Sort(guessed)
	for _, name := range guessed {
		s += fmt.Sprintf(`
     %s: it is not known whether the source declares ids.`, name)
	}
	return s
}
