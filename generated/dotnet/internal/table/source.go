// Package table has the facts about the EventSources of .NET's own libraries: names, ids and
// fields of their events, and their meanings.
//
// It is the text beside it, sources.txt, packed. Of each source it has the facts that .NET does not
// derive from the rest: an event has level Informational, an opcode by the end of its name,
// and a task of its own or that of its Start, unless its line says otherwise.
//
//	source NAME GUID PACKAGE [self-describing]
//	    What it is.
//	keyword NAME MASK
//	opcode NAME VALUE
//	task NAME VALUE
//	map NAME VALUE=NAME...        values that exclude each other
//	bits NAME VALUE=NAME...       values that combine
//	ID[.VERSION] NAME [LEVEL] [+KEYWORD...] [@TASK] [/OPCODE] FIELD:TYPE...
//	    What it means.
//	    .FIELD what it means
//	writes FIELD:TYPE...          what the event before writes in place of its fields
//
// A source without a package has - for it. A type is one of [Types], the name of a map,
// or {FIELD:TYPE,...}, which is a struct, or with [] in front any number of them, which
// the field in front counts.
package table

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/internal/packed"
)

// sources is sources.txt, which takes four times the room in a program. go generate makes it.
//
//go:embed sources.txt.gz
var sources string

var text = sync.OnceValue(func() string { return packed.Text(sources) })

// A Source is an EventSource.
type Source struct {
	Name, GUID, Package string
	SelfDescribing      bool
	Doc                 string
	Keywords            []Value
	Opcodes, Tasks      []Value // those that are not standard, and not of one event
	Maps                []Map
	Events              []Event
}

// A Value is a number with a name.
type Value struct {
	Name  string
	Value uint64
	Doc   string
}

// A Map names values of fields.
type Map struct {
	Name   string
	Bits   bool
	Values []Value
	Doc    string
}

// An Event is one version of an event.
type Event struct {
	ID      uint16
	Version uint8
	Name    string
	Doc     string
	Level   uint8
	// Task and Opcode have no name where there is none.
	Task, Opcode Value
	Keywords     []Value
	Fields       []Field
	// Written has the fields that the source writes in place of Fields, if Wrong.
	Written []Field
	Wrong   bool
}

// A Field is a field of an event.
type Field struct {
	Name, Type string
	Doc        string
	Fields     []Field // of a struct
	Counted    bool    // any number of them
}

// An Entry is where a source is in the text.
type Entry struct {
	Name, GUID, Package string
	section             string
	line                int // before its first one
}

// Entries returns all sources, without reading more of each than its first line.
func Entries() []Entry { return EntriesOf(text()) }

// EntriesOf returns those of another text.
func EntriesOf(text string) []Entry {
	const start = "\nsource "
	var list []Entry
	line := 1 + strings.Count(text[:max(0, strings.Index(text, start))], "\n")
	_, rest, ok := strings.Cut(text, start)
	for ok {
		var section string
		section, rest, ok = strings.Cut(rest, start)
		first, _, _ := strings.Cut(section, "\n")
		words := append(strings.Fields(first), "", "", "")
		list = append(list, Entry{words[0], words[1], words[2], section, line})
		line += 1 + strings.Count(section, "\n")
	}
	return list
}
