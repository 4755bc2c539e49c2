package gen

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/etwgen/etwgen/internal/initials"
)

// Naming. A manifest has a name space for each kind of thing; a Go package has
// one for all. Each kind gets names of its own form:
//
//	event        symbol                    GCStart_V1            GCStartV1
//	any version  "Any" + oldest event      GCStart, GCStart_V1   AnyGCStart
//	field        name                      Prop_Int32            PropInt32
//	struct       event + singular          BulkType, Values      BulkTypeValue, BulkTypeValues
//	map          name without "Map",       GCReasonMap           GCReason
//	             unless an event has it
//	map entry    map + entry               AllocSmall            GCReasonAllocSmall
//	keyword      "Keyword" + name          GCKeyword             KeywordGC
//	task         "Task" + name             GarbageCollection     TaskGarbageCollection
//	opcode       "Opcode" [+ task] + name  GCRestartEEEnd        OpcodeGarbageCollectionGCRestartEEEnd
//	level        "Level" + name            SampleLevel           LevelSampleLevel
//	channel      "Channel" + name          Operational           ChannelOperational
//
// A name in a manifest becomes a part of a Go name by one rule, for types and for fields. It
// gives names that Go programmers expect, and that those who know the manifest find by their
// letters:
//
//  1. Whatever is not a letter or digit separates words, as underscores and spaces
//     do. It goes, and the next word starts with a capital: Prop_Int32 becomes
//     PropInt32.
//  2. Words keep their case, so that abbreviations stay as they are: GCStart.
//     Where words are separated, one in capitals is spelled like
//     the others unless it is a common abbreviation: GENERAL_GC_START becomes
//     GeneralGCStart. An initialism that Go programmers know is in capitals:
//     ThreadID for ThreadId.
//  3. An underscore stays between two digits: S2.13 becomes S2_13.
//  4. What starts with no capital gets one, or an X before it: 2D becomes X2D.
//  5. What is longer than 60 characters ends before the word that exceeds them,
//     with the number of the thing to tell it from others.

// maxName is the length of a name that still reads well.
const maxName = 60

// exportedName turns a name of a manifest into an exported Go name.
func exportedName(s string) string { return export(namePart(s)) }

// namePart is exportedName for the part after a prefix, and so may start with a digit. It
// returns "" if s has no letter or digit.
func namePart(s string) string {
	parts := words(s)
	return joinWords(parts, len(parts) > 1)
}

// words splits a name of a manifest where something separates its words.
func words(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool { return !isAlnum(c) })
}

// joinWords makes one Go name of words, which spells those in capitals as words.
func joinWords(parts []string, spell bool) string {
	name := ""
	for _, part := range parts {
		if spell && isCapitals(part) && !abbreviations[part] {
			part = strings.ToLower(part)
		}
		name = appendWord(name, upperFirst(part))
	}
	return initials.Of(name)
}

// appendWord joins two parts of a Go name, with an underscore between digits.
func appendWord(name, part string) string {
	last, _ := utf8.DecodeLastRuneInString(name)
	first, _ := utf8.DecodeRuneInString(part)
	if unicode.IsDigit(last) && unicode.IsDigit(first) {
		name += "_"
	}
	return name + part
}

// isCapitals reports whether s has several letters, all of them capitals.
func isCapitals(s string) bool {
	letters := 0
	for _, c := range s {
		if unicode.IsLower(c) {
			return false
		}
		if unicode.IsUpper(c) {
			letters++
		}
	}
	return letters > 1
}

// abbreviations are the words that stay in capitals among others.
var abbreviations = func() map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(`
		ACL ACPI API APC ASCII BIOS CLR COM CPU CRC DHCP DLL DMA DNS DPC EOF ETW EXE FIFO
		GC GDI GPU GUI GUID HTML HTTP HTTPS ID IL IO IP IPC IPV4 IPV6 IRP ISR JIT JSON LRU
		MAC NIC NUMA OS PCI PE PID RAM RPC SDK SID SMB SQL SSH SSL TCP TID TLS TTL
		UDP UI UID URI URL USB UTF8 UTF16 UUID VM WMI XML`) {
		m[word] = true
	}
	return m
}()

// limited returns a Go name of at most maxName characters. One that is longer
// ends at a word, and with the suffix.
func limited(name, suffix string) string {
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	runes := []rune(name)
	cut := maxName - utf8.RuneCountInString(suffix)
	for i := cut; i > maxName/2; i-- {
		if unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			cut = i
			break
		}
	}
	return appendWord(strings.TrimRight(string(runes[:cut]), "_"), suffix)
}

// isSentence reports whether a name has words that were joined without a sign of where they
// start, as dumps make them of titles that are sentences.
func isSentence(s string) bool {
	const longest = 24 // letters of a word
	run := 0
	for _, c := range s {
		if run++; !unicode.IsLower(c) {
			run = 0
		}
		if run > longest {
			return true
		}
	}
	return false
}

// export prefixes an X to a name that does not start with a capital letter.
func export(s string) string {
	if c, _ := utf8.DecodeRuneInString(s); !unicode.IsUpper(c) {
		return "X" + s
	}
	return s
}

func isAlnum(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

func upperFirst(s string) string {
	c, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(c)) + s[n:]
}

// isVersionSuffix reports whether s is V and digits.
func isVersionSuffix(s string) bool {
	return len(s) > 1 && s[0] == 'V' && strings.Trim(s[1:], "0123456789") == ""
}

// trimVersion returns a Go name without a trailing V and digits.
func trimVersion(s string) string {
	end := strings.TrimRight(s, "0123456789")
	if len(end) < len(s) && len(end) > 1 && end[len(end)-1] == 'V' {
		return end[:len(end)-1]
	}
	return s
}

// unexportedName turns an exported Go name into one with a lower-case start:
// GCStartV1 becomes gcStartV1, and CLRStackWalk clrStackWalk. Names that mean
// something else in generated code get a suffix.
func unexportedName(s string) string {
	runes := []rune(s)
	for i, c := range runes {
		if !unicode.IsUpper(c) {
			break
		}
		// The last capital of a run starts the next word.
		if i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(c)
	}
	name := string(runes)
	switch {
	case token.IsExported(name): // some capitals have no lower case
		return "x" + name
	case reservedLocals[name]:
		return name + "Event"
	}
	return name
}

// reservedLocals are the names that a package-level variable of generated code
// may not have: keywords, predeclared names, imports, and parameters and
// variables of generated functions.
var reservedLocals = func() map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(`
		break case chan const continue default defer else fallthrough for func go goto if import
		interface map package range return select struct switch type var
		any append bool byte cap clear close comparable complex complex64 complex128 copy delete error
		false float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil panic print
		println real recover rune string true uint uint8 uint16 uint32 uint64 uintptr
		binary bytes etw etwtest iter math slog testing
		a b c d e err f fields from i init main n p ptr s size t v version vs x yield`) {
		m[name] = true
	}
	return m
}()

// reservedFields are the methods of generated events. A field of that name gets
// the suffix Field.
var reservedFields = map[string]bool{
	"AppendPayload": true,
	"Clone":         true,
	"DecodePayload": true,
	"DecodeVersion": true,
	"EventDesc":     true,
	"EventDescs":    true,
	"FieldValue":    true,
	"LogValue":      true,
	"MarshalJSON":   true,
	"Seen":          true,
	"String":        true,
}

// fieldGoName returns the Go name of the field at an index.
func fieldGoName(s string, index int) string {
	name := limited(exportedName(s), fmt.Sprint(index))
	if reservedFields[name] {
		return name + "Field"
	}
	return name
}

// singular returns the name of one element of a plural, or s itself if it is not a plural.
func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case hasAnySuffix(s, "sses", "xes", "ches", "shes"):
		return s[:len(s)-2]
	case hasAnySuffix(s, "ss", "us", "is") || !strings.HasSuffix(s, "s") || len(s) < 3:
		return s
	}
	return s[:len(s)-1]
}

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// mapName returns the Go name of the type of a map. One letter makes no name.
func mapName(s string) string {
	name := exportedName(s)
	if short := strings.TrimSuffix(name, "Map"); utf8.RuneCountInString(short) > 1 {
		return short
	}
	return name
}

// entryText returns the part of a constant's name that stands for an entry of a
// map: the end of its message's id, as in
// $(string.RuntimePublisher.GCReason.AllocSmallMapMessage), or if that is no
// name the text of the message.
func entryText(mapName, stringID, text string) string {
	if i := strings.LastIndexByte(stringID, '.'); i >= 0 {
		// Dumps make the id of the map's name and the text, dots and all.
		if tail := stringID[i+1:]; isWord(tail) && !strings.HasPrefix(stringID, "map_"+mapName) {
			tail = strings.TrimSuffix(tail, "Message")
			if short := strings.TrimSuffix(tail, "Map"); short != "" {
				return short
			}
			return tail
		}
	}
	return text
}

// entryNames returns the parts of the names of constants for texts of one map.
// Words in capitals are spelled in all of them alike: a map with READ and
// READ_WRITE has Read and ReadWrite.
func entryNames(texts []string) []string {
	spell := false
	for _, text := range texts {
		parts := words(text)
		spell = spell || len(parts) > 1 && !slices.ContainsFunc(parts, func(s string) bool { return !isCapitals(s) })
	}
	names := make([]string, len(texts))
	for i, text := range texts {
		parts := words(text)
		names[i] = joinWords(parts, spell || len(parts) > 1)
	}
	return names
}

// isWord reports whether s could be a name in most languages.
func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c != '_' && !isAlnum(c) }) && !unicode.IsDigit(rune(s[0]))
}

// fileStem returns the first part of the name of the file for a task. It has only lower-case
// letters and digits, so that no part of it can be taken for the name of an operating system
// or a processor.
func fileStem(task string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(task) {
		if c < utf8.RuneSelf && isAlnum(c) {
			b.WriteRune(c)
		}
	}
	stem := b.String()
	const longest = 80 // file systems end at 255 bytes, readers sooner
	if len(stem) > longest {
		stem = stem[:longest]
	}
	switch stem {
	case "", "provider", "maps", "events":
		return stem + "task"
	}
	return stem
}
