// Package eventsource makes manifests of the EventSource classes in an assembly of .NET,
// without .NET: from its metadata and code, of which nothing is run. Use it when the
// manifest of a .NET program is asked for, and only the program is there.
//
// [Read] finds the classes. The result for each is that of a running program, which differs
// in two ways from the output of GenerateManifest: events that end something belong to the
// task of those that begin it, and the name is the one that the constructor gives.
// [Options.Semantics] chooses the others.
//
// Beyond a manifest, the code of a class has facts that no manifest has: whether the source
// is a self-describing one, and the payload of a method where C# widens its arguments or
// forgets one.
package eventsource

import (
	"errors"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ErrNoSource is returned for assemblies that have no EventSource class.
var ErrNoSource = errors.New("the assembly has no EventSource class")

// Semantics says which of .NET's ways to make a manifest is followed.
type Semantics uint8

// There are three ways.
const (
	Live   Semantics = iota // that of a running source
	None                    // that of GenerateManifest without options
	Strict                  // that of GenerateManifest with EventManifestOptions.Strict
)

// Options say how to read an assembly.
type Options struct {
	// Find returns another assembly by its simple name, such as System.Runtime, or
	// nil. It is asked for those that declare enumerations and base classes. Without
	// it there are none.
	Find func(name string) []byte

	Semantics Semantics

	// Class chooses one class, by its name with or without its namespace. Without it,
	// all are read.
	Class string

	// Name and SelfDescribing replace those of the constructor's code.
	Name           string
	SelfDescribing bool

	// Accidents keeps accidental events: .NET takes every method
	// without a result for one, such as the setter of a property.
	Accidents bool
}

// A Source is an EventSource class.
type Source struct {
	Class          string // with its namespace, and + before the name of a nested class
	Name           string
	GUID           etw.GUID
	SelfDescribing bool

	// Dead is why the source writes nothing, in the words that .NET has for it. Such
	// a source has no events.
	Dead string

	// Complaints are the faults for which GenerateManifest would refuse the class with
	// EventManifestOptions.Strict, in the words that .NET has for them.
	Complaints []string

	// Warnings are the parts that the manifest lacks, or may have wrong, since code or
	// another assembly does not say it.
	Warnings []string

	// Notes are remarks on a manifest that has nothing wrong.
	Notes []string

	Events   []*Event
	Channels []Channel
	Maps     []*Map
	Tasks    map[int64]string
	Opcodes  map[int64]string
	Keywords map[uint64]string

	file    string
	strings map[string]string
}

// An Event is an event method.
type Event struct {
	ID, Version int64
	Name        string
	Level       int64
	Task        int64
	Opcode      int64
	Channel     int64
	Mask        uint64
	Fields      []Field

	// Written lists the fields that the method writes where they differ from Fields, as
	// attribute etwgen:fields has it. It is "" for nearly all.
	Written string

	// Accident says that the event is accidental: its method has no [Event],
	// and no code that writes it.
	Accident bool

	hasMessage           bool
	task, opcode, chanID string
	keywords             []string
	method               *method
}

// A Field is a parameter of an event method, or the size of one.
type Field struct {
	Name   string
	InType string // such as win:UInt32
	Map    string
	Length string
}

// A Channel is one that an event names.
type Channel struct {
	Value   int64
	Name    string
	Type    string
	message bool
}

// A Map is an enumeration that is the type of a field.
type Map struct {
	Name    string
	Flags   bool
	Entries []MapEntry
}

// A MapEntry is a value of an enumeration, its sign extended.
type MapEntry struct {
	Value uint64
	Name  string
}

// The marks of event 0, which every source has.
const (
	messageEvent = "EventSourceMessage"
	messageTask  = 0xfffe
)
