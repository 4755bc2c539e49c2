package manifest

import (
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Definitions of Windows itself: a manifest refers to them without declaring them. Consumers
// must not change these.
var (
	standardLevels   = makeStandardLevels()
	standardOpcodes  = makeStandardOpcodes()
	standardKeywords = makeStandardKeywords()
	standardTasks    = map[string]*Task{"win:None": {Name: "win:None"}}
)

func makeStandardLevels() map[string]*Level {
	m := make(map[string]*Level)
	for l := etw.LevelLogAlways; l <= etw.LevelVerbose; l++ {
		m["win:"+l.String()] = &Level{Name: "win:" + l.String(), Value: l}
	}
	return m
}

func makeStandardOpcodes() map[string]*Opcode {
	m := map[string]*Opcode{"win:Receive": {Name: "win:Receive", Value: etw.OpcodeReceive}}
	for o := etw.OpcodeInfo; o <= etw.OpcodeSend; o++ {
		m["win:"+o.Name()] = &Opcode{Name: "win:" + o.Name(), Value: o}
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
			// The first two differ from Windows' meaning. A long one would multiply with the
			// names that have a short one for the same.
			canonical = "{" + strconv.Itoa(len(p.prefixes)) + "}"
		}
		p.prefixes[uri] = canonical
	}
	if canonical == prefix {
		return name
	}
	return canonical + ":" + local
}

// undeclaredPrefix remembers a prefix that no element around n declares, by the first use in
// the file: the rest must not depend on the order in which the parts of a manifest are read.
func (p *parser) undeclaredPrefix(n *node, prefix, name string) {
	use, seen := p.undeclared[prefix]
	if !seen || n.at.before(use.at) {
		p.undeclared[prefix] = prefixUse{n.at, name}
	}
}

// reportPrefixes reports the prefixes that are not declared.
func (p *parser) reportPrefixes() {
	for prefix, use := range p.undeclared {
		p.doubtAt(use.at, "prefix %s is not declared, so names like %s are taken as plain text; declare it with xmlns:%s",
			quote(prefix), quote(use.name), trim(prefix))
	}
}

// misbound reports, in strict mode, that the prefix of a name that means nothing is
// one of those that everybody uses for the namespaces of Windows, but stands for
// another one here. It reports whether it is.
func (p *parser) misbound(n *node, name string) bool {
	prefix, _, _ := strings.Cut(name, ":")
	want := map[string]string{"win": winmetaURI, "xs": schemaURI}[prefix]
	uri, declared := n.ns.lookup(prefix)
	if want == "" || !declared || uri == want || p.opts.Lenient {
		return false
	}
	c := cause{nil, "namespace", prefix, "place"}
	if !p.seen(c) {
		p.causes[c] = p.fail(n, "prefix %s of %s stands for namespace %s; write xmlns:%s=%q", prefix, quote(name), quote(uri), prefix, want)
	}
	return true
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
