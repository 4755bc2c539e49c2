package gen

import (
	"fmt"
	"go/token"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/manifest"
)

// names settles which Go names are taken. Whoever comes first keeps a name. A later claim is
// an error that says how to settle it, or, in lenient mode, gets the first free number from
// 2 as a suffix.
type names struct {
	lenient bool
	renames map[string]string // OLD=NEW, by OLD
	used    map[string]bool   // the renames that were
	clashed map[string]bool   // what wants a name that is taken, by its key
	errs    *diagnostics
	file    string // of the manifest
	pkg     *nameScope
	locals  map[string]int // the last number that a name got, at least 1
}

// A nameScope is a set of names that exclude each other: those of a package, or
// the fields of a struct.
type nameScope struct {
	names    *names
	kind     string
	suffix   string
	reserved map[string]bool
	taken    map[string]claim
	last     map[string]int // the last number that a name got as a suffix
}

// A claim is a node of a manifest that wants a Go name.
type claim struct {
	what   string // for people: "event GCStart_V1"
	key    string // by which --rename names it, or what its name derives from
	pos    manifest.Pos
	goName string // that the manifest gives it, or ""
	name   string // by the rules of naming

	derived bool // the name changes with that of another node, which key names
}

func newNames(file string, opts Options, errs *diagnostics) *names {
	n := &names{
		file:    file,
		lenient: opts.Lenient,
		renames: opts.Rename,
		used:    make(map[string]bool),
		clashed: make(map[string]bool),
		errs:    errs,
		locals:  map[string]int{"providerDesc": 1, "keywordDescs": 1, "anyVersions": 1},
	}
	n.pkg = n.scope("name", "Type", map[string]bool{"Provider": true, "Types": true})
	return n
}

// scope returns a new scope for names of the given kind. One that is reserved gets the suffix.
func (n *names) scope(kind, suffix string, reserved map[string]bool) *nameScope {
	return &nameScope{names: n, kind: kind, suffix: suffix, reserved: reserved, taken: make(map[string]claim), last: make(map[string]int)}
}

// claim settles and returns the name of c.
func (s *nameScope) claim(c claim) string {
	n := s.names
	name := c.name
	if c.goName != "" {
		name = c.goName
	}
	if to, ok := n.renames[c.key]; ok && !c.derived {
		n.used[c.key] = true
		name = to
	}
	if name != c.name {
		if !token.IsIdentifier(name) || !token.IsExported(name) {
			n.errs.add(c.pos, c.what, fmt.Sprintf("%q is not an exported Go name", name))
			name = c.name
		} else if s.reserved[name] {
			n.errs.add(c.pos, c.what, fmt.Sprintf("Go name %s is taken by the generator", name))
			name = c.name
		}
	}
	if s.reserved[name] {
		name += s.suffix
	}
	first, taken := s.taken[name]
	if !taken {
		s.taken[name] = c
		return name
	}
	if !n.lenient {
		if c.derived && n.clashed[c.key] {
			return name // a consequence of what was reported
		}
		n.clashed[c.key] = true
		n.errs.add(c.pos, c.what, fmt.Sprintf("Go %s %s is taken by %s at %s; settle it with etwgen:name or --rename '%s=NEWNAME'",
			s.kind, name, first.what, first.pos, c.key))
		return name
	}
	for {
		s.last[name] = max(s.last[name]+1, 2)
		if numbered := fmt.Sprintf("%s%d", withoutDigitEnd(name), s.last[name]); !s.has(numbered) {
			s.taken[numbered] = c
			return numbered
		}
	}
}

// has reports whether a name is taken.
func (s *nameScope) has(name string) bool {
	_, ok := s.taken[name]
	return ok || s.reserved[name]
}

// free returns name, with a number if it is taken: for declarations that leave
// their name to whoever else wants it.
func (s *nameScope) free(name string) string {
	free := name
	for n := 2; s.has(free); n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// keep is free for a name that stays taken.
func (s *nameScope) keep(name string) string {
	name = s.free(name)
	s.reserved[name] = true
	return name
}

// withoutDigitEnd keeps the number that follows name apart from one in it.
func withoutDigitEnd(name string) string {
	if c := name[len(name)-1]; '0' <= c && c <= '9' {
		return name + "_"
	}
	return name
}

// local settles the name of an unexported declaration, which nobody outside of
// the package sees: a clash just gets a number.
func (n *names) local(name string) string {
	base := name
	for n.locals[name] > 0 {
		n.locals[base]++
		name = fmt.Sprintf("%s%d", withoutDigitEnd(base), n.locals[base])
	}
	n.locals[name] = 1
	return name
}

// finish reports renames that name nothing.
func (n *names) finish() {
	for _, key := range slices.Sorted(maps.Keys(n.renames)) {
		if !n.used[key] {
			n.errs.add(manifest.Pos{File: n.file}, "", fmt.Sprintf("--rename '%s=%s': nothing is named %s", key, n.renames[key], key))
		}
	}
}
