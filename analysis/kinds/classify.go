package kinds

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// A Classification tells the kind of work of each sample of a profile.
type Classification struct {
	rules *Rules
	p     *stacks.Profile
	facts []fact // of frames
	once  sync.Once
	nodes []node // of stacks, once somebody asks for kinds
}

// A fact is the verdict of the rules on a frame.
type fact struct {
	kind    int
	reach   reach
	managed bool // it is managed code, or may be
	known   bool // a rule says it
}

// A node is the state of a stack from its outermost frame on. Kinds are + 1, so that 0 is
// none.
type node struct {
	kind  int // of its innermost frame
	mild  int // of native code that no rule knows
	firm  int // of all native code
	all   int // of all code
	tag   int // of the innermost frame that has one
	under bool
}

// Classify returns the kind of work of each sample of a profile. It takes stacks as filters
// left them.
func (r *Rules) Classify(p *stacks.Profile) *Classification {
	c := &Classification{rules: r, p: p, facts: make([]fact, len(p.Frames))}
	byModule := make(map[string][]*rule)
	for i := range p.Frames {
		c.facts[i] = r.factOf(&p.Frames[i], byModule)
	}
	return c
}

func (c *Classification) extendAll() {
	c.nodes = make([]node, c.p.Stacks())
	for id := 1; id < len(c.nodes); id++ { // callers have smaller numbers
		from, frame := c.p.Split(stacks.ID(id))
		c.nodes[id] = c.rules.extend(c.nodes[from], c.facts[frame])
	}
}

// ends reports whether the calls of a stack's innermost frame are not seen.
func (c *Classification) ends(id stacks.ID) bool {
	if id == 0 {
		return false
	}
	_, frame := c.p.Split(id)
	f := c.facts[frame]
	return f.managed && (!f.known || c.rules.kinds[f.kind].Name == Framework)
}

// Unmatched returns the rules, as their tables have them, that were added to those that are
// built in and match no frame of the profile. Tags are left out: files of them are of many programs.
func (c *Classification) Unmatched() []string {
	var list []string
	for _, rule := range c.rules.list[:c.rules.added] {
		if rule.text != "" && !slices.ContainsFunc(c.p.Frames, func(f stacks.Frame) bool {
			module, method := split(&f)
			return matches(rule.module, module) && matches(rule.method, method)
		}) {
			list = append(list, rule.text)
		}
	}
	return list
}

// Framework are the libraries of .NET, where nothing says more.
const Framework = "framework"

// Of returns the kind of a sample.
func (c *Classification) Of(s stacks.Sample) Kind {
	c.once.Do(c.extendAll)
	kind := c.nodes[s.Stack].kind - 1
	if c.nodes[s.Stack].all == 0 && c.Unseen(s) || kind < 0 {
		kind = c.rules.index(Unknown)
	}
	return c.rules.kinds[kind]
}

// external is the label of samples of which the stack ends where managed code called
// native code.
var external = stacks.Label{Key: "state", Value: "external"}

// Unseen reports whether a sample is in native code that managed code called, and of
// which nothing more is known.
func (c *Classification) Unseen(s stacks.Sample) bool {
	return slices.Contains(s.Labels, external) && c.ends(s.Stack)
}

// MayWait reports whether a sample is in native code that managed code called, and nothing tells
// whether it worked there or waited: more than [Classification.Unseen], it also has input and output.
func (c *Classification) MayWait(s stacks.Sample) bool {
	return slices.Contains(s.Labels, external) && (c.ends(s.Stack) || c.Of(s).Name == "io")
}

func (r *Rules) index(name string) int {
	return slices.IndexFunc(r.kinds, func(k Kind) bool { return k.Name == name })
}

// extend returns the state of a stack with one more frame.
func (r *Rules) extend(from node, f fact) node {
	n := from
	switch {
	case f.known && f.reach == tagged:
		return node{kind: f.kind + 1, all: f.kind + 1, tag: f.kind + 1}
	case from.tag != 0:
		return from
	}
	if f.known && r.kinds[f.kind].Name == caller {
		if n.kind == 0 && !f.managed {
			n.kind = r.index(Native) + 1
		}
		return n
	}
	if f.managed {
		n.mild, n.firm, n.under = 0, 0, n.under || r.kinds[f.kind].Name != Unknown
	}
	kind := f.kind + 1
	if f.known {
		switch f.reach {
		case onAll:
			n.kind, n.mild, n.firm, n.all = kind, 0, 0, kind
			return n
		case onNative:
			n.kind, n.mild, n.firm = kind, 0, kind
			return n
		case itself:
			n.kind = cmp.Or(n.firm, n.all, kind)
			if !f.managed || r.kinds[f.kind].Name != Framework {
				n.mild = kind
			}
			return n
		}
	}
	if !f.managed && !f.known && kind == r.index(Native)+1 && n.under {
		kind = r.index(Interop) + 1
	}
	n.kind = cmp.Or(n.firm, n.mild, n.all, kind)
	return n
}

// OfFrames returns a function that says of which kind a frame is by itself, whoever called
// it. It keeps its answers.
func (r *Rules) OfFrames() func(*stacks.Frame) string {
	byModule, known := make(map[string][]*rule), make(map[stacks.Frame]string)
	return func(f *stacks.Frame) string {
		key := stacks.Frame{Full: f.Full, Kind: f.Kind, Pseudo: f.Pseudo}
		name, ok := known[key]
		if !ok {
			name = r.kinds[r.factOf(f, byModule).kind].Name
			known[key] = name
		}
		return name
	}
}

// factOf returns the verdict of the rules on a frame.
func (r *Rules) factOf(f *stacks.Frame, byModule map[string][]*rule) fact {
	module, method := split(f)
	x := fact{kind: r.index(Unknown)}
	switch {
	case f.Pseudo:
	case f.Kind == symbols.Unknown:
		return fact{kind: x.kind, managed: true}
	case f.Kind == symbols.Managed:
		x.kind, x.managed = r.index(User), true
	default:
		x.kind = r.index(Native)
	}
	if module == "" && x.managed && ofLibraries(method) {
		module = someLibrary
	}
	list, ok := byModule[module]
	if !ok {
		for i := range r.list {
			if r.list[i].speaksOf(module) {
				list = append(list, &r.list[i])
			}
		}
		byModule[module] = list
	}
	for _, rule := range list {
		if matches(rule.method, method) {
			x.kind, x.reach, x.known = rule.kind, rule.reach, true
			x.managed = x.managed || r.kinds[rule.kind].Name == Framework // compiled ahead of time
			break
		}
	}
	return x
}

// someLibrary stands for the module of a method in a namespace of .NET's own, where the
// trace does not tell it, as those without a rundown do not.
const someLibrary = "a library of .net"

func (x *rule) speaksOf(module string) bool {
	if module == someLibrary {
		return ofLibraries(x.method) || matches(x.module, "system.private.corelib")
	}
	return matches(x.module, module)
}

// ofLibraries reports whether a method is in a namespace of .NET's own.
func ofLibraries(method string) bool {
	return strings.HasPrefix(method, "System.") || strings.HasPrefix(method, "Interop+") || strings.HasPrefix(method, "Microsoft.Win32.")
}

// split returns the module and the method of a frame as rules call them.
func split(f *stacks.Frame) (module, method string) {
	name := f.Full
	if f.Pseudo {
		return "", name
	}
	if i := strings.IndexByte(name, '('); i > 0 && name[i-1] != '!' && name[i-1] != ':' {
		name = name[:i]
	}
	module, method, ok := strings.Cut(name, "!")
	if !ok {
		return "", name
	}
	return strings.ToLower(trimSuffix(module)), method
}

// trimSuffix returns the name of a file without the marks of a program or a library: libc of
// libc.so.6.
func trimSuffix(file string) string {
	if i := strings.Index(file, ".so"); i > 0 && (i+3 == len(file) || file[i+3] == '.') {
		return file[:i]
	}
	for _, suffix := range []string{".dll", ".exe", ".dylib"} {
		if n := len(file) - len(suffix); n > 0 && strings.EqualFold(file[n:], suffix) {
			file = file[:n]
			break
		}
	}
	if n := len(file) - len(".ni"); n > 0 && strings.EqualFold(file[n:], ".ni") {
		file = file[:n]
	}
	return file
}
