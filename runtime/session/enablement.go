package session

import (
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Enablement is the settings of a provider in a session. Enabling a provider again
// replaces all of it.
type Enablement struct {
	// Level chooses the events up to this one. 0 takes all levels.
	Level etw.Level
	// Keywords chooses the events with one of these, and those that have none. 0 takes
	// all events; of a classic provider, none.
	Keywords uint64
	// AllKeywords chooses of these the events that have all of them.
	AllKeywords uint64
	// Properties are facts logged beside the events, and which ones are.
	Properties Property
	// Filters choose further. Providers that are registered later do not get them.
	Filters Filters
	// CaptureState asks the provider at once for events of its state.
	CaptureState bool
	// Timeout is how long to wait until the programs with the provider know. 0 does not
	// wait.
	Timeout time.Duration
	// SourceID tells the provider who enables it.
	SourceID etw.GUID
}

// A Property is a fact that a session logs beside an event, EVENT_ENABLE_PROPERTY_... of
// Windows, or which events it takes.
type Property uint32

// The properties.
const (
	PropertySID               Property = 0x001 // the user, as an item ExtSID
	PropertyTerminalSession   Property = 0x002 // an item ExtTerminalSession
	PropertyStack             Property = 0x004 // the call stack
	PropertyPSMKey            Property = 0x008 // an item ExtPSMKey
	PropertyIgnoreKeyword0    Property = 0x010 // events without keywords are not taken
	PropertyProviderGroup     Property = 0x020 // the GUID is that of a group of providers
	PropertyEnableKeyword0    Property = 0x040 // Keywords of 0 takes events without keywords
	PropertyProcessStartKey   Property = 0x080 // an item ExtProcessStartKey
	PropertyEventKey          Property = 0x100 // an item ExtEventKey
	PropertyExcludeInPrivate  Property = 0x200 // events of private browsing are not taken
	PropertyEnableSilos       Property = 0x400 // events of containers are taken
	PropertySourceContainerID Property = 0x800 // an item ExtContainerID; it breaks EventSources
)

// Filters choose among the events of a provider. Those by process save the provider's work,
// the others space in buffers. Empty ones do not choose.
type Filters struct {
	// PIDs, of which there may be 8, Executables, PackageIDs and PackageApps choose by
	// the process that logs. They do not work for providers in the kernel.
	PIDs        []uint32
	Executables []string // names of .exe files
	PackageIDs  []string
	PackageApps []string
	// IDs chooses by event ids, which events of TraceLogging do not have.
	IDs *IDFilter
	// Names chooses by event names, which only those of TraceLogging and EventSource
	// have.
	Names *NameFilter
	// StackIDs, StackNames and StackKeywords choose the events with which
	// [PropertyStack] logs call stacks.
	StackIDs      *IDFilter
	StackNames    *NameFilter
	StackKeywords *KeywordFilter
	// Arguments are given to an EventSource, as its own names and values.
	Arguments map[string]string
	// Schematized is the filter for a provider of another kind.
	Schematized []byte
	// Payload is a filter by values of fields, as TdhAggregatePayloadFilters makes it.
	Payload []byte
}

// An IDFilter chooses events by ids, of which there may be 64.
type IDFilter struct {
	IDs    []uint16
	Except bool // all but these
}

// A NameFilter chooses events by names, and the rest of a [KeywordFilter].
type NameFilter struct {
	KeywordFilter
	Names []string
}

// A KeywordFilter chooses events with one of Keywords and with all of AllKeywords, up to
// Level.
type KeywordFilter struct {
	Keywords, AllKeywords uint64
	Level                 etw.Level
	Except                bool // all but these
}
