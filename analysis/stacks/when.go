package stacks

import (
	"context"
	"time"
)

// Buckets are equal parts of a time.
type Buckets struct {
	From, To time.Time
	N        int
	Spans    bool // see [Query]
}

// StacksWhen returns the weights of stacks in each bucket, the last value of samples, with all
// that they called. It costs one scan of the samples, however many stacks are asked for.
func (v *View) StacksWhen(ctx context.Context, b Buckets, stacks ...ID) ([][]int64, error) {
	asked := make(map[ID][]int, len(stacks))
	for i, id := range stacks {
		asked[id] = append(asked[id], i)
	}
	return v.when(ctx, b, len(stacks), func(n int) []int { return asked[ID(n)] })
}

// FramesWhen is StacksWhen for frames: of the samples in whose stacks each occurs, however often.
func (v *View) FramesWhen(ctx context.Context, b Buckets, frames ...int) ([][]int64, error) {
	asked := make(map[int][]int, len(frames))
	for i, f := range frames {
		asked[f] = append(asked[f], i)
	}
	return v.when(ctx, b, len(frames), func(n int) []int {
		if n == 0 {
			return nil
		}
		return asked[int(v.p.tree.nodes[n].key)]
	})
}

// A within is a set of the matches asked for, which a stack is part of: one more than another.
type within struct {
	before int32
	asked  int
}

// when returns the weights of so many things that are asked for, of which of has those that begin
// with a stack.
func (v *View) when(ctx context.Context, b Buckets, asked int, of func(n int) []int) ([][]int64, error) {
	sets := []within{{asked: -1}} // from 1 on; 0 is empty
	numbers := make(map[within]int32)
	has := func(set int32, k int) bool {
		for ; set != 0; set = sets[set].before {
			if sets[set].asked == k {
				return true
			}
		}
		return false
	}
	setOf := make([]int32, v.p.tree.size())
	for n := range setOf {
		if n > 0 {
			setOf[n] = setOf[v.p.tree.nodes[n].parent]
		}
		for _, k := range of(n) {
			if has(setOf[n], k) {
				continue
			}
			x := within{setOf[n], k}
			if setOf[n] = once(numbers, x, int32(len(sets))); int(setOf[n]) == len(sets) {
				sets = append(sets, x)
			}
		}
	}
	sums, err := v.p.sumBuckets(ctx, b, setOf, len(sets))
	if err != nil {
		return nil, err
	}
	list := make([][]int64, asked)
	for k := range list {
		list[k] = make([]int64, b.N)
	}
	for set := len(sets) - 1; set > 0; set-- { // what a set has more was found later
		for i, x := range sums[set] {
			list[sets[set].asked][i] += x
			sums[sets[set].before][i] += x
		}
	}
	return list, nil
}

// sumBuckets sums up the samples of each set of stacks in each bucket.
func (p *Profile) sumBuckets(ctx context.Context, b Buckets, setOf []int32, sets int) ([][]int64, error) {
	s := &bucketing{from: b.From.UnixNano(), to: b.To.UnixNano(), n: b.N, sums: make([][]int64, sets), setOf: setOf}
	for i := range s.sums {
		s.sums[i] = make([]int64, b.N)
	}
	if b.N == 0 || s.to <= s.from {
		return s.sums, nil
	}
	s.width = float64(s.to-s.from) / float64(b.N)
	if p.into != nil {
		s.setOf = make([]int32, len(p.into))
		for i, id := range p.into {
			if id >= 0 {
				s.setOf[i] = setOf[id]
			}
		}
	}
	value := max(len(p.Types)-1, 0)
	for k := range p.pieces {
		if k%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if x := &p.pieces[k]; b.Spans || x.to >= s.from && x.from < s.to {
			s.add(x, value, b.Spans)
		}
	}
	return s.sums, nil
}

// A bucketing sums up samples by bucket.
type bucketing struct {
	from, to int64
	n        int
	width    float64
	sums     [][]int64 // by set
	setOf    []int32   // of what rows have as stacks; nobody has asked for 0
	decoder  decoder
}

func (s *bucketing) bucket(at int64) int { return min(int(float64(at-s.from)/s.width), s.n-1) }

func (s *bucketing) add(p *piece, value int, spans bool) {
	at := p.at.read(s.decoder.at[:len(p.stack)])
	weights := p.values[value].read(s.decoder.values[0][:len(p.stack)])
	for i, id := range p.stack {
		set := s.setOf[id]
		if set == 0 || !p.has(i) {
			continue
		}
		if spans {
			s.addSpan(s.sums[set], at[i], weights[i])
		} else if at[i] >= s.from && at[i] < s.to {
			s.sums[set][s.bucket(at[i])] += weights[i]
		}
	}
}

// addSpan adds to each bucket the part of a span that is in it.
func (s *bucketing) addSpan(sums []int64, at, weight int64) {
	sign := int64(1)
	if weight < 0 {
		sign = -1
	}
	begin, end := max(at, s.from), min(endOf(at, weight), s.to)
	if begin >= end {
		return
	}
	for i := s.bucket(begin); begin < end; i++ {
		next := end
		if i < s.n-1 {
			next = min(end, max(begin, s.from+int64(float64(i+1)*s.width)))
		}
		sums[i] += sign * (next - begin)
		begin = next
	}
}
