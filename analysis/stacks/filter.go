package stacks

import "fmt"

// A Filter says which samples are of interest, and which frames. Its texts are lists
// of patterns in the language of PerfView, which ; separates. They are matched
// against names with module and arguments, and against those that are shown.
type Filter struct {
	// Include keeps the samples in whose stacks every pattern matches some frame,
	// Exclude those in which none does.
	Include, Exclude string
	// Group gives frames a common name: pattern->name, or pattern=>name, where the
	// name has the frame through which the group is entered. Frames of one group
	// that call each other become one. No name leaves a frame as it is. The first
	// pattern that matches counts.
	Group string
	// Fold leaves frames out: what they weigh is their callers'.
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
	facts            []frameFacts
}

// frameFacts is what the patterns say of a frame.
type frameFacts struct {
	known    bool
	included uint64
	excluded bool
	folded   bool
	group    int32 // the frame that stands for its group, or -1
	entry    bool
}

// Apply returns the profile as a filter has it.
func (p *Profile) Apply(f Filter) (*Profile, error) {
	s := &shaping{p: p, q: p.derive(), names: make(map[string]int32), facts: make([]frameFacts, len(p.Frames))}
	var err error
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
	if s.groups, err = parseGroups(f.Group); err != nil {
		return nil, err
	}
	s.shape()
	if f.FoldPercent > 0 && p.Len() > 0 {
		s.q.foldSmall(f.FoldPercent)
	}
	return s.q, nil
}

// factsOf returns what the patterns say of a frame.
func (s *shaping) factsOf(i uint64) frameFacts {
	x := &s.facts[i]
	if x.known {
		return *x
	}
	f := &s.p.Frames[i]
	*x = frameFacts{known: true, group: -1}
	name := ""
	for k := range s.groups {
		if text, ok := s.groups[k].expand(f); ok {
			name, x.entry = text, s.groups[k].entry
			break
		}
	}
	also := &Frame{}
	if name != "" {
		x.group = s.frame(name)
		also = &s.q.Frames[x.group]
	}
	for k, p := range s.include {
		if p.match(f) || name != "" && p.match(also) {
			x.included |= 1 << k
		}
	}
	for _, p := range s.exclude {
		x.excluded = x.excluded || p.match(f) || name != "" && p.match(also)
	}
	for _, p := range s.fold {
		x.folded = x.folded || p.match(f) || name != "" && p.match(also)
	}
	return *x
}

// frame returns the frame with the name of a group.
func (s *shaping) frame(name string) int32 {
	i, ok := s.names[name]
	if !ok {
		i = int32(len(s.q.Frames))
		s.q.Frames = append(s.q.Frames, Frame{Name: name, Full: name, Pseudo: true})
		s.names[name] = i
	}
	return i
}

// A shaped is what became of a stack.
type shaped struct {
	into     int32
	group    int32 // of its last frame, or -1
	included uint64
	excluded bool
}

// shape goes through all stacks from the outside in, each once.
func (s *shaping) shape() {
	p, q := s.p, s.q
	q.tree = tree{}
	list := make([]shaped, p.tree.size())
	list[0].group = -1
	for n := 1; n < len(p.tree.nodes); n++ {
		list[n] = s.extend(list[p.tree.nodes[n].parent], p.tree.nodes[n].key)
	}
	all := uint64(1)<<len(s.include) - 1
	q.keep(func(x *row) bool {
		y := &list[x.stack]
		x.stack = q.orFolded(y.into)
		return y.included == all && !y.excluded
	})
}

// extend returns what becomes of a stack with one more frame.
func (s *shaping) extend(caller shaped, frame uint64) shaped {
	x := s.factsOf(frame)
	y := shaped{into: caller.into, group: caller.group, included: caller.included | x.included, excluded: caller.excluded || x.excluded}
	switch {
	case x.folded, x.group >= 0 && x.group == caller.group:
		return y
	case x.group < 0:
		y.into = s.q.tree.child(caller.into, frame)
	case x.entry:
		entry := s.frame(s.q.Frames[x.group].Name + " <<" + s.p.Frames[frame].Name + ">>")
		y.into = s.q.tree.child(caller.into, uint64(entry))
	default:
		y.into = s.q.tree.child(caller.into, uint64(x.group))
	}
	y.group = x.group
	return y
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

// foldSmall folds the stacks that weigh less than a share of all.
func (p *Profile) foldSmall(percent float64) {
	v := p.View()
	last := len(p.Types) - 1
	least := percent / 100 * float64(v.total[0][last])
	old := p.tree
	p.tree = tree{}
	into := make([]int32, old.size())
	for n := 1; n < len(old.nodes); n++ {
		into[n] = into[old.nodes[n].parent]
		if float64(v.total[n][last]) >= least {
			into[n] = p.tree.child(into[n], old.nodes[n].key)
		}
	}
	for i := range p.rows.rows {
		p.rows.rows[i].stack = p.orFolded(into[p.rows.rows[i].stack])
	}
}
