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
	// Fold leaves frames out, but for the outermost: their weight is their callers'.
	Fold string
	// FoldPercent folds the parts of the tree that weigh less than this share.
	FoldPercent float64
}

// maxIncludes is how many patterns Include can have.
const maxIncludes = 64

// A shaping is the work of a Filter: the stacks of a profile in their new shape, whatever
// samples it has of them.
type shaping struct {
	p                *Profile
	include, exclude []pattern
	fold             []pattern
	groups           []group
	list             []Frame // those of p and of groups
	tree             tree
	names            map[string]int32 // frames of groups
	entries          map[string]int32 // numbers of entry groups, from 1 on
	unknown          map[string]int32 // of modules of which no functions are known, the frame of each name
	frames           []grouped        // of p
	facts            []frameFacts     // of list
}

// A shape is the result of a filter for the stacks of profiles: a tree, and the stack there for
// each of theirs.
type shape struct {
	tree   tree
	frames []Frame
	step   []ID
	shapes *recent // of the tree
}

// A grouped is a frame after grouping.
type grouped struct {
	known bool
	frame int32 // that stands for it
	entry int32 // the number of its entry group, from 1 on, or 0
}

// frameFacts is the verdict of the patterns on a frame by its final name.
type frameFacts struct {
	known            bool
	included         uint64
	excluded, folded bool
}

// Apply returns the profile as a filter has it. The shape of its stacks is kept for the next
// time, also for profiles with other samples of the same stacks.
func (p *Profile) Apply(f Filter) (*Profile, error) {
	rules, err := p.preset(f.Group)
	if err != nil {
		return nil, err
	}
	f.Group = rules
	texts := f
	texts.FoldPercent = 0
	s, err := recall(p.shapes, texts, func() (*shape, error) { return p.newShape(texts) })
	if err != nil {
		return nil, err
	}
	q := p.with(s.tree, s.frames, s.step)
	q.shapes = s.shapes
	if f.FoldPercent > 0 && p.Len() > 0 {
		return q.foldSmall(f.FoldPercent), nil
	}
	return q, nil
}

// newShape makes the shape that a filter gives the stacks of a profile.
func (p *Profile) newShape(f Filter) (*shape, error) {
	s := &shaping{p: p, frames: make([]grouped, len(p.Frames)), list: slices.Clip(p.Frames),
		names: make(map[string]int32), entries: make(map[string]int32), unknown: make(map[string]int32)}
	for _, list := range []struct {
		text string
		into *[]pattern
	}{{f.Include, &s.include}, {f.Exclude, &s.exclude}, {f.Fold, &s.fold}} {
		var err error
		if *list.into, err = parsePatterns(list.text); err != nil {
			return nil, err
		}
	}
	if len(s.include) > maxIncludes {
		return nil, fmt.Errorf("there are %d patterns to include, and no more than %d can be", len(s.include), maxIncludes)
	}
	var err error
	if s.groups, err = parseGroups(f.Group); err != nil {
		return nil, err
	}
	step := s.shape()
	s.tree.close()
	return &shape{tree: s.tree, frames: s.list, step: step, shapes: newRecent(maxShapes)}, nil
}

// path returns the name that groups are matched against.
func (f *Frame) path() string {
	if strings.Contains(f.Full, "!") {
		return f.folder() + f.Full
	}
	return f.Full
}

// groupOf returns a frame after grouping.
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
	i := once(s.names, name, int32(len(s.list)))
	if int(i) == len(s.list) {
		s.list = append(s.list, Frame{Name: name, Full: name, Pseudo: true})
	}
	return i
}

// factsOf returns the verdict of the patterns on a frame of list.
func (s *shaping) factsOf(i int32) frameFacts {
	if int(i) >= len(s.facts) {
		s.facts = append(s.facts, make([]frameFacts, len(s.list)-len(s.facts))...)
	}
	x := &s.facts[i]
	if x.known {
		return *x
	}
	f := &s.list[i]
	is := func(p pattern) bool { return p.match(f) }
	*x = frameFacts{known: true, excluded: slices.ContainsFunc(s.exclude, is), folded: slices.ContainsFunc(s.fold, is)}
	for k, p := range s.include {
		if p.match(f) {
			x.included |= 1 << k
		}
	}
	return *x
}

// A shaped is a stack in its new shape.
type shaped struct {
	into     int32
	frame    int32 // its innermost, or -1
	entry    int32 // the entry group that it is in, or 0
	included uint64
	excluded bool
}

// shape goes through all stacks from the outside in, each once, and returns their new shapes.
func (s *shaping) shape() []ID {
	p := s.p
	list, step := make([]shaped, p.tree.size()), make([]ID, p.tree.size())
	list[0].frame = -1
	for n := 1; n < len(p.tree.nodes); n++ {
		list[n] = s.extend(&list[p.tree.nodes[n].parent], p.tree.nodes[n].key)
	}
	all := uint64(1)<<len(s.include) - 1
	for n := range list {
		if step[n] = ID(list[n].into); list[n].included != all || list[n].excluded {
			step[n] = leftOut
		}
	}
	return step
}

// extend returns the new shape of a stack with one more frame. One that is folded is told
// from its caller by nothing, and so is in no group of its own.
func (s *shaping) extend(caller *shaped, frame uint64) shaped {
	x, y := s.groupOf(frame), *caller
	if x.entry != 0 && x.entry == caller.entry {
		x.frame = caller.frame
	}
	facts := s.factsOf(x.frame)
	y.excluded = y.excluded || facts.excluded
	if caller.frame >= 0 && (facts.folded || s.recursive(x.frame, caller.frame)) {
		return y
	}
	y.into, y.frame, y.entry = s.tree.child(caller.into, uint64(x.frame)), x.frame, x.entry
	y.included |= facts.included
	return y
}

// recursive reports whether a frame that another calls is the same code. Methods that the
// compiler made of async ones are, from whatever line they are called.
func (s *shaping) recursive(a, b int32) bool {
	return a == b || s.list[a].Full == s.list[b].Full && strings.Contains(s.list[a].Full, ".MoveNext()")
}

// foldedName is the frame of stacks of which all frames are folded. Their weight has no
// caller left to go to.
const foldedName = "[folded]"

// foldSmall folds the stacks that weigh less than a share of all, with all that they called.
// The tree stays, so that they weigh nothing there.
func (p *Profile) foldSmall(percent float64) *Profile {
	t := p.summed()
	total := p.within()
	last := len(p.Types) - 1
	least := percent / 100 * math.Abs(float64(total[0].values[last]))
	into, folded := make([]ID, len(total)), make([]bool, len(total))
	for n := 1; n < len(total); n++ {
		x := &p.tree.nodes[n]
		small := math.Abs(float64(total[n].values[last])) < least && p.Frames[x.key].Name != incompleteName
		if folded[n] = folded[x.parent] || small; folded[n] {
			into[n] = into[x.parent]
		} else {
			into[n] = ID(n)
		}
	}
	q := p.derive()
	if slices.ContainsFunc(t.order, func(id ID) bool { return into[id] == 0 }) {
		alone := ID(q.tree.child(0, uint64(q.pseudo(foldedName))))
		for n := range into {
			if into[n] == 0 {
				into[n] = alone
			}
		}
	}
	return p.with(q.tree, q.Frames, into)
}
