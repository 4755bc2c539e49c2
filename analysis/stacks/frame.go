package stacks

import "github.com/etwgen/etwgen/analysis/symbols"

// A Frame is a part of a stack with a name: a method, or a stand-in for one.
type Frame struct {
	// Name is for people. Full is the whole name with module and arguments, Address
	// that of code without a name.
	Name    string
	Full    string
	Module  string // path of the file that the code is from, or ""
	Kind    symbols.Kind
	Address uint64
	Tier    string // of code that was compiled at run time, where tiers are kept apart
	Line    int    // in File, where lines are known
	File    string
	// Guess says that the code was not there at the time: see [symbols.Location].
	Guess bool
	// Nameless says that of native code only the file is known, or where the function begins.
	Nameless bool
	// Pseudo says that it stands for no code, but for a group of frames or for a state, and
	// Waiting that the state is waiting.
	Pseudo, Waiting bool
}

// Names says which names frames have.
type Names uint8

// The forms of names.
const (
	FullNames      Names = iota // Shop!Bakery.Oven.Bake(int32)
	QualifiedNames              // Bakery.Oven.Bake
	ShortNames                  // Oven.Bake
)

// identity is the common part of frames that are shown as one.
func (f *Frame) identity() Frame {
	g := *f
	g.Address = 0
	if f.Kind == symbols.Unknown {
		g.Address = f.Address
	}
	return g
}

// isNameless reports whether a frame is an address of which nothing is known.
func (f *Frame) isNameless() bool {
	return f.Kind == symbols.Unknown && !f.Pseudo && *f == Frame{Name: f.Name, Full: f.Name, Address: f.Address}
}

// IsNamed reports whether the trace, or a file of symbols, has the name of the code.
func (f *Frame) IsNamed() bool {
	return f.Kind == symbols.Managed && f.Address == 0 || f.Kind == symbols.NativeCode && !f.Nameless
}

// last puts waiting threads behind all else, since rankings are read as the work of a
// program.
func last(a, b *Frame) int {
	switch {
	case a.Waiting == b.Waiting:
		return 0
	case a.Waiting:
		return 1
	}
	return -1
}
