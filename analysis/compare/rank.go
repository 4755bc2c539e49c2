package compare

import (
	"cmp"
	"math"
	"slices"
)

// maxExact is how many values the rank test counts all orders of.
const maxExact = 50

// rankTest returns the probability that two sets of values differ in rank at least as
// much as these if they were of one kind: the two-sided p of the test of Mann and
// Whitney. Up to 50 values it is exact, also where values are equal; of more it is that
// of the normal distribution. It is 1 if a set is empty.
func rankTest(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	ranks, tied := ranksOf(a, b)
	if len(ranks) > maxExact {
		return normal(ranks, len(a), len(b), tied)
	}
	return exact(ranks, len(a))
}

// ranksOf returns twice the rank of each value among all, those of a first: values that
// are equal share the mean of their ranks. tied is the sum of t³-t over all groups of t
// equal ones.
func ranksOf(a, b []float64) (ranks []int, tied float64) {
	all := slices.Concat(a, b)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(all[x], all[y]) })
	ranks = make([]int, len(all))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && all[order[k]] == all[order[i]] {
			k++
		}
		for _, x := range order[i:k] {
			ranks[x] = i + 1 + k
		}
		t := float64(k - i)
		tied += t*t*t - t
		i = k
	}
	return ranks, tied
}

// exact counts, of all choices of n ranks, those whose sum is as far from the mean as that
// of the first n.
func exact(ranks []int, n int) float64 {
	most, sum := 0, 0
	for i, r := range ranks {
		most += r
		if i < n {
			sum += r
		}
	}
	// ways[k][s] is how many choices of k ranks have the sum s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k > 0; k-- {
			for s := most; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	// Distances are from the mean, n/N of most: times N they are whole.
	off := func(s int) int {
		d := s*len(ranks) - n*most
		return max(d, -d)
	}
	as, all := 0.0, 0.0
	for s, w := range ways[n] {
		all += w
		if off(s) >= off(sum) {
			as += w
		}
	}
	return as / all
}

// normal is the test for many values.
func normal(ranks []int, n, m int, tied float64) float64 {
	sum := 0
	for _, r := range ranks[:n] {
		sum += r
	}
	a, b := float64(n), float64(m)
	u := float64(sum)/2 - a*(a+1)/2
	variance := a * b / 12 * (a + b + 1 - tied/((a+b)*(a+b-1)))
	if variance <= 0 {
		return 1
	}
	z := max(math.Abs(u-a*b/2)-0.5, 0) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// leastP returns the smallest p that the test can have of so many values: that of sets
// of which one is above the other.
func leastP(a, b int) float64 {
	if a == 0 || b == 0 {
		return 1
	}
	ways := 1.0
	for i := 1; i <= min(a, b); i++ {
		ways *= float64(a+b-min(a, b)+i) / float64(i)
	}
	return min(2/ways, 1)
}

// CanTell reports whether so many recordings of each side are enough for the test to tell
// a change from noise.
func CanTell(a, b int) bool { return leastP(a, b) <= enough }

// SureP returns which p of so many recordings says that they differ: it is 0.01, or where
// that cannot be the least that can.
func SureP(a, b int) float64 { return max(surely, leastP(a, b)) }
