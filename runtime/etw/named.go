package etw

import (
	"strconv"
	"strings"
)

// A names finds the entry of an event that its schema names.
type names[T any] struct {
	events    map[eventName]*idEntry[T]
	providers map[string]GUID // by name in lower case
	guids     map[GUID]bool   // of the providers
	last      *ProviderDesc   // that was entered
}

// An eventName identifies an event whose id means nothing.
type eventName struct {
	provider GUID
	name     string
}

// provider enters a provider, by its name.
func (n *names[T]) provider(p *ProviderDesc) {
	if n.last == p {
		return
	}
	n.last = p
	if n.guids == nil {
		n.events, n.providers, n.guids = make(map[eventName]*idEntry[T]), make(map[string]GUID), make(map[GUID]bool)
	}
	n.guids[p.GUID] = true
	if name := strings.ToLower(p.Name); n.providers[name] == (GUID{}) {
		n.providers[name] = p.GUID
	}
}

// at returns the entry of an event that is identified by its name, and makes room
// for it.
func (n *names[T]) at(d *EventDesc) *idEntry[T] {
	k := eventName{d.Provider.GUID, d.Name}
	e := n.events[k]
	if e == nil {
		e = new(idEntry[T])
		n.events[k] = e
	}
	return e
}

// find returns the entry of a record whose schema names it: that of the name, else
// that of the id if called says that it has that name. If it does not, other is true.
func (n *names[T]) find(r *Record, ids *table[T], called func(*idEntry[T], string) bool) (found *idEntry[T], other bool) {
	provider := r.Provider
	if !n.guids[provider] {
		// EventPipe has names alone, from which sources make GUIDs. A provider may
		// have one that it chose.
		guid, ok := n.providers[strings.ToLower(r.ProviderName)]
		if !ok || r.Kind != KindManifest {
			return nil, false
		}
		provider = guid
	}
	name := r.Schema.Name
	if e := n.events[eventName{provider, name}]; e != nil {
		return e, false
	}
	e := ids.id(r.Kind, &provider, r.number())
	if e == nil || called(e, name) {
		return e, false
	}
	return nil, true
}

// isCalled reports whether name, as a trace has it, is that of d. A manifest may have
// symbols with underscores and versions, or with the id where another event has the
// same name; or it may name only the task and the opcode.
func (d *EventDesc) isCalled(name string) bool {
	if d.Name == name || name == "" {
		return true
	}
	plain := plainName(name)
	if plainName(d.TaskName+d.OpcodeName) == plain {
		return true
	}
	for _, symbol := range []string{d.Name, strings.TrimSuffix(d.Name, "_"+strconv.Itoa(int(d.ID)))} {
		symbol = plainName(symbol)
		if symbol == plain || withoutVersion(symbol) == plain || withoutVersion(symbol) == withoutVersion(plain) {
			return true
		}
	}
	return false
}

// plainName returns the letters and digits of a name, in lower case.
func plainName(s string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c > 0x7f {
			return c
		}
		return -1
	}, strings.ToLower(s))
}

// withoutVersion returns a plain name without a v and digits at its end.
func withoutVersion(s string) string {
	digits := strings.TrimRight(s, "0123456789")
	if name, ok := strings.CutSuffix(digits, "v"); ok && name != "" && len(digits) < len(s) {
		return name
	}
	return s
}
