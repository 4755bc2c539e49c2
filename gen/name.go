package gen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Naming. A manifest has a name space for each kind of thing; a Go package has
// one for all. Each kind gets names of its own form:
//
//	event        symbol                    GCStart_V1            GCStartV1
//	any version  "Any" + oldest event      GCStart, GCStart_V1   AnyGCStart
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
// Inside a name the case stays as the manifest has it, so that who knows the
// name of the manifest finds the one of Go.

// exportedName turns a name of a manifest into an exported Go name: it drops
// underscores and what no Go name may hold, and lets the next part start in
// upper case. An underscore keeps two runs of capitals or digits apart, as in
// DXGI_FORMAT, but does not lead to a version suffix, as in GCSuspendEE_V1.
func exportedName(s string) string { return export(namePart(s)) }

// namePart is exportedName for what follows a prefix, and so may start with a
// digit. It returns "" if s has no letter or digit.
func namePart(s string) string {
	name := ""
	for _, part := range strings.FieldsFunc(s, func(c rune) bool { return !isAlnum(c) }) {
		if meet(name, part) {
			name += "_"
		}
		name += upperFirst(part)
	}
	return name
}

// prefixedName joins a prefix and the name of a manifest into a Go name.
func prefixedName(prefix, s string) string {
	part := namePart(s)
	if c, _ := utf8.DecodeRuneInString(part); unicode.IsDigit(c) && meet(prefix, part) {
		return prefix + "_" + part
	}
	return prefix + part
}

// meet reports whether two runs of capitals or digits would become one if next
// followed before.
func meet(before, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(next)
	capital := func(c rune) bool { return unicode.IsUpper(c) || unicode.IsDigit(c) }
	return before != "" && capital(last) && capital(first) && !isVersionSuffix(next)
}

// fieldName turns the name of a field into an exported Go name. Other than
// exportedName it keeps all underscores but leading ones: the name stays as
// it is wherever that is possible.
func fieldName(s string) string {
	var b strings.Builder
	up := false
	for _, c := range strings.TrimLeft(s, "_") {
		switch {
		case c != '_' && !isAlnum(c):
			up = true
			continue
		case up:
			c = unicode.ToUpper(c)
		}
		up = false
		b.WriteRune(c)
	}
	return export(upperFirst(strings.TrimLeft(b.String(), "_")))
}

// export prefixes an X to what does not start with a capital letter.
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
// something else in generated code get a trailing underscore.
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
	if name := string(runes); !reservedLocals[name] {
		return name
	}
	return string(runes) + "_"
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
		binary bytes etw iter math slog
		b d e err f fields from i init main n p ptr r s size t v version vs w x yield`) {
		m[name] = true
	}
	return m
}()

// reservedFields are the methods of generated events. A field of that name gets
// a trailing underscore.
var reservedFields = map[string]bool{
	"AppendPayload": true,
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

// fieldGoName returns the Go name of a field.
func fieldGoName(s string) string {
	name := fieldName(s)
	if reservedFields[name] {
		return name + "_"
	}
	return name
}

// singular returns the name of one element of what a plural names, or s itself
// if it is no plural.
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
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// mapName returns the Go name of the type of a map.
func mapName(s string) string {
	name := exportedName(s)
	if short := strings.TrimSuffix(name, "Map"); short != "" {
		return strings.TrimRight(short, "_")
	}
	return name
}

// entryName returns the part of a constant's name that stands for an entry of a
// map: the end of its message's id, as in
// $(string.RuntimePublisher.GCReason.AllocSmallMapMessage), or if that is no
// name the text of the message. It returns "" if neither makes a name.
func entryName(mapName, stringID, text string) string {
	if i := strings.LastIndexByte(stringID, '.'); i >= 0 {
		// Dumps make the id of the map's name and the text, dots and all.
		if tail := stringID[i+1:]; isWord(tail) && !strings.HasPrefix(stringID, "map_"+mapName) {
			tail = strings.TrimSuffix(tail, "Message")
			if short := strings.TrimSuffix(tail, "Map"); short != "" {
				return namePart(short)
			}
			return namePart(tail)
		}
	}
	return namePart(text)
}

// isWord reports whether s could be a name in most languages.
func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c != '_' && !isAlnum(c) }) && !unicode.IsDigit(rune(s[0]))
}

// fileStem returns the first part of the name of the file for what belongs to a
// task. It has only lower-case letters and digits, so that no part of it can
// be taken for the name of an operating system or a processor.
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
