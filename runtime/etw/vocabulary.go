package etw

import (
	"strconv"
	"strings"
)

// The vocabulary of Windows: the names in manifests and programs for the numbers that all
// events have. Names are without the prefix win: of manifests.

// A Level says how severe or how detailed an event is: the lower, the more
// severe. Providers may define levels of their own from 16 on.
type Level uint8

// The levels that Windows defines.
const (
	LevelLogAlways Level = iota // logged whatever the session's level is
	LevelCritical
	LevelError
	LevelWarning
	LevelInformational
	LevelVerbose
)

var levelNames = [...]string{"LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose"}

// String returns the name of l, or its number if Windows defines none.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return strconv.Itoa(int(l))
}

// ParseLevel reads the name of a level in any case, with or without win:, or a
// number from 0 to 255.
func ParseLevel(s string) (Level, bool) {
	name := cutWin(s)
	for i, known := range levelNames {
		if strings.EqualFold(name, known) {
			return Level(i), true
		}
	}
	n, ok := parseByte(s)
	return Level(n), ok
}

// SessionKeywords are bits that .NET sets in the keywords of every event that a method of
// an EventSource writes, whatever the source declares, and lists in its manifests as
// Session0 to Session3. They mean nothing: leave them out of comparisons.
const SessionKeywords uint64 = 0xf << 44

// An Opcode is the step of its task that an event stands for, or, with the class, the kind
// of a classic event.
type Opcode uint8

// The opcodes that Windows defines.
const (
	OpcodeInfo Opcode = iota
	OpcodeStart
	OpcodeStop
	OpcodeDCStart // what there was when the session started
	OpcodeDCStop  // what there was when it stopped
	OpcodeExtension
	OpcodeReply
	OpcodeResume
	OpcodeSuspend
	OpcodeSend
	OpcodeReceive Opcode = 240
)

var opcodeNames = [...]string{"Info", "Start", "Stop", "DC_Start", "DC_Stop", "Extension", "Reply", "Resume", "Suspend", "Send"}

// Name returns the name of o, or "" if Windows defines none.
func (o Opcode) Name() string {
	switch {
	case int(o) < len(opcodeNames):
		return opcodeNames[o]
	case o == OpcodeReceive:
		return "Receive"
	}
	return ""
}

// String returns the name of o, or its number if Windows defines none.
func (o Opcode) String() string {
	if name := o.Name(); name != "" {
		return name
	}
	return strconv.Itoa(int(o))
}

// ParseOpcode reads the name of an opcode in any case, with or without win:, or
// a number from 0 to 255.
func ParseOpcode(s string) (Opcode, bool) {
	name := cutWin(s)
	for o := OpcodeInfo; o <= OpcodeReceive; o++ {
		if known := o.Name(); known != "" && strings.EqualFold(name, known) {
			return o, true
		}
	}
	n, ok := parseByte(s)
	return Opcode(n), ok
}

// cutWin returns s without the prefix of Windows' own names.
func cutWin(s string) string {
	if len(s) > 4 && strings.EqualFold(s[:4], "win:") {
		return s[4:]
	}
	return s
}

// parseByte reads a number from 0 to 255, in decimal or, after 0x, hexadecimal.
func parseByte(s string) (uint8, bool) {
	base := 10
	if len(s) > 2 && strings.EqualFold(s[:2], "0x") {
		s, base = s[2:], 16
	}
	n, err := strconv.ParseUint(s, base, 8)
	if err != nil {
		return 0, false
	}
	return uint8(n), true
}

// EventName returns the name of an event: by its symbol, or else by its task and opcode, as
// in "Process/Start", or else by its number, as in "Event7". An opcode that says nothing
// (Info), or that the task already ends with, is left out. number is the id, for a classic
// event the opcode.
func EventName(symbol, task, opcode string, kind Kind, number uint16) string {
	switch {
	case symbol != "":
		return symbol
	case task == "":
		return [...]string{"Event", "Opcode", "Message"}[min(kind, KindMessage)] + strconv.Itoa(int(number))
	case opcode == "" || opcode == OpcodeInfo.Name() || strings.HasSuffix(task, opcode):
		return task
	}
	return task + "/" + opcode
}
