package manifest

import (
	"strconv"
	"strings"
)

// What Windows itself defines: a manifest refers to it without declaring it.
// Consumers must not change these.
var (
	standardLevels   = makeStandardLevels()
	standardOpcodes  = makeStandardOpcodes()
	standardKeywords = makeStandardKeywords()
	standardTasks    = map[string]*Task{"win:None": {Name: "win:None"}}
)

func makeStandardLevels() map[string]*Level {
	m := make(map[string]*Level)
	for i, name := range []string{"LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose"} {
		m["win:"+name] = &Level{Name: "win:" + name, Value: uint8(i)}
	}
	return m
}

func makeStandardOpcodes() map[string]*Opcode {
	m := map[string]*Opcode{"win:Receive": {Name: "win:Receive", Value: 240}}
	for i, name := range []string{"Info", "Start", "Stop", "DC_Start", "DC_Stop", "Extension", "Reply", "Resume", "Suspend", "Send"} {
		m["win:"+name] = &Opcode{Name: "win:" + name, Value: uint8(i)}
	}
	return m
}

func makeStandardKeywords() map[string]*Keyword {
	m := map[string]*Keyword{"win:AnyKeyword": {Name: "win:AnyKeyword"}}
	for i, name := range []string{
		"ResponseTime", "WDIContext", "WDIDiagnostic", "SQM",
		"AuditFailure", "AuditSuccess", "CorrelationHint", "EventlogClassic",
	} {
		m["win:"+name] = &Keyword{Name: "win:" + name, Mask: 1 << (keywordBits + i)}
	}
	return m
}

// keywordBits is how many bits of the keywords are free for providers. The ones
// above are for the event log's channels and for Windows.
const keywordBits = 48

// A prefixUse is the first name in a file with an undeclared prefix.
type prefixUse struct {
	at   place
	name string
}

// qname returns a name in the one spelling that names are compared in: win: and
// xs: for the namespaces that Windows defines, whatever the file calls them,
// and for others the prefix by which the file first calls them.
func (p *parser) qname(n *node, name string) string {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		return name
	}
	uri, ok := n.ns.lookup(prefix)
	if !ok {
		p.undeclaredPrefix(n, prefix, name)
		return name
	}
	canonical := p.prefixes[uri]
	if canonical == "" {
		canonical = prefix
		if prefix == "win" || prefix == "xs" || len(prefix) > quoteLimit {
			// The first two are not what Windows means by them. A long one would
			// multiply with the names that have a short one for the same.
			canonical = "{" + strconv.Itoa(len(p.prefixes)) + "}"
		}
		p.prefixes[uri] = canonical
	}
	if canonical == prefix {
		return name
	}
	return canonical + ":" + local
}

// undeclaredPrefix remembers a prefix that no element around n declares, by the
// first use in the file: what follows must not depend on the order in which the
// parts of a manifest are read.
func (p *parser) undeclaredPrefix(n *node, prefix, name string) {
	use, seen := p.undeclared[prefix]
	if !seen || n.at.before(use.at) {
		p.undeclared[prefix] = prefixUse{n.at, name}
	}
}

// reportPrefixes reports the prefixes that are not declared.
func (p *parser) reportPrefixes() {
	for prefix, use := range p.undeclared {
		p.doubtAt(use.at, "prefix %s is not declared, so that names like %s are taken as plain text; declare it with xmlns:%s",
			quote(prefix), quote(use.name), trim(prefix))
	}
}

func (a place) before(b place) bool {
	return a.line < b.line || a.line == b.line && a.col < b.col
}

// trim bounds a name that a message shows without quotes.
func trim(s string) string {
	if len(s) > quoteLimit {
		return s[:quoteLimit] + "..."
	}
	return s
}

// withoutSuffix returns the standard name for one that only a dump of registered
// providers has: a standard opcode with a number glued to it, such as
// win:Start_8_1, where tasks had more than one.
func withoutSuffix(name string) string {
	for {
		i := strings.LastIndexByte(name, '_')
		if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
			return name
		}
		name = name[:i]
	}
}
