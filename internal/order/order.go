// Package order sorts results. It does the same as slices.SortFunc and
// slices.SortStableFunc, which are compiled again for each type of element, 10 to 20 kB of
// code a type: a megabyte in a program that makes tables of a hundred types. This package
// shares one copy of the algorithm, and takes about twice the time; code that sorts events,
// of which there are many, uses slices.
package order

import "sort"

// Sort sorts s as compare says, as slices.SortFunc does.
func Sort[T any](s []T, compare func(a, b T) int) {
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable sorts s as compare says, and keeps the order of equal elements, as
// slices.SortStableFunc does.
func Stable[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
