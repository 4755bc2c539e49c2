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
