package stacks

import "context"

// Sums are of samples, by stack and by tag.
type sums struct {
	stacks, tags *tally
	decoder      decoder
}

func (p *Profile) newSums() *sums {
	return &sums{stacks: &tally{of: make([]weight, p.tree.size())}, tags: &tally{of: make([]weight, len(p.tags))}}
}

// add adds the rows of a piece.
func (s *sums) add(p *piece, into []ID) {
	s.stacks.addPiece(p, into, &s.decoder)
	s.tags.addTags(p, into, &s.decoder)
}

// A stretch is pieces in a row with their sums, so that a time that has all of them is summed
// up without their rows.
type stretch struct {
	from, to     int // pieces
	stacks, tags listed
}

// A listed is a tally as a list.
type listed struct {
	order []ID
	of    []weight // of those of order
}

// Into how many stretches a profile is parted, of so many pieces at least: these are half a
// million samples, which are scanned as fast.
const stretched, leastStretched = 16, 512

// stretches returns those of a profile, none of one that is small. The first who asks waits for
// a scan.
func (p *Profile) stretches(ctx context.Context) ([]stretch, error) {
	if p.tallied == nil || len(p.pieces) < leastStretched {
		return nil, nil
	}
	p.tallied.mu.Lock()
	defer p.tallied.mu.Unlock()
	if p.tallied.stretches != nil {
		return p.tallied.stretches, nil
	}
	each := (len(p.pieces) + stretched - 1) / stretched
	var list []stretch
	s := p.newSums()
	for i := range p.pieces {
		if i%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.add(&p.pieces[i], p.into)
		if n := i + 1; n%each == 0 || n == len(p.pieces) {
			list = append(list, stretch{i / each * each, n, s.stacks.take(), s.tags.take()})
		}
	}
	p.tallied.stretches = list
	return list, nil
}

// take returns a tally as a list, and empties it.
func (t *tally) take() listed {
	l := listed{append([]ID(nil), t.order...), make([]weight, len(t.order))}
	for i, id := range t.order {
		l.of[i], t.of[id] = t.of[id], weight{}
	}
	t.order = t.order[:0]
	return l
}

// merge adds a stretch.
func (s *sums) merge(x *stretch) {
	s.stacks.merge(&x.stacks)
	s.tags.merge(&x.tags)
}

func (t *tally) merge(l *listed) {
	for i, id := range l.order {
		w := &t.of[id]
		if w.rows == 0 {
			t.order = append(t.order, id)
		}
		w.add(&l.of[i])
	}
}
