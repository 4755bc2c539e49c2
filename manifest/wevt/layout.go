package wevt

// The signatures of the parts.
const (
	sigResource  = "CRIM"
	sigProvider  = "WEVT"
	sigChannels  = "CHAN"
	sigMaps      = "MAPS"
	sigValueMap  = "VMAP"
	sigBitMap    = "BMAP"
	sigTemplates = "TTBL"
	sigTemplate  = "TEMP"
	sigNames     = "PRVA"
	sigOpcodes   = "OPCO"
	sigLevels    = "LEVL"
	sigTasks     = "TASK"
	sigKeywords  = "KEYW"
	sigEvents    = "EVNT"
)

// The numbers of the parts in a provider's directory.
var partTypes = map[string]uint32{
	sigLevels: 0, sigTasks: 1, sigOpcodes: 2, sigKeywords: 3, sigEvents: 4, sigChannels: 5, sigMaps: 6, sigTemplates: 7, sigNames: 13,
}

// The sizes of headers and entries.
const (
	resourceHeader  = 16
	resourceEntry   = 20
	providerHeader  = 16
	directoryEntry  = 8
	sectionHeader   = 12
	eventsHeader    = 16
	channelEntry    = 16
	mapHeader       = 20
	mapEntry        = 8
	templateHeader  = 40
	templateItem    = 20
	opcodeEntry     = 12
	levelEntry      = 12
	taskEntry       = 28
	keywordEntry    = 16
	nameEntry       = 8
	eventEntry      = 48
	reservedOfThree = 11 // slots of a directory in version 3
)

// The versions of the form.
const (
	version3 = 3
	version5 = 5
	minor    = 1
)

// nameOfProvider is the id of a provider's name.
const nameOfProvider = 0x10000001

// The forms in which the event log shows a template.
const (
	shownAsEventData = 1
	shownAsUserData  = 2
)

// The flags of a template's item.
const (
	itemStruct      = 0x01
	itemLength      = 0x02 // is a number
	itemLengthField = 0x04
	itemCount       = 0x08 // is a number
	itemCountField  = 0x10
)

// noMessage stands for the id of a message that there is not.
const noMessage = 0xffffffff

// The kinds of messages, in the upper bits of their ids. The number of the provider
// is in bits 24 to 27, so that there can be 16.
const (
	messageOfKeyword  = 0x10000000
	messageOfOpcode   = 0x30000000
	messageOfLevel    = 0x50000000
	messageOfTask     = 0x70000000
	messageOfProvider = 0x90000001
	messageOfChannel  = 0x90000001 // and on, after the provider's own
	messageOfEvent    = 0xb0000000
	messageOfValue    = 0xd0000000
	messageOfBit      = 0xf0000000

	providerShift = 24
	maxProviders  = 16
)

// importedChannel is the flag of a channel that another provider declares.
const importedChannel = 1

// ownKeywords are the bits that a provider has for itself. The event log has those
// above, one for each channel, and Windows some.
const ownKeywords = 1<<48 - 1

// align returns n rounded up to a multiple of a power of two.
func align(n, to int) int { return (n + to - 1) &^ (to - 1) }
