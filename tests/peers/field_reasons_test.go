package peers

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The reasons why single fields of events differ.
const (
	whyParserOpcode  = "opcodes"
	whyNoOpcode      = "no opcodes"
	whyHashed        = "hashed names"
	whyRelated       = "related activities"
	whyDynamicFields = "dynamic fields"
	whySigned        = "signs"
	whyUndecoded     = "undecoded"
	whyOpcodeName    = "opcodes in names"
	whyCollision     = "collisions"
	whyLacking       = "lacking"
	whyComputed      = "computed"
	whyBools         = "bools"
	whyWidths        = "widths"
	whyCorrected     = "corrected"
	whyUnsupported   = "unsupported"
	whyNoBytes       = "no bytes"
	whyFlags         = "flags"
	whyLowestBit     = "lowest bits"
	whyTaskName      = "tasks in names"
	whyMisplaced     = "misplaced"
)

var fieldReasons = map[string]string{
	whyQueued:        reasons[whyQueued],
	whyMethodStacks:  reasons[whyMethodStacks],
	whyDynamic:       reasons[whyDynamic],
	whyParserOpcode:  "TraceEvent's parsers give events an opcode, or none, that is not the one of the stream or of the runtime's manifest",
	whyNoOpcode:      "streams of EventSources have no opcodes of some events, and 0 there; here it is that which the source declares",
	whyHashed:        "TraceEvent makes a GUID of the name of a provider that declares another one",
	whyRelated:       "of version 3 of the format TraceEvent reads the related activity from where there is none",
	whyDynamicFields: "of events that GCDynamicEvent carries TraceEvent has the values in the data, here they have the data (and the analysis of collections its values)",
	whySigned:        "TraceEvent reads the number as one with a sign, and the manifest has none",
	whyUndecoded:     "TraceEvent does not know the event, and calls it by its number",
	whyOpcodeName:    "TraceEvent adds an opcode to the name of the event: its number, its name, or Transfer for win:Send",
	whyCollision:     "two kinds of events of a provider have the same id, and TraceEvent takes one for the other",
	whyLacking:       "fields that a version of an event lacks are 0 or empty there, and absent here",
	whyComputed:      "TraceEvent adds fields that it computes of others",
	whyBools:         "bools of events that describe themselves have one byte; TraceEvent reads four, and what follows from the wrong place",
	whyCorrected:     "a method of a source writes other fields than it declares; here it is known which, and they take all bytes",
	whyWidths:        "sources write some integers wider than they declare them; here a layout must take all bytes, and TraceEvent leaves some over",
	whyUnsupported:   "TraceEvent cannot decode a type, and from there on nothing of the event",
	whyNoBytes:       "a string of which the payload has no byte is null there, and empty here",
	whyFlags:         "TraceEvent splits the flags of methods into flags, tier and extent",
	whyTaskName:      "TraceEvent calls an event by its task and its opcode, which both have a part of the name",
	whyMisplaced:     "TraceEvent reads fields of MethodDetails and JitInstrumentationDataVerbose from places where others are, or none",
	whyLowestBit:     "of the mechanisms of a collection TraceEvent gives the index of the lowest bit, 1024 for none",
}

// when returns a reason if it holds.
func when(holds bool, why string) string {
	if holds {
		return why
	}
	return ""
}

func nameReason(own *ownEvent, p *peerEvent) string {
	switch {
	case own.info.Name == "GCDynamicEvent":
		return whyDynamic
	case unknownThere(p):
		return whyUndecoded
	case slices.Contains([]string{fmt.Sprint(uint8(own.opcode)), own.opcode.String(), etw.Opcode(p.Opcode).String(), "Transfer"}, opcodeIn(own, p)):
		return whyOpcodeName
	}
	if task, opcode, ok := strings.Cut(p.Name, "/"); ok && ofParser(p) && strings.HasPrefix(own.info.Name, task) && strings.Contains(own.info.Name, opcode) {
		return whyTaskName
	}
	return when(collides(own, p), whyCollision)
}

// opcodeReason returns why an opcode is another one there.
func opcodeReason(own *ownEvent, p *peerEvent) string {
	if ofParser(p) || unknownThere(p) {
		return whyParserOpcode
	}
	return when(own.record.Opcode == 0 && p.Opcode == 0 && own.record.Schema != nil && own.info.Basis != etw.BasisSchema, whyNoOpcode)
}

// opcodeIn returns TraceEvent's addition to the name of an event.
func opcodeIn(own *ownEvent, p *peerEvent) string {
	added, _ := strings.CutPrefix(p.Name, own.info.Name+"/")
	return added
}

// unknownThere reports whether TraceEvent has no name for an event.
func unknownThere(p *peerEvent) bool { return strings.HasPrefix(p.Name, "EventID(") }

// collides reports whether TraceEvent takes an event for another one: the stream has
// a name for it, and that is not the one.
func collides(own *ownEvent, p *peerEvent) bool {
	s := own.record.Schema
	return s != nil && s.Name == own.info.Name && !ofParser(p) && !strings.HasPrefix(strings.ReplaceAll(p.Name, "/", ""), s.Name)
}

// peerComputed are fields that TraceEvent computes.
var peerComputed = []string{"optimizationtier", "depth", "totalheapsize", "totalpromoted", "typeid_0", "typename_0", "typename", "moduleilfilename"}

// missingReason returns why TraceEvent has a field that is not here. That its value is
// none explains it only if one of its parsers knows the field from another version.
func (c *eventComparison) missingReason(own *ownEvent, p *peerEvent, name string, v any) string {
	f := c.facts[kind{own.info.Provider, own.record.ID, own.record.Version}]
	switch n := number(v); {
	case f != nil && slices.Contains(f.fields, name):
		return ""
	case ofParser(p) && (v == nil || v == "" || n != nil && n.Sign() == 0):
		return whyLacking
	case own.corrected:
		return whyCorrected
	case ofParser(p) && slices.Contains(peerComputed, name):
		return whyComputed
	case collides(own, p):
		return whyCollision
	}
	return misread(own, p)
}

// misread returns why TraceEvent reads fields from the wrong place.
func misread(own *ownEvent, p *peerEvent) string {
	if own.narrow {
		return whyBools
	}
	for _, v := range p.Fields {
		if text, ok := v.(string); ok && (strings.HasPrefix(text, "[UNSUPPORTED") || strings.HasPrefix(text, "<<<EXCEPTION")) {
			return whyUnsupported
		}
	}
	return ""
}

func valueReason(own *ownEvent, p *peerEvent, name string, theirs, ours any, got agreement) string {
	switch name {
	case "methodflags":
		flags, theirFlags, tier := unsigned(ours), unsigned(theirs), uint64(0)
		if flags&8 != 0 {
			tier = flags >> 7 & 7
		}
		if theirFlags == flags&0x0ffffc7f && unsigned(p.Fields["OptimizationTier"]) == tier {
			return whyFlags
		}
	case "compactmechanisms", "expandmechanisms":
		index := uint64(1024)
		if v := unsigned(ours); v>>31 != 0 {
			index = uint64(bits.TrailingZeros64(v))
		}
		return when(unsigned(theirs) == index, whyLowestBit)
	}
	if ofParser(p) && misplaced(own, name, theirs, ours) {
		return whyMisplaced
	}
	switch {
	case got == signed:
		return whySigned
	case theirs == nil && ours == "":
		return whyNoBytes
	case collides(own, p):
		return whyCollision
	case own.corrected:
		return whyCorrected
	case own.exact && !own.narrow && (number(ours) != nil || isGUID(ours)):
		return whyWidths
	}
	return misread(own, p)
}

// misplaced reports whether a parser of TraceEvent has read a field from where another one is:
// in its place stands the field before it, a part of that, or nothing.
func misplaced(own *ownEvent, name string, theirs, ours any) bool {
	switch own.info.Name + " " + name {
	case "MethodDetails typeparametercount":
		return theirs == nil
	case "MethodDetails loadermoduleid":
		return number(theirs) != nil && unsigned(theirs) == unsigned(own.fields["TypeParameterCount"])
	case "MethodDetails typeparameters":
		return number(theirs) != nil && unsigned(theirs) == unsigned(own.fields["LoaderModuleID"])
	case "JitInstrumentationDataVerbose methodtoken": // two bytes before it
		return unsigned(theirs)>>16 == unsigned(ours)&0xffff
	case "JitInstrumentationDataVerbose methodnamespace":
		return theirs == string(rune(unsigned(own.fields["MethodToken"])>>16))+ours.(string)
	}
	return false
}

func isGUID(v any) bool {
	text, _ := v.(string)
	_, err := etw.ParseGUID(text)
	return err == nil
}

func unsigned(v any) uint64 {
	n := number(v)
	if n == nil {
		return 0
	}
	u, _ := n.Uint64()
	return u
}
