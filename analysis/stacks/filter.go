package stacks

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Filter says which samples are of interest, and which frames. Its texts are lists of
// patterns in the language of PerfView, which ; separates, and mean the same as there.
// With any of them a frame that its own code calls directly is one with its caller.
type Filter struct {
	// Group gives frames a common name: pattern->name, or pattern=>name, where the name has
	// the frame through which the group is entered, and those that the group calls itself
	// become one with it. Patterns are matched against names with the path of the module;
	// after a match, against the name that -> has given. => ends this, as does no name, which
	// leaves a frame as it is. [name] alone is one of the [Presets].
	Group string
	// Include keeps the samples in whose stacks every pattern matches some frame that is not
	// folded, Exclude those in which none does. They and Fold are matched against the names of
	// groups; where there is none, against those with module and arguments, and as shown.
	Include, Exclude string
	// Fold leaves frames out, but for the outermost: what they weigh is their callers'.
	Fold string
	// FoldPercent folds the parts of the tree that weigh less than this share.
	FoldPercent float64
}

// maxIncludes is how many patterns Include can have.
const maxIncludes = 64

// A shaping is the work of a Filter.
type shaping struct {
	p, q             *Profile
	include, exclude []pattern
	fold             []pattern
	groups           []group
	names            map[string]int32 // frames of groups
	entries          map[string]int32 // numbers of entry groups, from 1 on
	unknown          map[string]int32 // of modules of which no functions are known, the frame of each name
	frames           []grouped        // of p
	facts            []frameFacts     // of frames of q
}

// A grouped is what groups make of a frame.
type grouped struct {
	known bool
	frame int32 // that stands for it
	entry int32 // the number of its entry group, from 1 on, or 0
}

// frameFacts is what the patterns say of a frame with the name that it has in the end.
type frameFacts struct {
	known            bool
	included         uint64
	excluded, folded bool
}

// Apply returns the profile as a filter has it.
func (p *Profile) Apply(f Filter) (*Profile, error) {
	s := &shaping{p: p, q: p.derive(), frames: make([]grouped, len(p.Frames)),
		names: make(map[string]int32), entries: make(map[string]int32), unknown: make(map[string]int32)}
	rules, err := p.preset(f.Group)
	if err != nil {
		return nil, err
	}
	for _, list := range []struct {
		text string
		into *[]pattern
	}{{f.Include, &s.include}, {f.Exclude, &s.exclude}, {f.Fold, &s.fold}} {
		if *list.into, err = parsePatterns(list.text); err != nil {
			return nil, err
		}
	}
	if len(s.include) > maxIncludes {
		return nil, fmt.Errorf("there are %d patterns to include, and no more than %d can be", len(s.include), maxIncludes)
	}
	if s.groups, err = parseGroups(rules); err != nil {
		return nil, err
	}
	s.shape()
	if f.FoldPercent > 0 && p.Len() > 0 {
		s.q.foldSmall(f.FoldPercent)
	}
	return s.q, nil
}

// path returns the name that groups are matched against.
func (f *Frame) path() string {
	if strings.Contains(f.Full, "!") {
		return f.folder() + f.Full
	}
	return f.Full
}

// groupOf returns what groups make of a frame.
func (s *shaping) groupOf(i uint64) grouped {
	x := &s.frames[i]
	if x.known {
		return *x
	}
	f := &s.p.Frames[i]
	*x = grouped{known: true, frame: int32(i)}
	name, in, entry := f.path(), "", false
	for k := range s.groups {
		g := &s.groups[k]
		text, ok := g.expand(name)
		if !ok {
			continue
		}
		name, in, entry = text, text, g.entry
		if entry || name == "" {
			break
		}
	}
	switch {
	case in == "" && strings.HasSuffix(f.Full, "!?"):
		x.frame = once(s.unknown, f.Full, int32(i))
	case in == "":
	case entry:
		x.entry = once(s.entries, in, int32(len(s.entries)+1))
		x.frame = s.frame(in + " <<" + f.Name + ">>")
	default:
		x.frame = s.frame(in)
	}
	return *x
}

// frame returns the frame with the name of a group, or of its entry.
func (s *shaping) frame(name string) int32 {
	i := once(s.names, name, int32(len(s.q.Frames)))
	if int(i) == len(s.q.Frames) {
		s.q.Frames = append(s.q.Frames, Frame{Name: name, Full: name, Pseudo: true})
	}
	return i
}

// factsOf returns what the patterns say of a frame of q.
func (s *shaping) factsOf(i int32) frameFacts {
	if int(i) >= len(s.facts) {
		s.facts = append(s.facts, make([]frameFacts, len(s.q.Frames)-len(s.facts))...)
	}
	x := &s.facts[i]
	if x.known {
		return *x
	}
	f := &s.q.Frames[i]
	is := func(p pattern) bool { return p.match(f) }
	*x = frameFacts{known: true, excluded: slices.ContainsFunc(s.exclude, is), folded: slices.ContainsFunc(s.fold, is)}
	for k, p := range s.include {
		if p.match(f) {
			x.included |= 1 << k
		}
	}
	return *x
}

// A shaped is what became of a stack.
type shaped struct {
	into     int32
	frame    int32 // its innermost, or -1
	entry    int32 // the entry group that it is in, or 0
	included uint64
	excluded bool
}

// shape goes through all stacks from the outside in, each once.
func (s *shaping) shape() {
	p, q := s.p, s.q
	q.tree = tree{}
	list := make([]shaped, p.tree.size())
	list[0].frame = -1
	for n := 1; n < len(p.tree.nodes); n++ {
		list[n] = s.extend(&list[p.tree.nodes[n].parent], p.tree.nodes[n].key)
	}
	all := uint64(1)<<len(s.include) - 1
	q.keep(func(x *row) bool {
		y := &list[x.stack]
		x.stack = q.orFolded(y.into)
		return y.included == all && !y.excluded
	})
}

// extend returns what becomes of a stack with one more frame. One that is folded is told from
// its caller by nothing, and so is in no group of its own.
func (s *shaping) extend(caller *shaped, frame uint64) shaped {
	x, y := s.groupOf(frame), *caller
	if x.entry != 0 && x.entry == caller.entry {
		x.frame = caller.frame
	}
	facts := s.factsOf(x.frame)
	y.excluded = y.excluded || facts.excluded
	if caller.frame >= 0 && (facts.folded || s.q.recursive(x.frame, caller.frame)) {
		return y
	}
	y.into, y.frame, y.entry = s.q.tree.child(caller.into, uint64(x.frame)), x.frame, x.entry
	y.included |= facts.included
	return y
}

// recursive reports whether a frame that another calls is the same code. Methods that the
// compiler made of async ones are, from whatever line they are called.
func (p *Profile) recursive(a, b int32) bool {
	return a == b || p.Frames[a].Full == p.Frames[b].Full && strings.Contains(p.Frames[a].Full, ".MoveNext()")
}

// foldedName is the frame of stacks of which all frames are folded. What they weigh
// has no caller left to go to.
const foldedName = "[folded]"

// orFolded returns a stack that is not empty.
func (p *Profile) orFolded(n int32) ID {
	if n != 0 {
		return ID(n)
	}
	return ID(p.tree.child(0, uint64(p.pseudo(foldedName))))
}

// foldSmall folds the stacks that weigh less than a share of all, with all that they called.
func (p *Profile) foldSmall(percent float64) {
	v := p.View()
	last := len(p.Types) - 1
	least := percent / 100 * math.Abs(float64(v.total[0][last]))
	old := p.tree
	p.tree = tree{}
	into, folded := make([]int32, old.size()), make([]bool, old.size())
	for n := 1; n < len(old.nodes); n++ {
		x := &old.nodes[n]
		into[n] = into[x.parent]
		small := math.Abs(float64(v.total[n][last])) < least && p.Frames[x.key].Name != incompleteName
		if folded[n] = folded[x.parent] || small; !folded[n] {
			into[n] = p.tree.child(into[n], x.key)
		}
	}
	for i := range p.rows.rows {
		p.rows.rows[i].stack = p.orFolded(into[p.rows.rows[i].stack])
	}
}
