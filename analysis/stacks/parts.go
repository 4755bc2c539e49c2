package stacks

import "slices"

// A Part is the samples of one thread that have the same labels.
type Part struct {
	Process, Thread int64
	Labels          []Label
	Samples         int64
	Values          []int64 // sums
}

// Parts returns the samples by thread and labels, in the order of their first. It costs one
// scan of the columns.
func (p *Profile) Parts() []Part {
	t := p.byTag()
	order, sums := t.order, t.of
	list := make([]Part, 0, len(order))
	for _, tag := range order {
		t, w := &p.tags[tag], &sums[tag]
		of := p.threads[t.thread]
		list = append(list, Part{of.process, of.id, p.Labels(t.labels), w.rows, append([]int64(nil), w.values[:len(p.Types)]...)})
	}
	return list
}

// byTag returns the tally of the samples by their tags.
func (p *Profile) byTag() *tally {
	if p.tallied != nil {
		p.tallied.mu.Lock()
		defer p.tallied.mu.Unlock()
		if p.tallied.tags != nil {
			return p.tallied.tags
		}
	}
	t, d := &tally{of: make([]weight, len(p.tags))}, new(decoder)
	for k := range p.pieces {
		t.addTags(&p.pieces[k], p.into, d)
	}
	if p.tallied != nil {
		p.tallied.tags = t
	}
	return t
}

// addTags adds the rows of a piece that into does not leave out.
func (t *tally) addTags(p *piece, into []ID, d *decoder) {
	values := d.read(p.block)
	for i, tag := range p.tag {
		if p.has(i) && (into == nil || into[p.stack[i]] >= 0) {
			t.addRow(ID(tag), values[0][i], values[1][i])
		}
	}
}

// Processes returns the processes that samples are of, in the order of the first of each.
func (p *Profile) Processes() (list []int64) {
	for _, part := range p.Parts() {
		if !slices.Contains(list, part.Process) {
			list = append(list, part.Process)
		}
	}
	return list
}
