package stacks

import (
	"math"
	"slices"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// A code is the kind of code that a sample was in.
type code uint8

const (
	noCode code = iota
	kernelCode
	nativeCode
	managedCode
)

var codeNames = [...]string{kernelCode: "kernel", nativeCode: "native", managedCode: "managed"}

// isKernel reports whether an address is in the upper half of those of a 64-bit system.
func isKernel(address uint64) bool { return address >= 0xffff800000000000 && address != cutKey }

// codeOf returns the kind of code of a location.
func codeOf(loc *symbols.Location, native *symbols.Native) code {
	switch {
	case isKernel(loc.Address):
		return kernelCode
	case loc.Kind == symbols.Managed, native.Type != "", isPrecompiled(native):
		return managedCode
	case native.Module != "" || native.Function != "":
		return nativeCode
	}
	return noCode
}

// isPrecompiled reports whether a place is in a .NET file in a process of Linux, where such
// a file has no other code than precompiled code.
func isPrecompiled(native *symbols.Native) bool { return native.InFile && native.TimeDateStamp != 0 }

// precompiledTier is the tier of code that was compiled ahead of time.
const precompiledTier = "ReadyToRun"

// tier returns the number of the tier of the code of a method, + 1, or 0.
func (n *namer) tier(loc *symbols.Location, native *symbols.Native) uint8 {
	name := native.Tier
	switch {
	case loc.Kind == symbols.Managed:
		m := loc.Method()
		name = m.Tier().String()
	case name == "" && isPrecompiled(native):
		name = precompiledTier
	}
	if name == "" {
		return 0
	}
	i := slices.Index(n.tiers, name)
	if i < 0 {
		if i = len(n.tiers); i >= math.MaxUint8 {
			return 0 // invalid names
		}
		n.tiers = append(n.tiers, name)
	}
	return uint8(i + 1)
}

// LabelCode has profiles give each sample a label for its kind of code, code=kernel,
// code=native or code=managed, where that is known, and tier for methods that were compiled
// at run time.
func (s *Samples) LabelCode() { s.labelCode = true }

// A mark is the label of samples for their code: a code, and the number of one of the
// namer's tiers, + 1.
type mark struct {
	code code
	tier uint8
}

// markOf returns the number of a mark, 0 if it says nothing.
func (n *namer) markOf(m mark) int16 {
	i, ok := n.marks[m]
	if !ok {
		i = int16(len(n.known))
		n.marks[m] = i
		n.known = append(n.known, m)
		n.tags = append(n.tags, make([]int32, len(n.s.tags)))
	}
	return i
}

// label returns labels with those of the code that a sample was in.
func (n *namer) label(l LabelSet, number int16) LabelSet {
	m := n.known[number]
	if m.code != noCode {
		l = n.p.Label(l, "code", codeNames[m.code])
	}
	if m.tier > 0 {
		l = n.p.Label(l, "tier", n.tiers[m.tier-1])
	}
	return l
}

// incompleteName is the outermost frame of stacks whose base is in no code: the unwinder had
// lost the way.
const incompleteName = "[incomplete stack]"

// incomplete returns the stack of that frame alone.
func (n *namer) incomplete() int32 {
	if n.cut == 0 {
		n.cut = n.p.tree.child(0, uint64(n.p.pseudo(incompleteName)))
	}
	return n.cut
}
