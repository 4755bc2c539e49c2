package eventsource

import (
	"errors"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A world is the assemblies that are known, and the rest of the work that reading them may
// take. Metadata can be made such that following it takes forever.
type world struct {
	find       func(string) []byte
	assemblies map[string]*assembly // by simple name; nil where there is none
	work       int
}

// maxWork bounds the things looked at: types, fields, methods, instructions, and long things
// by their length. Large assemblies take a hundredth of it.
const maxWork = 2_000_000

var errWork = errors.New("the metadata leads in circles: it takes more steps than that of any real assembly")

// step counts a thing looked at.
func (w *world) step() { w.charge(0) }

// charge counts a thing looked at, and its bytes.
func (w *world) charge(bytes int) {
	if w.work -= 1 + bytes/64; w.work < 0 {
		panic(errWork)
	}
}

// An assembly is a file with its metadata.
type assembly struct {
	*ecma335.Metadata
	world *world
	image *ecma335.Image
	types map[string]uint32 // rows of TypeDef that are not nested, by full name
	bases map[ecma335.Token]bool
}

// A typ is a class, structure or enumeration that is declared in an assembly.
type typ struct {
	*assembly
	ecma335.TypeRow
}

func (w *world) open(data []byte) (*assembly, error) {
	image, err := ecma335.ParseImage(data)
	if err != nil {
		return nil, err
	}
	m, err := image.Metadata()
	if err != nil {
		return nil, err
	}
	return &assembly{Metadata: m, world: w, image: image, bases: make(map[ecma335.Token]bool)}, nil
}

// assembly returns an assembly by its simple name, or nil.
func (w *world) assembly(name string) *assembly {
	key := strings.ToLower(name)
	a, known := w.assemblies[key]
	if !known && w.find != nil {
		if data := w.find(name); data != nil {
			a, _ = w.open(data) // a file that cannot be read is as good as none
		}
		w.assemblies[key] = a
	}
	return a
}

// name returns the assembly's own simple name.
func (a *assembly) name() string { return a.String(a.Cell(ecma335.Assembly, 1, 7)) }

func (a *assembly) typ(row uint32) typ { return typ{a, a.Type(row)} }

// lookup returns a type that is not nested by its full name.
func (a *assembly) lookup(name string) (typ, bool) {
	if a.types == nil {
		a.types = make(map[string]uint32)
		for row := uint32(1); row <= a.Rows(ecma335.TypeDef); row++ {
			if a.Type(row).Flags&ecma335.TypeVisibility < ecma335.TypeNestedPublic {
				full := a.Type(row).FullName()
				if a.types[full] == 0 {
					a.types[full] = row
				}
			}
		}
	}
	row := a.types[name]
	return a.typ(row), row != 0
}

// nested returns a type that is nested in another, and is public if it must be.
func (t typ) nested(name string, public bool) (typ, bool) {
	for row := range t.Refer(ecma335.NestedClass, 1, t.Token) {
		t.world.step()
		in := t.typ(t.Cell(ecma335.NestedClass, row, 0))
		if in.Name == name && (!public || in.Flags&ecma335.TypeVisibility == ecma335.TypeNestedPublic) {
			return in, true
		}
	}
	return typ{}, false
}

// How far references are followed.
const (
	deepestScope = 20
	mostForwards = 10
	deepestBases = 50
)

// resolve finds the type that a token of an assembly means.
func (a *assembly) resolve(t ecma335.Token) (typ, bool) { return a.resolveAt(t, 0) }

func (a *assembly) resolveAt(t ecma335.Token, depth int) (typ, bool) {
	a.world.step()
	if depth++; depth > deepestScope {
		return typ{}, false
	}
	switch t.Table() {
	case ecma335.TypeDef:
		return a.typ(t.Row()), t.Row() != 0 && t.Row() <= a.Rows(ecma335.TypeDef)
	case ecma335.TypeSpec:
		sig, ok := a.typeSpec(t)
		if sig = sig.Unmodified(); !ok || sig.Token == 0 {
			return typ{}, false
		}
		return a.resolveAt(sig.Token, depth)
	case ecma335.TypeRef:
		return a.resolveRef(t, depth)
	}
	return typ{}, false
}

// typeSpec reads the type that a row of TypeSpec has.
func (a *assembly) typeSpec(t ecma335.Token) (ecma335.Type, bool) {
	b := a.Blob(a.Cell(ecma335.TypeSpec, t.Row(), 0))
	a.world.charge(16 * len(b))
	return ecma335.TypeSignature(b)
}

// resolveRef finds a type of this or another assembly by its name.
func (a *assembly) resolveRef(t ecma335.Token, depth int) (typ, bool) {
	scope := a.Token(ecma335.TypeRef, t.Row(), 0)
	switch scope.Table() {
	case ecma335.TypeRef:
		outer, ok := a.resolveAt(scope, depth)
		if !ok {
			return typ{}, false
		}
		return outer.nested(a.String(a.Cell(ecma335.TypeRef, t.Row(), 1)), false)
	case ecma335.AssemblyRef:
		return a.world.typeIn(a.refName(scope), a.TypeName(t))
	}
	return a.lookup(a.TypeName(t)) // of this module
}

// refName returns the simple name of an assembly that is referred to.
func (a *assembly) refName(t ecma335.Token) string {
	return a.String(a.Cell(ecma335.AssemblyRef, t.Row(), 6))
}

// coreLibrary declares the types that most other assemblies of .NET only forward.
const coreLibrary = "System.Private.CoreLib"

// typeIn finds a type in an assembly, or in the one that it forwards to.
func (w *world) typeIn(name, full string) (typ, bool) {
	for range mostForwards {
		a := w.assembly(name)
		if a == nil {
			a = w.assembly(coreLibrary)
		}
		if a == nil {
			return typ{}, false
		}
		if t, ok := a.lookup(full); ok {
			return t, true
		}
		if name = a.forward(full); name == "" {
			return typ{}, false
		}
	}
	return typ{}, false
}

// forward returns the assembly that a type has moved to, or "".
func (a *assembly) forward(full string) string {
	for row := uint32(1); row <= a.Rows(ecma335.ExportedType); row++ {
		a.world.step()
		to := a.Token(ecma335.ExportedType, row, 4)
		if to.Table() != ecma335.AssemblyRef {
			continue
		}
		name := a.String(a.Cell(ecma335.ExportedType, row, 2))
		if !strings.HasSuffix(full, name) {
			continue
		}
		if namespace := a.String(a.Cell(ecma335.ExportedType, row, 3)); strings.TrimPrefix(namespace+"."+name, ".") == full {
			return a.refName(to)
		}
	}
	return ""
}

// nameOf returns the full name of the type of a token, of a generic type without its
// arguments.
func (a *assembly) nameOf(t ecma335.Token) string {
	if t.Table() == ecma335.TypeSpec {
		sig, _ := a.typeSpec(t)
		t = sig.Unmodified().Token
	}
	return a.TypeName(t)
}

// isTracing reports whether a full name is that of a type of .NET's event tracing.
func isTracing(full, name string) bool {
	return full == "System.Diagnostics.Tracing."+name || full == "Microsoft.Diagnostics.Tracing."+name
}

// attribute returns an attribute by the name of its type.
func (a *assembly) attribute(of ecma335.Token, is func(full string) bool) (*ecma335.Attribute, bool) {
	for row := range a.Attributes(of) {
		a.world.charge(len(row.Value))
		parent, name, signature := a.MethodOf(row.Constructor)
		if name != ".ctor" || !is(a.nameOf(parent)) {
			continue
		}
		if sig, ok := ecma335.MethodSignature(signature); ok {
			if attr, ok := ecma335.ParseAttribute(row.Value, sig, enumSize); ok {
				return attr, true
			}
		}
		return &ecma335.Attribute{}, true
	}
	return nil, false
}

// tracing returns an attribute of .NET's event tracing.
func (a *assembly) tracing(of ecma335.Token, name string) (*ecma335.Attribute, bool) {
	return a.attribute(of, func(full string) bool { return isTracing(full, name) })
}

// enumSize returns the bytes of the enumerations that the attributes of event tracing
// have.
func enumSize(name string, _ ecma335.Token) int {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "EventKeywords":
		return 8
	case "EventChannel":
		return 1
	}
	return 4
}

// fields returns the fields of a type, in order.
func (t typ) fields() []ecma335.FieldRow {
	var all []ecma335.FieldRow
	for row := range t.List(ecma335.TypeDef, t.Row(), ecma335.TypeDefFields) {
		f := t.Field(row)
		t.world.charge(len(f.Name) + len(f.Signature))
		all = append(all, f)
	}
	return all
}

// methods returns the methods of a type, in order.
func (t typ) methods() []ecma335.MethodRow {
	var all []ecma335.MethodRow
	for row := range t.List(ecma335.TypeDef, t.Row(), ecma335.TypeDefMethods) {
		m := t.Method(row)
		t.world.charge(len(m.Name) + 16*len(m.Signature)) // a byte may be a parameter
		all = append(all, m)
	}
	return all
}

// named returns the methods of a type that have a name.
func (t typ) named(name string) []ecma335.MethodRow {
	return slices.DeleteFunc(t.methods(), func(m ecma335.MethodRow) bool { return m.Name != name })
}
