package stacks

import (
	"strconv"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// A frameSet has the numbers of frames while a profile is made.
type frameSet struct {
	ids       map[frameKey]int32 // places in keys
	keys      []frameKey
	numbers   []int32          // of their frames
	addresses map[uint64]int32 // of those without a name
	recent    []recentFrame
}

// A recentFrame is the frame that an address of some hash had last: most have it in all stacks.
type recentFrame struct {
	address uint64
	frame   int32
	key     int32 // its number, + 1; -1 without one
}

// near returns where the frame of an address is if it was met lately.
func (f *frameSet) near(address uint64) *recentFrame {
	return &f.recent[seeded.Hash(address, 0)%uint64(len(f.recent))]
}

// A frameKey identifies a frame while frames are made.
type frameKey struct {
	id    symbols.ID
	guess bool
	file  string
	line  int
	// module and function are those of native code. All of a module of which no
	// functions are known is one frame.
	module, function string
	tier             string // of a method, where tiers are kept apart
}

// frame returns the number of the frame of a location.
func (n *namer) frame(loc *symbols.Location, native *symbols.Native) int32 {
	if loc.Kind == symbols.Unknown && native.Module == "" && native.Function == "" {
		return n.namelessFrame(loc, native)
	}
	key := frameKey{id: loc.ID(), guess: loc.Guess}
	if native.Module != "" || native.Function != "" {
		key = frameKey{module: native.Module, function: native.Function}
		if n.options.Tiers {
			key.tier = native.Tier
		}
	}
	if n.options.Source != nil && loc.Kind != symbols.Unknown {
		key.file, key.line, _ = n.options.Source(loc)
	}
	recent := n.frames.near(loc.Address)
	if recent.address == loc.Address && recent.key > 0 && n.frames.keys[recent.key-1] == key {
		return recent.frame
	}
	known := &n.frames.keys
	i, ok := n.frames.ids[key]
	if !ok {
		i = int32(len(*known))
		*known, n.frames.ids[key] = append(*known, key), i
		n.frames.numbers = append(n.frames.numbers, n.add(n.newFrame(loc, native, key)))
	}
	*recent = recentFrame{loc.Address, n.frames.numbers[i], i + 1}
	return recent.frame
}

// add adds a frame to the profile and returns its number.
func (n *namer) add(f Frame) int32 {
	n.p.Frames = append(n.p.Frames, f)
	return int32(len(n.p.Frames) - 1)
}

// namelessFrame returns the number of the frame of an address of which nothing is known. There
// can be millions of them, so they have a map with small keys, and of many the heaviest alone
// have frames of their own.
func (n *namer) namelessFrame(loc *symbols.Location, native *symbols.Native) int32 {
	recent := n.frames.near(loc.Address)
	if recent.address == loc.Address && recent.key < 0 {
		return recent.frame
	}
	i, ok := n.frames.addresses[loc.Address]
	switch {
	case ok:
	case len(n.frames.addresses) >= n.s.nameless && !n.isHeavy(loc.Address):
		n.p.rest.Addresses++
		n.others = n.p.pseudo(namelessName)
		return n.others
	default:
		i = n.add(n.newFrame(loc, native, frameKey{}))
		n.frames.addresses[loc.Address] = i
	}
	*recent = recentFrame{loc.Address, i, -1}
	return i
}

// isHeavy reports whether an address is one of those that weigh most, which are sought out once
// there are more than there is room for.
func (n *namer) isHeavy(address uint64) bool {
	if n.s.tree.size() <= n.s.nameless {
		return true
	}
	if n.heavy == nil {
		n.heavy = n.s.heaviest(n.s.nameless)
	}
	return n.heavy[address]
}

func (n *namer) newFrame(loc *symbols.Location, native *symbols.Native, key frameKey) Frame {
	if m := native.Method(); m.Named() {
		return n.nameMethod(Frame{Kind: symbols.Managed, Full: m.Full(), Module: key.module, Tier: key.tier}, m)
	}
	if key.module != "" || key.function != "" {
		name := native.Full()
		return Frame{Name: name, Full: name, Module: key.module, Kind: symbols.NativeCode, Nameless: key.function == "" || native.Unnamed}
	}
	if loc.Kind == symbols.Unknown {
		name := "0x" + strconv.FormatUint(loc.Address, 16)
		return Frame{Name: name, Full: name, Address: loc.Address}
	}
	m := loc.Method()
	f := Frame{Kind: loc.Kind, Guess: loc.Guess, File: key.file, Line: key.line, Full: m.Full(), Module: m.Module.ILPath}
	if !m.Named() {
		f.Address = m.Address
	}
	if n.options.Tiers {
		f.Tier = m.Tier().String()
	}
	return n.nameMethod(f, m)
}

// nameMethod returns the frame of a method with its name.
func (n *namer) nameMethod(f Frame, m symbols.Method) Frame {
	if !n.options.Raw {
		m = m.Demangled()
	}
	switch n.options.Names {
	case QualifiedNames:
		f.Name = m.Qualified()
	case ShortNames:
		f.Name = m.Short()
	default:
		f.Name = m.Full()
	}
	if f.Tier != "" {
		f.Name += " [" + f.Tier + "]"
	}
	if f.Guess {
		f.Name += " (?)"
	}
	return f
}
