package stacks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Query is a question to a profile: of which samples, and in which shape. The zero value asks
// for all as it is.
type Query struct {
	// From and To are the time in which samples are, if they are not zero: from the one up to,
	// but not including, the other. Margin widens it on both sides: PerfView has 600 ns, since
	// people copy times that are rounded.
	From, To time.Time
	Margin   time.Duration
	// Spans says that the weight of a sample is nanoseconds that begin at its time, such as
	// those of a wait: of one that reaches into the time from outside the part within it
	// counts.
	Spans bool
	// Processes and Threads are of which samples are to be, one of each, if there are any;
	// Labels are those that each must have.
	Processes, Threads []int64
	Labels             []Label
	Filter
}

// Query returns the call tree that a query asks for. It is made for servers, which many ask and
// which ask again: another time costs one scan of the samples, another pattern one walk through
// the stacks, and earlier answers are still known. It ends with the context, and [View.Profile]
// has the samples themselves.
func (p *Profile) Query(ctx context.Context, q Query) (*View, error) {
	some, err := p.pick(ctx, &q)
	if err != nil {
		return nil, err
	}
	if _, err := some.tally(ctx); err != nil { // what is made of it later costs little
		return nil, err
	}
	if q.Filter != (Filter{}) {
		if some, err = some.Apply(q.Filter); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return some.View(), nil
}

// rowsKey tells the samples of a query from those of others.
func (q *Query) rowsKey() string {
	var b strings.Builder
	if !q.From.IsZero() {
		fmt.Fprint(&b, "from", q.From.UnixNano())
	}
	if !q.To.IsZero() {
		fmt.Fprint(&b, "to", q.To.UnixNano())
	}
	if b.Len() > 0 {
		fmt.Fprint(&b, "margin", int64(q.Margin))
	}
	if b.Len() > 0 && q.Spans {
		b.WriteString("spans")
	}
	for _, list := range [][]int64{q.Processes, q.Threads} {
		fmt.Fprint(&b, slices.Sorted(slices.Values(list)))
	}
	fmt.Fprintf(&b, "%q", q.Labels)
	return b.String()
}

// pick returns the samples that a query asks for.
func (p *Profile) pick(ctx context.Context, q *Query) (*Profile, error) {
	key := q.rowsKey()
	if p.tallied == nil || key == new(Query).rowsKey() {
		return p, nil
	}
	return recall(p.picked, key, func() (*Profile, error) {
		list, sums, err := p.newPicker(q).all(ctx, p)
		if err != nil {
			return nil, err
		}
		some := p.some(list)
		some.tallied.tally, some.tallied.tags = sums.stacks, sums.tags
		some.Naming = Naming{}
		some.countNames()
		return some, nil
	})
}

// A picker picks the samples of a query.
type picker struct {
	from, to int64
	value    int    // that of spans, or -1
	wanted   []bool // by tag; nil if all are
	decoder  decoder
}

func (p *Profile) newPicker(q *Query) *picker {
	k := &picker{from: always.from, to: always.to, value: -1}
	if !q.From.IsZero() {
		k.from = q.From.Add(-q.Margin).UnixNano()
	}
	if !q.To.IsZero() {
		k.to = q.To.Add(q.Margin).UnixNano()
	}
	if q.Spans {
		k.value = len(p.Types) - 1
	}
	if len(q.Processes)+len(q.Threads)+len(q.Labels) == 0 {
		return k
	}
	among := func(list []int64, x int64) bool { return len(list) == 0 || slices.Contains(list, x) }
	k.wanted = make([]bool, len(p.tags))
	for i := range p.tags {
		t := &p.tags[i]
		of, labels := p.threads[t.thread], p.Labels(t.labels)
		k.wanted[i] = among(q.Processes, of.process) && among(q.Threads, of.id) &&
			!slices.ContainsFunc(q.Labels, func(l Label) bool { return !slices.Contains(labels, l) })
	}
	return k
}

// all returns the parts of the pieces of a profile that are asked for, and their sums.
func (k *picker) all(ctx context.Context, p *Profile) (list []piece, s *sums, err error) {
	var known []stretch
	if k.wanted == nil && k.value < 0 {
		if known, err = p.stretches(ctx); err != nil {
			return nil, nil, err
		}
	}
	s = p.newSums()
	for i := 0; i < len(p.pieces); i++ {
		if i%patience == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for len(known) > 0 && i == known[0].from {
			x := &known[0]
			if known = known[1:]; slices.ContainsFunc(p.pieces[x.from:x.to], func(p piece) bool { return !k.whole(&p) }) {
				known = slices.Concat(x.parts, known)
				continue
			}
			s.merge(x)
			list = append(list, p.pieces[x.from:x.to]...)
			i = x.to
		}
		if i == len(p.pieces) {
			break
		}
		if part := k.of(&p.pieces[i]); part.block != nil {
			list = append(list, part)
			s.add(&part, p.into)
		}
	}
	s.stacks.finish()
	return list, s, nil
}

// whole reports whether all rows of a piece are in the time.
func (k *picker) whole(p *piece) bool {
	return p.from >= k.from && (k.to == always.to || k.value < 0 && p.to < k.to)
}

// of returns the part of a piece that is asked for, without a block if that is nothing.
func (k *picker) of(p *piece) piece {
	switch {
	case k.whole(p) && k.wanted == nil:
		return *p
	case k.value < 0 && (p.to < k.from || p.from >= k.to):
		return piece{}
	}
	part := piece{p.block, make([]uint64, blockRows/64)}
	at := p.at.read(k.decoder.at[:len(p.stack)])
	var long []int64 // values of spans
	if k.value >= 0 {
		long = p.values[k.value].read(k.decoder.values[0][:len(p.stack)])
	}
	some, cut := false, false
	for i, from := range at {
		to := from
		if long != nil {
			to = endOf(from, long[i])
		}
		if !k.inTime(from, to) || !k.wants(p, i) {
			continue
		}
		some, cut = true, cut || long != nil && (from < k.from || to > k.to)
		part.kept[i/64] |= 1 << (i % 64)
	}
	switch {
	case !some:
		return piece{}
	case cut:
		part.block = k.cutBlock(p.block, at, long)
	}
	return part
}

// inTime reports whether a part of a time is within that which is asked for.
func (k *picker) inTime(from, to int64) bool {
	return to >= k.from && (to > k.from || from == to) && (from < k.to || k.to == always.to)
}

// wants reports whether a row is asked for, whatever its time.
func (k *picker) wants(p *piece, i int) bool {
	return p.has(i) && (k.wanted == nil || k.wanted[p.tag[i]])
}

// endOf returns when a span ends that weighs so much; a negative weight in a comparison is as
// long as a positive one.
func endOf(from, weight int64) int64 {
	if weight < 0 {
		weight = max(-weight, 0) // the least number has none
	}
	if to := from + weight; to >= from {
		return to
	}
	return always.to
}

// cutBlock returns a block whose spans have the parts that are in the time.
func (k *picker) cutBlock(b *block, at, long []int64) *block {
	c := *b
	c.at, c.values[k.value] = column{}, column{}
	for i, from := range at {
		to, x := endOf(from, long[i]), long[i]
		if from, to = max(from, k.from), min(to, k.to); to < from { // it is left out
			from = at[i]
		} else if x = to - from; long[i] < 0 {
			x = -x
		}
		if i == 0 || from < c.from {
			c.from = from
		}
		if i == 0 || from > c.to {
			c.to = from
		}
		c.at.append(i, from, len(at))
		c.values[k.value].append(i, x, len(at))
	}
	return &c
}
