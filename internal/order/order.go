// Package order sorts results. It does the same as slices.SortFunc and
// slices.SortStableFunc, which are compiled again for each type of element, 10 to 20 kB of
// code a type: a megabyte in a program that makes tables of a hundred types. This package
// shares one copy of the algorithm, and takes about twice the time; code that sorts events,
// of which there are many, uses slices.
package order

import (
	"cmp"
	"slices"
	"sort"
)

// Sort sorts s as compare says, as slices.SortFunc does.
func Sort[T any](s []T, compare func(a, b T) int) {
	if len(s) < 2 {
		return
	}
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable sorts s as compare says, and keeps the order of equal elements, as
// slices.SortStableFunc does.
//
//go:noinline
func Stable[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// ByKey sorts s by a number, and keeps the order of equal elements. It moves each element once,
// so that it is also fast for large ones, and shares its code as the others do.
func ByKey[T any](s []T, key func(*T) uint64) {
	from := make([]int, len(s))
	sorted := true
	for i := range from {
		from[i] = i
		sorted = sorted && (i == 0 || key(&s[i-1]) <= key(&s[i]))
	}
	if sorted {
		return
	}
	slices.SortStableFunc(from, func(a, b int) int { return cmp.Compare(key(&s[a]), key(&s[b])) })
	for i := range from {
		first := s[i]
		at := i
		for from[at] != i {
			next := from[at]
			s[at], from[at] = s[next], at
			at = next
		}
		s[at], from[at] = first, at
	}
}

// Delete removes the elements for which del is true from s, as slices.DeleteFunc does, which is compiled
// again for each call.
//
//go:noinline
func Delete[T any](s []T, del func(T) bool) []T {
	n := 0
	for i := range s {
		if !del(s[i]) {
			s[n] = s[i]
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}
