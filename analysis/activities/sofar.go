package activities

// SoFar returns where the time of an activity went that is not over when the trace ends, until then, or
// nil: threads that wait do so to the end, and an await that nothing ended names the last part.
func (a *Analysis) SoFar(x *Activity) *Causes {
	for _, rt := range a.processes.All() {
		p := &rt.State
		on := p.live[x.ID]
		for on != nil && on != x {
			on = on.twin
		}
		if on == nil || !x.Started || x.Over || x.OneOf || p.layer() == None || x.isContainer() {
			continue
		}
		p.soon, p.window = rt.Ticks(inline), rt.Within(a.window)
		x.End = rt.End()
		c := p.causes(x, nil, p.standing(x))
		if c != nil {
			p.nameLast(c, x)
		}
		x.End = 0
		return c
	}
	return nil
}

// standing returns the waits of threads that work for an activity which nothing has ended.
func (p *process) standing(x *Activity) (list []state) {
	x.gather(func(c *Activity) {
		for on := c.worker; on != nil; on = on.next {
			for k, w := range on.waiting {
				if w.since != 0 {
					list = append(list, state{thread: on.id, from: max(w.since, on.since), to: x.End, kind: Kind(k), by: w.owner, code: w.code})
				}
			}
		}
	})
	for _, w := range p.waits {
		if w.block && w.of.isIn(x) {
			list = append(list, state{thread: w.by, from: w.begin, to: x.End, kind: Blocked, code: w.code})
		}
	}
	return list
}

// nameLast names the await at the end of a path: the first of those that the work began which was the
// last, since the innermost method awaits first.
func (p *process) nameLast(c *Causes, x *Activity) {
	i := p.walk.ended(x.End)
	if i < 0 || len(c.Path) == 0 || c.Path[0].Kind != Awaiting {
		return
	}
	work, first := &p.walk.pieces[i], int64(0)
	for _, w := range p.waits {
		if !w.block && w.by == work.thread && w.begin >= work.from && w.begin <= work.to && w.of.isIn(x) && (first == 0 || w.begin < first) {
			first, c.Path[0].Name, c.Path[0].Code = w.begin, w.name, w.code
		}
	}
}
