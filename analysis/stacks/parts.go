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
	sums, d := make([]weight, len(p.tags)), new(decoder)
	var order []int32
	for k := range p.pieces {
		piece := &p.pieces[k]
		values := d.read(piece.block)
		for i, tag := range piece.tag {
			if !piece.has(i) || p.into != nil && p.into[piece.stack[i]] < 0 {
				continue
			}
			w := &sums[tag]
			if w.rows == 0 {
				order = append(order, tag)
			}
			w.rows++
			for v := range values {
				w.values[v] += values[v][i]
			}
		}
	}
	list := make([]Part, 0, len(order))
	for _, tag := range order {
		t, w := &p.tags[tag], &sums[tag]
		of := p.threads[t.thread]
		list = append(list, Part{of.process, of.id, p.Labels(t.labels), w.rows, append([]int64(nil), w.values[:len(p.Types)]...)})
	}
	return list
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
