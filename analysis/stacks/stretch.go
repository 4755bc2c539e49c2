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
	values := s.decoder.read(p.block)
	first, second, tags := values[0][:len(p.stack)], values[1][:len(p.stack)], p.tag[:len(p.stack)]
	for i, id := range p.stack {
		if p.kept != nil && !p.has(i) {
			continue
		}
		if into != nil {
			if id = into[id]; id < 0 {
				continue
			}
		}
		s.stacks.addRow(id, first[i], second[i])
		s.tags.addRow(ID(tags[i]), first[i], second[i])
	}
}

// A stretch is pieces in a row with their sums, so that a time that has all of them is summed
// up without their rows.
type stretch struct {
	from, to     int // pieces
	stacks, tags listed
	parts        []stretch // that a time may have where it has not all
}

// A listed is a tally as a list.
type listed struct {
	order []ID
	of    []weight // of those of order
}

// Into how many stretches a profile is parted, and each of them into parts, of so many pieces at
// least: these are half a million samples, which are scanned as fast.
const stretched, parted, leastStretched = 16, 4, 512

// stretches returns those of a profile, none of one that is small. The first who asks waits for
// a scan.
func (p *Profile) stretches(ctx context.Context) ([]stretch, error) {
	if p.tallied == nil || len(p.pieces) < leastStretched {
		return nil, nil
	}
	p.tallied.parting.Lock()
	defer p.tallied.parting.Unlock()
	if p.tallied.stretches != nil {
		return p.tallied.stretches, nil
	}
	each := (len(p.pieces) + stretched*parted - 1) / (stretched * parted)
	var list, parts []stretch
	s, all := p.newSums(), p.newSums()
	for i := range p.pieces {
		if i%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.add(&p.pieces[i], p.into)
		n := i + 1
		if n%each != 0 && n < len(p.pieces) {
			continue
		}
		part := s.take(i/each*each, n)
		all.merge(&part)
		if parts = append(parts, part); len(parts) == parted || n == len(p.pieces) {
			x := all.take(parts[0].from, n)
			x.parts, parts = parts, nil
			list = append(list, x)
		}
	}
	p.tallied.stretches = list
	return list, nil
}

// take returns the sums as those of a stretch, and empties them.
func (s *sums) take(from, to int) stretch {
	return stretch{from: from, to: to, stacks: s.stacks.take(), tags: s.tags.take()}
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
