package eventsource

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// Read returns the EventSource classes of an assembly, in the order of its metadata. The
// file's name is the one for manifests. The error is [ErrNoSource] if there are none.
func Read(file string, data []byte, opts Options) (sources []*Source, err error) {
	w := &world{find: opts.Find, assemblies: make(map[string]*assembly), work: maxWork}
	defer func() {
		switch r := recover(); r {
		case nil:
		case errWork:
			sources, err = nil, errWork
		default:
			panic(r)
		}
	}()
	a, err := w.open(data)
	if err != nil {
		return nil, err
	}
	if name := a.name(); name != "" {
		w.assemblies[strings.ToLower(name)] = a
	}
	for row := uint32(1); row <= a.Rows(ecma335.TypeDef); row++ {
		if c, ok := a.sourceClass(row); ok && (opts.Class == "" || opts.Class == c.Name || opts.Class == c.full) {
			sources = append(sources, c.read(file, opts))
		}
	}
	if len(sources) == 0 {
		return nil, ErrNoSource
	}
	return sources, nil
}

// A class is an EventSource class.
type class struct {
	typ
	full string
	// unknown is the base class that could not be found, or "".
	unknown string
	// direct says that no class between this one and EventSource is a source itself.
	direct bool

	attribute *ecma335.Attribute // [EventSource], or nil
}

// The runtime's own source is written by the runtime, and its manifest by hand.
const nativeRuntime = "System.Diagnostics.Tracing.NativeRuntimeEventSource"

// sourceClass returns a row of TypeDef as an EventSource class, if it is one that can
// be made an object of.
func (a *assembly) sourceClass(row uint32) (*class, bool) {
	a.world.step()
	t := a.typ(row)
	if t.Flags&(ecma335.TypeInterface|ecma335.TypeAbstract) != 0 || t.Extends == 0 {
		return nil, false
	}
	c := &class{typ: t, direct: true}
	if !c.follow() || a.IsGeneric(t.Token) {
		return nil, false
	}
	c.full = a.TypeName(t.Token)
	c.attribute, _ = a.tracing(t.Token, "EventSource"+"Attribute")
	if c.unknown != "" && c.attribute == nil && !c.hasEvents() || c.full == nativeRuntime {
		return nil, false
	}
	return c, true
}

// follow follows the base classes, and reports whether they lead to EventSource or to
// one that is not at hand.
func (c *class) follow() bool {
	t := c.typ
	for range deepestBases {
		c.world.step()
		name := t.nameOf(t.Extends)
		switch {
		case name == "":
			return false
		case isTracing(name, "EventSource"):
			return true
		case name == "System.Object" || name == "System.ValueType" || name == "System.Enum" || name == "System.MulticastDelegate" || name == "System.Attribute":
			return false
		}
		base, ok := t.resolve(t.Extends)
		if !ok {
			c.unknown = name
			return true
		}
		if base.Flags&ecma335.TypeAbstract == 0 {
			c.direct = false
		}
		t = base
	}
	return false
}

// hasEvents reports whether a method has [Event].
func (c *class) hasEvents() bool {
	for _, m := range c.methods() {
		if _, ok := c.tracing(m.Token, "EventAttribute"); ok {
			return true
		}
	}
	return false
}

// text returns a property of [EventSource], and whether there is a text.
func (c *class) text(property string) (string, bool) {
	if c.attribute == nil {
		return "", false
	}
	v, _ := c.attribute.Get(property)
	s, ok := v.(string)
	return s, ok
}

// read makes a source of a class.
func (c *class) read(file string, opts Options) *Source {
	id := c.declared()
	about := &Source{}
	if c.unknown != "" {
		about.Warnings = append(about.Warnings, fmt.Sprintf("its base class %s is not at hand, and is taken for one that derives from EventSource", c.unknown))
	}
	if opts.Semantics == Live {
		id = c.constructed(id, opts, about)
	}
	s := c.build(file, id, opts.Semantics)
	s.Class, s.SelfDescribing = c.full, id.selfDescribing
	for _, e := range s.Events {
		c.checkLayout(e, s)
	}
	if opts.Semantics == Live {
		s.Complaints = c.build(file, c.declared(), Strict).Complaints
	}
	s.Warnings, s.Notes = append(about.Warnings, s.Warnings...), about.Notes
	if !opts.Accidents {
		s.dropAccidents()
	}
	return s
}

// IsAssembly reports whether a file is an assembly of .NET, by its CLI header.
func IsAssembly(data []byte) bool {
	f, err := ecma335.ParseImage(data)
	if err != nil {
		return false
	}
	_, err = f.CLI()
	return err != ecma335.ErrNotManaged
}
