package stacks

// A weight is the sums of samples, and how many they are.
type weight struct {
	values [maxValues]int64
	rows   int64
}

func (w *weight) add(x *weight) {
	for v := range w.values {
		w.values[v] += x.values[v]
	}
	w.rows += x.rows
}

func addTo(sum []int64, values [maxValues]int64) {
	for i := range sum {
		sum[i] += values[i]
	}
}

// A tally holds the weights of a profile by stack.
type tally struct {
	of    []weight
	order []ID // stacks that have samples, in the order of their first
	all   weight
}

// addRow adds the values of a row.
func (t *tally) addRow(id ID, first, second int64) {
	w := &t.of[id]
	if w.rows == 0 {
		t.order = append(t.order, id)
	}
	w.rows++
	w.values[0] += first
	w.values[1] += second
}

// addPiece adds the rows of a piece, with the stack that into has for theirs, but those that it
// leaves out.
func (t *tally) addPiece(p *piece, into []ID, d *decoder) {
	values := d.read(p.block)
	first, second := values[0][:len(p.stack)], values[1][:len(p.stack)]
	for i, id := range p.stack {
		if p.kept != nil && !p.has(i) {
			continue
		}
		if into != nil {
			if id = into[id]; id < 0 {
				continue
			}
		}
		t.addRow(id, first[i], second[i])
	}
}

// through returns the tally of as many stacks, where step has the new numbers of those of t.
func (t *tally) through(step []ID, stacks int) *tally {
	u := &tally{of: make([]weight, stacks)}
	for _, id := range t.order {
		to := step[id]
		if to < 0 {
			continue
		}
		w := &u.of[to]
		if w.rows == 0 {
			u.order = append(u.order, to)
		}
		w.add(&t.of[id])
	}
	u.finish()
	return u
}

// finish sums up all stacks.
func (t *tally) finish() {
	for _, id := range t.order {
		t.all.add(&t.of[id])
	}
}

// totals returns the inclusive weights of stacks.
func (t *tally) totals(tree *tree) []weight {
	total := make([]weight, len(t.of))
	copy(total, t.of)
	for n := len(total) - 1; n > 0; n-- { // callers have smaller numbers
		if x := &total[n]; *x != (weight{}) {
			total[tree.nodes[n].parent].add(x)
		}
	}
	return total
}
