package manifest

import "strings"

// stringTables resolves references to localized strings.
type stringTables struct {
	byID map[string]localized
	// inserts has the insertions of strings that are messages of events. Many events may
	// have one message.
	inserts map[*node]insertions
}

// A localized is a string in the language that was chosen for it.
type localized struct {
	text string
	node *node
}

// readStrings reads the localization of a manifest.
func (p *parser) readStrings(root *node) {
	var chosen, others []map[string]localized
	for l := range root.children("localization") {
		for r := range l.children("resources") {
			c := &Culture{Pos: p.pos(r.at), Name: p.culture(r), Strings: make(map[string]string)}
			p.m.Cultures = append(p.m.Cultures, c)
			table := make(map[string]localized)
			for st := range r.children("stringTable") {
				for s := range st.children("string") {
					p.readString(s, c, table)
				}
			}
			if strings.EqualFold(c.Name, p.opts.Culture) {
				chosen = append(chosen, table)
			} else {
				others = append(others, table)
			}
		}
	}
	p.strings = stringTables{make(map[string]localized), make(map[*node]insertions)}
	for _, table := range append(chosen, others...) {
		for id, s := range table {
			if _, ok := p.strings.byID[id]; !ok {
				p.strings.byID[id] = s
			}
		}
	}
}

// isLocale reports whether a name has the form of Windows' locales: a language of two or three
// letters, and parts such as script and country.
func isLocale(name string) bool {
	for i, part := range strings.Split(name, "-") {
		least, most := 1, 8
		if i == 0 {
			least, most = 2, 3
		}
		if len(part) < least || len(part) > most {
			return false
		}
		for _, c := range []byte(part) {
			if letter := 'a' <= c|0x20 && c|0x20 <= 'z'; !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// culture returns the language of resources. That of an EventSource has no name in
// a process that has none, as in a container.
func (p *parser) culture(n *node) string {
	name, ok := n.lookup("culture")
	switch {
	case !ok:
		p.fail(n, "%s has no %s attribute; add one", n.el.Tag, "culture")
	case name == "":
		p.note(n, "culture is empty, which stands for no language in particular")
	case !isLocale(name):
		p.doubt(n, "culture %s is no name of a locale; write one such as en-US", quote(name))
	}
	return name
}

// readString enters one string. If an id is declared twice the first text is kept.
func (p *parser) readString(n *node, c *Culture, table map[string]localized) {
	id := p.required(n, "id")
	value, ok := n.text("value")
	if !ok {
		p.fail(n, "string %s has no value attribute; add one", quote(id))
	}
	if first, again := table[id]; again && id != "" {
		p.doubt(n, "string %s is already declared on line %d, and that one is used; remove one of them", quote(id), first.node.at.line)
		return
	}
	c.Strings[id] = value
	table[id] = localized{value, n}
}

// stringID returns the id in a reference of the form $(string.id).
func stringID(ref string) (string, bool) {
	if !strings.HasPrefix(ref, "$(string.") || !strings.HasSuffix(ref, ")") {
		return "", false
	}
	return ref[len("$(string.") : len(ref)-1], true
}

// message returns the text of the message attribute of n, and the id of the
// string that it refers to. Text that is not a reference stands for itself.
func (p *parser) message(n *node) (text, id string) {
	ref, ok := n.lookup("message")
	if !ok || ref == "" {
		return "", ""
	}
	id, ok = stringID(ref)
	if !ok {
		p.doubt(n, "message %s is not of the form $(string.id); move the text to the string table", quote(ref))
		return ref, ""
	}
	s, ok := p.strings.byID[id]
	if !ok {
		p.doubt(n, "message refers to string %s, which no string table has; add it, or remove the message", quote(id))
	}
	return s.text, id
}
