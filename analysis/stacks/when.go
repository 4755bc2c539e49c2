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

// StacksWhen returns what stacks weigh in each bucket, the last value of samples, with all that
// they called. It costs one scan of the samples, however many stacks are asked for.
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

// A within is a set of what was asked for, which a stack is part of: one more than another.
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
	sums := make([][]int64, sets)
	for i := range sums {
		sums[i] = make([]int64, b.N)
	}
	from, to, value := b.From.UnixNano(), b.To.UnixNano(), max(len(p.Types)-1, 0)
	if b.N == 0 || to <= from {
		return sums, nil
	}
	width := float64(to-from) / float64(b.N)
	bucket := func(at int64) int { return min(int(float64(at-from)/width), b.N-1) }
	scanned := 0
	for _, x := range p.each(p.into) {
		if scanned++; scanned%(patience*blockRows) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		set := setOf[x.stack]
		if set == 0 {
			continue
		}
		weight := x.values[value]
		if !b.Spans {
			if x.at >= from && x.at < to {
				sums[set][bucket(x.at)] += weight
			}
			continue
		}
		sign := int64(1)
		if weight < 0 {
			sign = -1
		}
		begin, end := max(x.at, from), min(endOf(x.at, weight), to)
		for i := bucket(begin); begin < end; i++ {
			next := end
			if i < b.N-1 {
				next = min(end, max(begin, from+int64(float64(i+1)*width)))
			}
			sums[set][i] += sign * (next - begin)
			begin = next
		}
	}
	return sums, nil
}
