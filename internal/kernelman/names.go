package main

import (
	"strings"

	"github.com/etwgen/etwgen/internal/initials"
)

// renamed are the opcodes that neither PerfView nor MOF give a name that works.
// PerfView replaces a word in two names, and MOF has two of the same in a class.
var renamed = map[string]string{
	"PageFault/13":  "GuardPageFault",
	"PageFault/14":  "HardPageFault",
	"PageFault/130": "PageAccessEx",
	"PerfInfo/50":   "ISR-MSI",
	"PerfInfo/75":   "SpinLockDCStart",
	"PerfInfo/76":   "SpinLockDCEnd",
	"Thread/64":     "WorkerThreadItemStart",
	"Thread/65":     "WorkerThreadItemEnd",
	"LostEvent/32":  "RTLostEvent",
}

// nameOpcodes settles the names of the opcodes of a class: PerfView's where it
// has the event in the same class, else MOF's, without the name of the class in
// front.
func nameOpcodes(t *task) {
	taken := make(map[string]bool)
	for _, o := range t.opcodes {
		taken[o.mof] = true
	}
	for _, o := range t.opcodes {
		o.name = renamed[o.key()]
		if in, name, ok := strings.Cut(o.perfview, "/"); o.name == "" && ok && in == t.perfview {
			o.name = name
		}
		if o.name != "" {
			continue
		}
		o.name = strings.ReplaceAll(o.mof, " ", "")
		if short := strings.TrimPrefix(o.name, t.name); short != o.name && isName(short) && !taken[short] {
			o.name = short
		}
	}
}

// isName reports whether s starts with a capital.
func isName(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

// goName returns the name of an event in Go, without its version.
func (o *opcode) goName() string {
	var b strings.Builder
	b.WriteString(o.task.name)
	for part := range strings.FieldsFuncSeq(o.name, func(c rune) bool { return c == '-' || c == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return initials.Of(b.String())
}

// title returns a name in capitals as one of Go: DISK_IO_INIT is DiskIoInit.
func title(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		b.WriteString(part[:1] + strings.ToLower(part[1:]))
	}
	return initials.Of(b.String())
}

// constant returns the name of the constant of an entry, or "" for that of the
// generator.
func (m *valueMap) constant(e entry) string {
	switch m.name {
	case "Flags":
		return "Flag" + title(strings.TrimPrefix(e.name, enablePrefix))
	case "Group":
		return "Group" + title(strings.TrimPrefix(e.name, "PERF_"))
	}
	return ""
}

// word returns s as one word, of which an identifier can be made.
func word(s string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_')
	}) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
